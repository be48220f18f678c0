// SPDX-License-Identifier: Apache-2.0
// Any text log: finds the lines that carry a clock and an amount of memory.
//
// A log holds several clocks at once: "Step 120", a progress bar "83/250", the time of day. Each
// line with memory goes to the best clock it carries, each clock builds its own runs, and at the
// end one clock is chosen: in the order step, iteration, batch, bar, time the first that has at
// least a quarter of the samples of the largest. So a few odd "Batch 1: 732 MB" lines in a file of
// steps neither split its runs nor add to them. Bars are told apart by their total: the bar of an
// evaluation never mixes with that of the training.
//
// Worked case: "Epoch 1: 12%|█ | 83/663 [01:20<09:00, rss=5.4G]" is position 83 of a bar of 663 in
// epoch 1. When the next line says epoch 2, 4/663, the position went back while the epoch went on:
// the step is 663 + 4, and 663 is the length of an epoch.
//
// Lines with memory but no clock of their own ("RAM: 5552 MB" after "Step 10") take the last step
// seen; they count only if no line has both. Without any step at all they are numbered, if there
// are at least five.
//
// Blind spot: a restart without an epoch or a step on the line cannot be seen.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.h"
#include "import/log_clock.h"
#include "import/readers.h"
#include "import/record_rows.h"
#include "import/run_builder.h"
#include "import/scan_cache.h"
#include "import/text_context.h"
#include "import/text_scan.h"
#include "recording/last_words.h"

namespace plateau {
namespace {

constexpr size_t kMaxContextLines = 20000;  // Facts stand near the start; later ones cost time.
constexpr size_t kEvalHeader = 5;           // Lines.

struct Picked {
  Metric metric;
  const LineFigure* figure;
};

class TextLog {
 public:
  void line(std::string_view text, size_t number);
  Runs finish(size_t lines_read);

 private:
  size_t pick();
  void sample(std::string_view text, size_t picked);
  LogClock& clock_for_line();
  Instant place(LogClock& clock);
  bool is_evaluation();
  void put(LogClock& clock, std::string_view text, const Picked& picked);
  static void put_figure(LogClock& clock, size_t column, const LineFigure& figure, double unit_mb);
  void put_tensors(LogClock& clock);
  void happened(std::string_view text, bool is_sample);
  void remember_position();
  void read_context(std::string_view text);

  ScanCache cache_;
  const ScannedLine* scan_ = nullptr;  // The current line's.
  std::array<Picked, ScannedLine::kMaxFigures> picked_{};
  size_t number_ = 0;
  LogClocks clocks_;
  TextContext context_;
  size_t context_lines_ = 0;
  size_t eval_line_ = 0;
  bool trained_ = false;         // A step that is none of an evaluation has been seen,
  int64_t evaluated_step_ = -1;  // and the last one of an evaluation since then.
  int64_t carried_step_ = -1;    // From a line with a step but no memory.
  int64_t carried_bar_ = -1;
  int64_t widest_bar_ = 0;
  LineEpoch epoch_;
};

// Chooses the figures of the line that are memory in use, one per metric; their number.
size_t TextLog::pick() {
  size_t count = 0;
  bool host = false;
  const auto add = [&](Metric metric, const LineFigure& figure) {
    for (size_t i = 0; i < count; ++i) {
      if (picked_[i].metric == metric) return;
    }
    picked_[count++] = {metric, &figure};
    host |= metric != Metric::gpu && metric != Metric::gpu_reserved;
  };
  for (size_t i = 0; i < scan_->count; ++i) {
    const LineFigure& figure = scan_->figures[i];
    if (!figure.keyed) continue;
    const auto metric = metric_of(figure.bits, figure.unit_mb > 0);
    if (metric) add(*metric, figure);
  }
  if (host) return count;
  const bool step_word = scan_->step_word != StepWord::none;
  for (size_t i = 0; i < scan_->count; ++i) {
    const LineFigure& figure = scan_->figures[i];
    if (figure.keyed || (figure.bits & (kWordNotUsage | kWordOther)) != 0) continue;
    if (!step_word && !figure.after_time) continue;
    add(figure.bare_rss ? Metric::rss : Metric::memory, figure);
    break;
  }
  return count;
}

LogClock& TextLog::clock_for_line() {
  static constexpr LogClockKind kKinds[] = {LogClockKind::none, LogClockKind::batch,
                                            LogClockKind::iteration, LogClockKind::step};
  const auto word = static_cast<size_t>(scan_->step_word);
  if (word != 0) return clocks_.of(kKinds[word], 0);
  if (scan_->bar_at >= 0) return clocks_.of(LogClockKind::bar, scan_->bar_total);
  return clocks_.of(scan_->has_time ? LogClockKind::time : LogClockKind::none, 0);
}

// Where on the clock the line stands, with the facts its position gives away.
Instant TextLog::place(LogClock& clock) {
  Instant at;
  at.epoch = epoch_.of_line();
  const bool bar = clock.kind == LogClockKind::bar;
  if (bar || clock.kind < LogClockKind::bar) {
    const int64_t total = bar ? scan_->bar_total : scan_->step_total;
    const int64_t position = bar ? scan_->bar_at : scan_->step;
    at.step = clock.steps.unroll(position, total, epoch_.whole());
    if (const auto fact = clock.steps.fact(total, bar && scan_->whole_epoch)) {
      clock.builder.fact_at_line(fact->first, fact->second, number_);
    }
  } else if (clock.kind == LogClockKind::time) {
    at.step = carried_step_;
  } else {
    at.step = carried_step_ >= 0 ? carried_step_ : carried_bar_;
  }
  if (scan_->has_time) {
    at.time_s = clock.builder.time_of(scan_->time);
    if (scan_->time.kind == Stamp::Kind::elapsed) {
      // A bar that starts again with the epoch counts its seconds from 0 again.
      if (clock.steps.wrapped() && !std::isnan(clock.last_time))
        clock.time_offset = clock.last_time;
      at.time_s += clock.time_offset;
      clock.last_time = at.time_s;
    }
  }
  clock.placed = clock.placed || at.step >= 0 || !std::isnan(at.time_s);
  return at;
}

// "validation step 0" after "train step 490": the evaluation counts for itself, and nothing starts
// again. It also does where it counts further than the training has come: "step 0", then
// "validation step 0" to 4, then "step 1".
bool TextLog::is_evaluation() {
  const bool has_step = scan_->step_word != StepWord::none;
  if (!has_step || (scan_->free_words & kWordEval) == 0) {
    trained_ = trained_ || has_step;
    if (has_step) evaluated_step_ = -1;
    return false;
  }
  const bool counts_on = trained_ && evaluated_step_ >= 0 && scan_->step == evaluated_step_ + 1;
  evaluated_step_ = scan_->step;
  if (counts_on) return true;
  if (clocks_.empty()) return false;
  const int64_t training = clock_for_line().builder.last().step;
  return scan_->step < training || (trained_ && scan_->step == training && training <= 1);
}

void TextLog::put_figure(LogClock& clock, size_t column, const LineFigure& figure, double unit_mb) {
  if (unit_mb == kKbInMb) {
    clock.builder.set_kb(column, figure.value);
  } else {
    clock.builder.set_mb(column, figure.value * unit_mb);
  }
}

void TextLog::put(LogClock& clock, std::string_view text, const Picked& picked) {
  const auto metric = static_cast<size_t>(picked.metric);
  const LineFigure& figure = *picked.figure;
  std::string_view label = text.substr(figure.key_begin, figure.key_end - figure.key_begin);
  if (label.empty()) label = figure.bare_rss ? "rss" : "memory";
  double unit = figure.unit_mb;
  if (unit == 0) {
    double& guessed = clock.bare_units[metric];
    if (guessed == 0 && figure.value > 0) {
      guessed = guess_unit_mb(figure.value);
      clock.builder.note(
          fmt::format("'{}' has no unit: read as {}", label, guessed_unit_name(guessed)));
    }
    unit = guessed;
  }
  if (scan_->rank >= 0) {
    const bool is_pid = (scan_->words & kWordPid) != 0;
    const size_t process = clock.builder.process(scan_->rank, is_pid);
    if (!is_pid) clock.builder.describe(process, fmt::format("rank {}", scan_->rank), -1);
    put_figure(clock, clock.builder.memory_column(process, picked.metric, label), figure, unit);
    return;
  }
  if (clock.columns[metric] == RunBuilder::kNone) {
    clock.columns[metric] =
        clock.builder.memory_column(clock.builder.process(0, false), picked.metric, label);
  }
  put_figure(clock, clock.columns[metric], figure, unit);
}

void TextLog::put_tensors(LogClock& clock) {
  static constexpr std::array<std::string_view, 3> kNames = {"tensors", "tensors.cpu",
                                                             "tensors.gpu"};
  const std::array<double, 3>& values = scan_->tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    if (clock.gauges[i] == RunBuilder::kNone) {
      clock.gauges[i] = clock.builder.gauge_column(clock.builder.process(0, false), kNames[i]);
    }
    clock.builder.set_gauge(clock.gauges[i], values[i]);
  }
}

void TextLog::sample(std::string_view text, size_t picked) {
  LogClock& clock = clock_for_line();
  clock.builder.row(place(clock), number_);
  for (size_t i = 0; i < picked; ++i) put(clock, text, picked_[i]);
  put_tensors(clock);
}

// Events are what a line says besides its numbers. A word inside a key (eval_loss=0.3) is none,
// but a dict of evaluation results is.
void TextLog::happened(std::string_view text, bool is_sample) {
  if (clocks_.empty()) return;
  if (is_sample && scan_->arrow) {
    const std::string_view note = trim(text.substr(scan_->note));
    if (!note.empty()) clocks_.event(event_kind_of(note), note);
    return;
  }
  // Lists and headings of a note talk about events; they are none.
  if (text.starts_with("- ") || text.starts_with('#')) return;
  if ((scan_->free_words & kWordEval) != 0 || text.starts_with("{'eval_")) {
    if (!is_sample) eval_line_ = number_;
    clocks_.event(EventKind::eval, trim(text));
  }
  if ((scan_->free_words & kWordSave) != 0) clocks_.event(EventKind::checkpoint, trim(text));
  if ((scan_->free_words & kWordRestart) != 0) clocks_.event(EventKind::restart, trim(text));
}

// Keeps the position of lines that carry one but no memory.
void TextLog::remember_position() {
  if (scan_->step_word == StepWord::step) carried_step_ = scan_->step;
  if (scan_->bar_at >= 0 && scan_->bar_total >= widest_bar_) {
    widest_bar_ = scan_->bar_total;
    carried_bar_ = scan_->bar_at;
  }
}

void TextLog::read_context(std::string_view text) {
  if (++context_lines_ > kMaxContextLines) return;
  // "***** Running Evaluation *****" is followed by the evaluation's own examples and batch size.
  if (eval_line_ > 0 && number_ - eval_line_ <= kEvalHeader) return;
  context_.read(text,
                [this](FactField field, double value) { clocks_.fact(field, value, number_); });
}

void TextLog::line(std::string_view text, size_t number) {
  number_ = number;
  scan_ = &cache_.scan(text);
  if (epoch_.read(*scan_)) {
    clocks_.event(EventKind::epoch, fmt::format("epoch {}", scan_->epoch));
  }
  const size_t picked = scan_->count > 0 ? pick() : 0;
  const bool has_clock =
      scan_->step_word != StepWord::none || scan_->bar_at >= 0 || scan_->has_time;
  const bool evaluation = is_evaluation();
  // "CUDA out of memory. … this process has 78.08 GiB memory in use" is full of figures and no
  // sample; a note behind a sample is one of it.
  const auto last_words = scan_->arrow ? std::nullopt : find_last_words(text);
  // Without a clock only "key: amount" is a sample; prose about memory is not.
  const bool is_sample =
      picked > 0 && (has_clock || picked_[0].figure->assigned) && !evaluation && !last_words;
  if (last_words) clocks_.event(EventKind::oom, trim(worth_quoting(text, *last_words)));
  if (is_sample) {
    sample(text, picked);
  } else if (scan_->negative && has_clock) {
    clock_for_line().builder.bad(number,
                                 fmt::format("negative memory in '{}'", text.substr(0, 80)));
  }
  if (!is_sample) remember_position();
  constexpr WordBits kEvents = kWordEval | kWordSave | kWordRestart;
  if ((scan_->words & kEvents) != 0 || scan_->arrow) happened(text, is_sample);
  if ((scan_->words & kWordContext) != 0) read_context(text);
}

Runs TextLog::finish(size_t lines_read) {
  LogClock* clock = clocks_.best();
  return clock == nullptr ? Runs{} : clock->builder.finish(lines_read);
}

}  // namespace

Result<Runs> read_text_log(LineReader& lines) {
  TextLog log;
  std::string_view line;
  while (lines.next(line)) log.line(line, lines.number());
  return log.finish(lines.number());
}

}  // namespace plateau
