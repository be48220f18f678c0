// SPDX-License-Identifier: Apache-2.0
// The process that looks into a job's Python objects for CensusWatch, and what the two say.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "recording/holder.h"

namespace plateau {

// "Look into `pid`, if by estimate that stops it for at most `most_estimate_s`; `left_s` is what it
// may be stopped in all, and `failures` times it was stopped in vain. `anew`: what was seen before
// is forgotten."
struct LookRequest {
  pid_t pid = -1;
  bool anew = false;
  int failures = 0;
  double most_estimate_s = 0;
  double left_s = 0;
};

// After how long a stop that would take `estimate_s` with a core of its own is given up; nothing if
// it must not begin. A try after one in vain may take twice as long, if all of it is left.
std::optional<double> most_stop_s(double estimate_s, const LookRequest& request);

// Whether a program that had so many modules at one look was still being loaded then, by how many
// it has at the next.
bool was_loading(size_t modules_before, size_t modules_now);

// One message each way, at most this long.
inline constexpr size_t kMostLookBytes = size_t{128} << 10;

struct LookReply {
  bool looked = false;
  bool too_costly = false;  // By estimate: may be asked again when more is allowed.
  bool refused = false;     // At first sight: it will be again.
  bool first = false;       // Nothing to compare with, or the look before came too early.
  double estimate_s = 0;    // Of one that was too costly.
  double at_s = 0;          // When it looked, by the monotonic clock.
  double stopped_s = 0;     // Of a look that failed: at most so long.
  std::string trouble;      // Why not.
  HolderGrowth growth;      // Of a second look: the holders only.
};
std::string encode_reply(const LookReply& reply);
LookReply decode_reply(const std::string& bytes);

// Runs in a child and does not return: answers requests on `socket`, the only descriptor that it
// keeps, until the owner closes its end or is gone.
[[noreturn]] void look_on_request(int socket);

}  // namespace plateau
