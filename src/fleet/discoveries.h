// SPDX-License-Identifier: Apache-2.0
// Which of thousands to report, such that few of those reported are false.
//
// Question: judged one by one with one false alarm in fifty, ten thousand series in which one of a
// hundred leaks give about ninety leaks and two hundred false alarms. A list of which most is false
// is read once.
//
// Method. Of each workload there is a Bayes factor b for a leak. The share p0 of those that do not
// leak is the one that makes all factors together likeliest. The probability of a leak is then q =
// (1-p0) b / (p0 + (1-p0) b), less the chance that a cache is still filling, and the longest list
// is reported whose mean of 1-q is at most what was asked for (Bayesian false discovery rate). A
// cautious figure for p0 is given too (Wen's): where nothing leaks, Bayes factors average to at
// most 1, so the largest share of the smallest factors whose mean is below 1 is taken to be without
// leaks. Ours average to far less than 1 there, so it hides half of what leaks in a small fleet. A
// second list stands on less: sorted by falling b, the first k with b >= m / (share k) are false in
// at most `share` on average, whatever depends on whatever (e-BH). It is shorter.
//
// Worked case: of 600 workloads 594 have b of 0.3 and six of e^12. p0 is 0.99, and q of the six is
// 0.9994. For e-BH at 0.1 the sixth needs 600 / (0.1 x 6) = 1,000.
//
// Blind spot: the factors are as good as the list of shapes behind them. What no shape describes
// may look like a leak with any factor, so the share is also measured, on fleets of known truth
// (docs/fleet.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace plateau::fleet {

struct Suspicion {
  double log_factor = 0;
  double still_filling = 0;  // 0 to 1.
  bool accused = false;      // A member is a leak by its own verdict: only those may be listed.
};

struct Discoveries {
  double null_share = 1;                 // p0,
  double cautious_null_share = 1;        // and Wen's.
  std::vector<double> leak_probability;  // q, parallel to what was given.
  std::vector<size_t> listed;            // Indices, the surest first.
  double expected_false_share = 0;       // Mean of 1 - q over those listed.
  std::vector<bool> bounded;             // In the shorter list too, parallel to what was given.
};

// Requires: 0 < most_false < 1.
Discoveries discover(std::span<const Suspicion> all, double most_false);

// The logarithm of the mean of the members' factors: right however much they have in common, such
// as traffic that is heavier today. (Their product would be far larger where all of them grow, and
// wrong then.) Requires: not empty.
double log_mean_factor(std::span<const double> log_factors);

}  // namespace plateau::fleet
