// SPDX-License-Identifier: Apache-2.0
#include "cli/try_words.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"

namespace plateau {
namespace {

double mb_of(uint64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

// What the figures of the two moments prove.
std::string came_back(const ExperimentOutcome& outcome) {
  const double rss = mb_of(outcome.before.resident.rss) - mb_of(outcome.after.resident.rss);
  const auto& before = outcome.before.allocator;
  const auto& after = outcome.after.allocator;
  const bool known = before.in_use && after.in_use;
  const double in_use = known ? mb_of(*before.in_use) - mb_of(*after.in_use) : 0;
  const std::string found = outcome.collected ? fmt::format("{} unreachable objects were found, ",
                                                            format_count(*outcome.collected))
                                              : "";
  switch (outcome.finding) {
    case TrialResult::retention:
      return fmt::format(
          "Retention: resident memory fell by {}{}. That part the program had freed and the "
          "allocator had kept.",
          format_mb(rss),
          known
              ? fmt::format(" while the heap in use stayed at {}", format_mb(mb_of(*after.in_use)))
              : "");
    case TrialResult::cycles:
      return fmt::format(
          "Cycles: {}{}resident memory {} by {}. Those objects were held by reference cycles only; "
          "Python's collector had not got to them yet.",
          found, in_use > 0 ? fmt::format("the heap in use fell by {}, ", format_mb(in_use)) : "",
          rss < 0 ? "rose" : "fell", format_mb(std::fabs(rss)));
    case TrialResult::neither:
      if (outcome.kind == Experiment::trim) {
        return fmt::format(
            "Not retention: resident memory changed by {}{}. What is there is in use.",
            format_mb_signed(-rss),
            known ? fmt::format("; {} of heap are in use", format_mb(mb_of(*after.in_use))) : "");
      }
      return fmt::format(
          "Not cycles: {}resident memory changed by {}. What is there is held by live references, "
          "or is not Python's.",
          found, format_mb_signed(-rss));
    case TrialResult::pending:
      break;
  }
  return "Not decided: the collection has not run yet.";
}

std::string rate(const GrowthLook& look) {
  return format_mb_signed(look.mb_per_s) + "/s";
}

// Whether the rest grows, as far as two short looks can tell.
std::string rest_of_it(pid_t pid, const GrowthAround& growth) {
  if (!growth.before || !growth.after) return "Whether the rest grows was not measured.";
  const GrowthLook& before = *growth.before;
  const GrowthLook& after = *growth.after;
  const std::string watch = fmt::format("'plateau watch {}' tells", pid);
  if (growth.goes_on()) {
    return fmt::format(
        "Memory grows on: {} in the {:.2g} s before, {} in the {:.2g} s after. The experiment did "
        "not end that; whether it is a leak, {}.",
        rate(before), before.seconds, rate(after), after.seconds, watch);
  }
  if (after.grows) {
    return fmt::format(
        "Since then memory rises by {}: what came back is used again, or it grows. This alone does "
        "not decide; {}.",
        rate(after), watch);
  }
  if (before.grows) {
    return fmt::format(
        "Memory grew by {} in the {:.2g} s before, and not in the {:.2g} s after. This alone does "
        "not decide; {}.",
        rate(before), before.seconds, after.seconds, watch);
  }
  return fmt::format(
      "In the {:.2g} s before and the {:.2g} s after, memory did not grow; whether it does so more "
      "slowly, {}.",
      before.seconds, after.seconds, watch);
}

}  // namespace

std::string conclusion(pid_t pid, const ExperimentOutcome& outcome, const GrowthAround& growth) {
  return came_back(outcome) + " " + rest_of_it(pid, growth);
}

}  // namespace plateau
