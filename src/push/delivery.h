// SPDX-License-Identifier: Apache-2.0
// What to make of a receiver's answer: is it delivered, will it never be, or when is it tried
// again?
//
// A failure of the network, 429 and 5xx are tried again: after 1 s, then twice as long each time up
// to half a minute; longer if Retry-After says so, ten minutes at most. Any other answer says that
// these very bytes will never be taken (400: too old, out of order; 401: who are you?), and trying
// again would hold up all that comes after them. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "http/client.h"

namespace plateau::push {

inline constexpr double kFirstPauseS = 1;
inline constexpr double kLongestPauseS = 30;
inline constexpr double kLongestAskedS = 600;

enum class Fate : uint8_t { taken, refused, later };

struct Outcome {
  Fate fate = Fate::later;
  int status = 0;            // 0: nobody answered.
  std::string words;         // What happened, unless it was taken: one line.
  double retry_after_s = 0;  // Asked for; 0: nothing.
};
Outcome outcome_of(const Result<HttpAnswer>& answer, const std::string& url);

// Until the next try, after so many failures in a row.
double pause_s(int failures, double retry_after_s);

}  // namespace plateau::push
