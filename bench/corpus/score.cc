// SPDX-License-Identifier: Apache-2.0
#include "score.h"

#include <algorithm>

namespace plateau::bench {

bool TraceScore::alarmed() const {
  return std::find(words.begin(), words.end(), Word::leak) != words.end();
}

bool TraceScore::called_fine() const {
  return std::any_of(words.begin(), words.end(),
                     [](Word w) { return w == Word::plateau || w == Word::warming; });
}

double TraceScore::detected_at() const {
  size_t stays_from = words.size();
  while (stays_from > 0 && words[stays_from - 1] == Word::leak) --stays_from;
  if (stays_from == words.size()) return 2;
  return static_cast<double>(stays_from + kFirstTenth) / 10;
}

double Score::precision() const {
  const auto hits = static_cast<double>(found + small_found);
  return hits + static_cast<double>(false_leaks) > 0
             ? hits / (hits + static_cast<double>(false_leaks))
             : 1;
}

double Score::recall() const {
  return leaks > 0 ? static_cast<double>(found) / static_cast<double>(leaks) : 1;
}

double Score::f1() const {
  const double sum = precision() + recall();
  return sum > 0 ? 2 * precision() * recall() / sum : 0;
}

std::vector<TraceScore> judge_all(const std::vector<Trace>& traces, const Judge& judge) {
  std::vector<TraceScore> scores;
  for (const Trace& trace : traces) {
    TraceScore score{.trace = &trace, .words = {}};
    for (int tenth = kFirstTenth; tenth <= 10; ++tenth) {
      score.words.push_back(judge(first_tenths(trace.run, tenth)));
    }
    scores.push_back(std::move(score));
  }
  return scores;
}

Score add_up(const std::vector<TraceScore>& scores) {
  Score sum;
  std::vector<double> detections;
  for (const TraceScore& score : scores) {
    const bool said_leak = score.at_end() == Word::leak;
    const bool said_fine = score.at_end() == Word::plateau || score.at_end() == Word::warming;
    if (!score.trace->leak) {
      ++sum.plateaus;
      sum.false_leaks += said_leak;
      sum.alarmed += score.alarmed();
      sum.settled += said_fine;
      continue;
    }
    if (score.trace->added_mb < kCountsFromMb) {
      sum.small_found += said_leak;
      continue;
    }
    ++sum.leaks;
    sum.found += said_leak;
    sum.lost += said_fine;
    if (said_leak) detections.push_back(score.detected_at());
  }
  std::sort(detections.begin(), detections.end());
  if (!detections.empty()) sum.median_detection = detections[detections.size() / 2];
  return sum;
}

std::string letters(const TraceScore& score) {
  std::string text;
  for (const Word word : score.words) text += "PwL?"[static_cast<size_t>(word)];
  return text;
}

}  // namespace plateau::bench
