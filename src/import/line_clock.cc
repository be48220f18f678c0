// SPDX-License-Identifier: Apache-2.0
#include "import/line_clock.h"

#include "import/words.h"
#include "recording/last_words.h"

namespace plateau {
namespace {

constexpr size_t kMaxLine = size_t{64} * 1024;
constexpr size_t kEvalHeader = 4;  // Lines after an evaluation's heading that state its own facts.

}  // namespace

// A better kind of position replaces what was counted so far; a worse one is ignored.
int64_t LineClock::position(Kind kind, int64_t at, int64_t total) {
  if (kind < kind_ || (kind == Kind::bar && kind_ == Kind::bar && total < total_)) return -1;
  if (kind > kind_ || (kind == Kind::bar && total > total_)) {
    kind_ = kind;
    total_ = total;
    steps_ = Unroller(Unroller::Back::same_run);
  }
  return steps_.unroll(at, total, epoch_.whole());
}

LineClock::News LineClock::read(std::string_view line) {
  ++lines_;
  News news;
  const ScannedLine& scan = cache_.scan(line.substr(0, kMaxLine));
  static constexpr Kind kKinds[] = {Kind::bar, Kind::batch, Kind::iteration, Kind::step};
  if (epoch_.read(scan)) news.events.push_back(EventKind::epoch);
  const bool bar = scan.step_word == StepWord::none;
  const int64_t at = bar ? scan.bar_at : scan.step;
  const int64_t total = bar ? scan.bar_total : scan.step_total;
  if (at >= 0) news.step = position(kKinds[static_cast<size_t>(scan.step_word)], at, total);
  // A heading is printed after the last step of the epoch before: it counts from the next step on.
  if (news.step < 0 && !scan.whole_epoch) news.epoch = scan.epoch;
  if (news.step >= 0) {
    news.epoch = epoch_.of_line();
    if (const auto fact = steps_.fact(total, bar && scan.whole_epoch)) news.facts.push_back(*fact);
  }
  if ((scan.free_words & kWordEval) != 0 || line.starts_with("{'eval_")) {
    if (news.step < 0) eval_line_ = lines_;
    news.events.push_back(EventKind::eval);
  }
  if ((scan.free_words & kWordSave) != 0) news.events.push_back(EventKind::checkpoint);
  const bool of_evaluation = eval_line_ > 0 && lines_ - eval_line_ <= kEvalHeader;
  if ((scan.words & kWordContext) != 0 && !of_evaluation) {
    context_.read(
        line, [&news](FactField field, double value) { news.facts.emplace_back(field, value); });
  }
  if (const auto words = find_last_words(line)) news.said = worth_quoting(line, *words);
  return news;
}

std::vector<LineClock::News> OutputClock::read(std::string_view bytes) {
  std::vector<LineClock::News> all;
  while (!bytes.empty()) {
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() < kMaxLine) partial_ += piece.substr(0, kMaxLine);
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + 1);
    if (partial_.empty()) continue;
    LineClock::News news = clock_.read(partial_);
    partial_.clear();
    const bool any = news.step >= 0 || news.epoch == news.epoch || !news.facts.empty() ||
                     !news.events.empty() || !news.said.empty();
    if (any) all.push_back(std::move(news));
  }
  return all;
}

}  // namespace plateau
