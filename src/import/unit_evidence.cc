// SPDX-License-Identifier: Apache-2.0
#include "import/unit_evidence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>

#include "import/words.h"

namespace plateau {
namespace {

constexpr double kPage = 4096;
constexpr size_t kFewest = 5;           // Different figures; below that, chance is a rival.
constexpr double kLargestCount = 9e15;  // Whole numbers up to here are exact.
constexpr double kMib = 1.048576;
constexpr double kMostOff = 0.01;  // Of a page, by rounding.
constexpr double kSmallProcess =
    2e4;  // KiB. Smaller ones are rare, and as MB they are a machine's.

bool all_multiples(const std::vector<double>& values, double of) {
  return std::all_of(values.begin(), values.end(), [of](double value) {
    // Of whole numbers exactly: a tolerance that grows with them lets any large one pass.
    if (of >= 1 && value == std::floor(value)) return std::fmod(value, of) == 0;
    const double units = value / of;
    const double tolerance = 1e-7 * std::max(1.0, std::fabs(units));
    return std::fabs(units - std::round(units)) < std::min(tolerance, kMostOff);
  });
}

std::vector<double> different(const std::vector<double>& values) {
  std::vector<double> sorted;
  sorted.reserve(values.size());
  for (const double value : values) {
    if (value > 0) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

// All are multiples of what is no power of two, 100 say: a count of hundreds, or figures rounded to
// them, of which every one is a multiple of 4 as pages are. Of as many figures that know nothing of
// each other, one set in 3^10 has a divisor in common; that a leak goes on by the same each time
// is no reason, because what it began from is a multiple of no step.
bool counts_in_steps(const std::vector<double>& different) {
  if (different.size() < 2 * kFewest || !all_multiples(different, 1)) return false;
  if (different.back() >= kLargestCount) return false;
  uint64_t divisor = 0;
  for (const double value : different) divisor = std::gcd(divisor, static_cast<uint64_t>(value));
  return divisor > 0 && divisor >> std::countr_zero(divisor) > 1;
}

}  // namespace

UnitFound unit_by_pages(const std::vector<double>& values) {
  const std::vector<double> some = different(values);
  if (some.size() < kFewest || counts_in_steps(some)) return {};
  const double largest = some.back();
  const bool whole = all_multiples(some, 1);
  if (whole && largest >= 1e6 && all_multiples(some, kPage)) {
    return {1e-6, "bytes", "all are multiples of a page, 4096", true};
  }
  // Half of all pages in KiB are no multiples of 8; blocks of a heap in bytes all are.
  if (whole && largest >= 1e6 && some.size() >= 2 * kFewest && all_multiples(some, 8) &&
      !all_multiples(some, 64)) {
    return {1e-6, "bytes", "all are multiples of 8, and not of a page", true};
  }
  // Of pages in KiB one in four is a multiple of 16; the blocks of a small heap in bytes all are.
  if (whole && largest < 1e6 && some.size() >= 2 * kFewest && all_multiples(some, 16)) {
    return {1e-6, "bytes", "all are multiples of 16, as blocks of a heap are", false};
  }
  // Below 2000 KiB a process is none; above 2e9 KiB no machine is.
  const bool by_chance = largest < kSmallProcess && some.size() < 2 * kFewest;
  if (whole && largest >= 2000 && largest < 2e9 && !by_chance && all_multiples(some, 4)) {
    return {1024 / 1e6, "KiB", "all are multiples of a page, 4 KiB", true};
  }
  if (!whole && largest < 1e6 && all_multiples(some, 1.0 / 256)) {
    return {kMib, "MiB", "all are multiples of a page, 1/256 MiB", true};
  }
  return {};
}

void KbEvidence::see(double kb) {
  changes_ += seen_ > 0 && kb != last_ ? 1 : 0;
  ++seen_;
  pages_ = pages_ && std::fmod(kb, 4) == 0;
  last_ = kb;
}

bool KbEvidence::is_of_kernel(std::string_view name) const {
  if (seen_ == 0 || !pages_) return false;
  if (changes_ + 1 >= kFewest) return true;
  static constexpr std::string_view kOfProc[] = {
      "VmRSS",  "VmHWM",    "VmPeak",  "VmSize",       "RssAnon",   "RssFile", "RssShmem",
      "VmSwap", "MemTotal", "MemFree", "MemAvailable", "AnonPages", "Pss",     "Rss"};
  return std::any_of(std::begin(kOfProc), std::end(kOfProc),
                     [name](std::string_view known) { return name == known; });
}

UnitFound unit_by_size(const std::vector<double>& values, bool machine) {
  std::vector<double> some = different(values);
  if (some.empty()) return {};
  std::nth_element(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2),
                   some.end());
  const double middle = some[some.size() / 2];
  const double largest = *std::max_element(some.begin(), some.end());
  // Up to 200 GB a process or a machine may have; from there on KiB are likelier.
  if (some.size() >= kFewest && middle >= 1000 && largest < (machine ? 2e6 : 2e5) &&
      all_multiples(some, 1)) {
    // Kernels count KiB in pages, so these are none; as bytes they would be no process.
    return {1, "MB", "whole, and no multiples of a page in KiB", false};
  }
  const double unit = guess_unit_mb(middle);
  return {unit, guessed_unit_name(unit), "by its size", false};
}

}  // namespace plateau
