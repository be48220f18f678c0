// SPDX-License-Identifier: Apache-2.0
// The samples of one thing, of whatever many series they came, as lives that can be judged.
//
// Question: a container that leaks is killed and started anew, again and again. By the curve that
// is a sawtooth, which is fine; by the truth it is a leak. And two servers that scrape the same
// container tell of it twice.
//
// Method. Series of one identity that overlap are the same told twice: the one with more samples
// counts, the other fills its gaps. Series that follow each other and differ in a label that a new
// start changes (cAdvisor's id) are lives. A life also begins where the start time changes, if the
// exporter tells it. Where it tells nothing, a fall by more than half that lasts is taken for an
// end; but not if there are more than two without a gap in the samples: that is a cache that is
// emptied.
//
// Blind spot: a process that is restarted within one scrape interval, at more than half of what it
// had, with an exporter that tells no start times.
#pragma once

#include <string>
#include <vector>

#include "fleet/query_answer.h"
#include "recording/run.h"

namespace plateau::fleet {

struct LifeSeries {
  std::vector<Sample> samples;      // By rising time; values in MB.
  std::vector<double> life_begins;  // Times of samples at which a new life begins, but the first.
  size_t duplicates = 0;            // Series that told the same.

  [[nodiscard]] size_t lives() const { return life_begins.size() + 1; }
};

// How far apart samples usually are; 0 of fewer than two.
double interval_of(const std::vector<Sample>& samples);

// Joins the series of one identity. `starts`: start times by time, as the exporter gave them; empty
// if it gave none. Requires: at least one series.
LifeSeries join_series(std::vector<RawSeries> parts, const std::vector<Sample>& starts);

// Adds the values of `more` where their times are those of `to`.
void add_samples(const std::vector<Sample>& more, std::vector<Sample>& to);

// As a recording: a process for each life, time from `begin_s` on.
Run run_of(const LifeSeries& series, Metric kind, double begin_s);

}  // namespace plateau::fleet
