// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace plateau::fleet {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kAsciiBlocks = "_.,-=+*#";

std::string rate_text(double mb_per_hour) {
  return format_mb_signed(mb_per_hour) + "/h";
}

std::string percent(double share) {
  if (share > 0.999) return "over 99.9 %";
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 || share > 0.99 ? 1 : 0);
}

std::string times(size_t count) {
  if (count == 1) return "once";
  return count == 2 ? "twice" : fmt::format("{} times", count);
}

}  // namespace

std::string title_of(const Finding& finding) {
  std::string title = finding.cluster.empty() ? "" : finding.cluster + ": ";
  if (!finding.space.empty()) title += finding.space + "/";
  title += finding.workload;
  if (!finding.container.empty() && finding.container != finding.workload) {
    title += fmt::format(" ({})", finding.container);
  }
  return title;
}

std::string what_happens(const Finding& finding, std::string_view member) {
  std::string text = fmt::format("{} of {}", format_count(static_cast<int64_t>(finding.affected)),
                                 counted(finding.members, member));
  text += fmt::format(", {}{}", rate_text(finding.growth_mb_per_hour),
                      finding.affected > 1 ? " each" : "");
  if (finding.limit_in_s) {
    text += fmt::format(", {}out of memory in {}", finding.affected > 1 ? "first " : "",
                        format_seconds(*finding.limit_in_s));
  }
  return text;
}

std::vector<std::string> what_else(const Finding& finding) {
  std::vector<std::string> more;
  if (finding.word == Word::leak) {
    more.push_back(fmt::format("a leak with {} probability", percent(finding.leak_probability)));
  }
  if (finding.since) {
    more.push_back(fmt::format("since {}, first seen {}", *finding.since,
                               format_utc(finding.since_s.value_or(0))));
  } else if (!finding.version.empty()) {
    more.push_back("version " + finding.version);
  }
  if (finding.odd_one && !finding.examples.empty()) {
    more.push_back(fmt::format("only {}: the others do not grow", finding.examples.front()));
  } else if (!finding.examples.empty() && finding.examples.front() != finding.workload) {
    more.push_back("fastest " + finding.examples.front());
  }
  if (finding.restarts > 0) {
    more.push_back(fmt::format("started anew {} in the window", times(finding.restarts)));
  }
  if (finding.deaths > 0) {
    more.push_back(fmt::format("climbed to its limit and ended there {}", times(finding.deaths)));
  }
  if (finding.word == Word::undecided) {
    more.push_back(
        finding.deaths > 0 && !finding.others_live
            ? "undecided: a leak, or a limit below what it needs; no other of its version lives on "
              "to tell"
        : finding.held_back
            ? "undecided: one climb, and nothing tells the load; known when the database "
              "has the same hours of a day before, or the work it did"
            : "undecided: grows, but is not sure enough for the list");
  } else if (finding.load == LoadSource::work) {
    more.push_back("not explained by the work it did");
  } else if (finding.load != LoadSource::none) {
    more.push_back(
        fmt::format("not seen at the same hours of the {}", load_source_name(finding.load)));
  }
  return more;
}

std::string summary_of(const FleetAnswer& answer) {
  const size_t leaks = answer.leaks();
  std::string text = leaks == 0 ? "No leak" : counted(leaks, "leak");
  text += fmt::format(" in {} ({} of {})", counted(answer.workloads, "workload"),
                      format_count(static_cast<int64_t>(answer.series_judged)) + " series",
                      format_seconds(answer.window_s));
  if (leaks > 0) {
    text += fmt::format("; {} of the list is expected to be false, at most {} was asked for",
                        percent(answer.expected_false_share), percent(answer.most_false));
  }
  return text + ".";
}

std::vector<std::string> caveats_of(const FleetAnswer& answer) {
  std::vector<std::string> said;
  if (answer.series_failed > 0) {
    said.push_back(fmt::format("Partial: {} series could not be read.",
                               format_count(static_cast<int64_t>(answer.series_failed))));
  }
  for (const std::string& trouble : answer.troubles) said.push_back(trouble + ".");
  for (const std::string& warning : answer.warnings)
    said.push_back("The database warns: " + warning);
  if (answer.series_brief > 0) {
    said.push_back(fmt::format("{} series have too few samples to be judged yet.",
                               format_count(static_cast<int64_t>(answer.series_brief))));
  }
  if (answer.duplicates > 0) {
    said.push_back(fmt::format("{} series told what another one did, and were joined with it.",
                               format_count(static_cast<int64_t>(answer.duplicates))));
  }
  return said;
}

std::string sparkline(const std::array<float, kSparkPoints>& spark, bool utf8) {
  float low = INFINITY, high = -INFINITY;
  for (const float mb : spark) {
    if (!std::isfinite(mb)) continue;
    low = std::min(low, mb);
    high = std::max(high, mb);
  }
  std::string line;
  for (const float mb : spark) {
    if (!std::isfinite(mb)) {
      line += ' ';
      continue;
    }
    const float share = high > low ? (mb - low) / (high - low) : 0;
    const size_t level = std::min<size_t>(static_cast<size_t>(share * 8), 7);
    if (utf8) {
      line += kBlocks[level];
    } else {
      line += kAsciiBlocks[level];
    }
  }
  return line;
}

}  // namespace plateau::fleet
