// SPDX-License-Identifier: Apache-2.0
#include "push/delivery.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"

namespace plateau::push {
namespace {

constexpr size_t kMostQuoted = 160;
constexpr int kTooMany = 429;

// The first line of what it says beside the status.
std::string quoted(const HttpAnswer& answer) {
  std::string_view rest = answer.body;
  const std::string line = printable(trim(take_part(rest, '\n')).substr(0, kMostQuoted));
  return line.empty() || line.starts_with('<') ? "" : fmt::format(" ({})", line);
}

}  // namespace

Outcome outcome_of(const Result<HttpAnswer>& answer, const std::string& url) {
  if (!answer) return {.fate = Fate::later, .status = 0, .words = answer.error().message};
  const int status = answer.value().status;
  Outcome outcome{.status = status, .words = "", .retry_after_s = answer.value().retry_after_s};
  if (status >= 200 && status < 300) {
    outcome.fate = Fate::taken;
    return outcome;
  }
  outcome.fate = status == kTooMany || status >= 500 ? Fate::later : Fate::refused;
  const bool elsewhere = status >= 300 && status < 400;
  outcome.words = fmt::format(
      "{} answers with status {}{}", origin_of(url), status,
      elsewhere ? ", which leads elsewhere: give the address it leads to" : quoted(answer.value()));
  return outcome;
}

double pause_s(int failures, double retry_after_s) {
  const double doubled = kFirstPauseS * std::exp2(std::clamp(failures - 1, 0, 20));
  return std::max(std::min(doubled, kLongestPauseS),
                  std::clamp(retry_after_s, 0.0, kLongestAskedS));
}

}  // namespace plateau::push
