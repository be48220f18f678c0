// SPDX-License-Identifier: Apache-2.0
// The second pass: every line of the file goes through the layout that its head has shown, and what
// the reading names is taken from it.
//
// Readings of several series that belong together are one round: a round ends when a label comes
// again, when the header does, when the step changes, or when half the usual time between two
// readings of one series has passed. All readings of a round share its instant, so that their sum
// means something.
#include "import/mined_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "import/csv_fields.h"
#include "import/cut_cache.h"
#include "import/run_builder.h"
#include "import/transposed.h"
#include "recording/last_words.h"
#include "recording/other_figures.h"

namespace plateau {
namespace {

constexpr size_t kMostLabel = 60;

bool is_of(const MemoryColumn& memory, uint32_t column) {
  return column == memory.column ||
         std::find(memory.alike.begin(), memory.alike.end(), column) != memory.alike.end();
}

// Every column that the reading takes something from.
std::vector<uint32_t> columns_of(const Reading& reading) {
  std::vector<uint32_t> wanted = {reading.step_column, reading.time_column, reading.series_column};
  for (const MemoryColumn& memory : reading.memory) {
    wanted.push_back(memory.column);
    wanted.insert(wanted.end(), memory.plus.begin(), memory.plus.end());
    wanted.insert(wanted.end(), memory.alike.begin(), memory.alike.end());
  }
  for (const MemoryColumn& other : reading.others) wanted.push_back(other.column);
  return wanted;
}

// Lets labels be looked up without a copy.
struct LabelHash {
  using is_transparent = void;
  size_t operator()(std::string_view label) const { return std::hash<std::string_view>{}(label); }
};

class MinedLog {
 public:
  explicit MinedLog(Reading& reading)
      : reading_(reading), builder_("mined"), layout_(*reading.layout) {
    reading.layout->want(columns_of(reading));
    for (const std::string& remark : reading.remarks) builder_.note(remark);
  }

  void line(std::string_view text, size_t number);
  Runs finish(size_t lines_read);

 private:
  void remember_clocks();
  void row();
  void put(const MemoryColumn& memory, const LogCell& cell, size_t process);
  void put_others();
  [[nodiscard]] double mb_of(const MemoryColumn& memory, const LogCell& cell) const;
  size_t process_of(std::string_view label);
  std::string_view label_of_row() const;
  void begin_round(size_t process);
  [[nodiscard]] Instant instant_here() const;
  [[nodiscard]] const LogCell* find(uint32_t column) const;
  [[nodiscard]] const MemoryColumn* apart(uint32_t column) const;
  [[nodiscard]] double sum_with(const MemoryColumn& memory, const LogCell& cell) const;

  Reading& reading_;
  RunBuilder builder_;
  CutCache layout_;
  CellRow row_;
  std::string storage_;
  size_t number_ = 0;
  std::unordered_map<std::string, size_t, LabelHash, std::equal_to<>> labels_;  // Processes.
  std::vector<std::vector<size_t>> columns_;  // [process][measure] -> the builder's + 1.

  double step_ = kMissing;  // The clocks as last seen.
  double time_s_ = kMissing;
  bool step_here_ = false;
  bool time_here_ = false;
  Instant round_;
  bool round_open_ = false;
  size_t rounds_ = 1;
  std::vector<size_t> last_round_;  // Of each process.
  size_t occurrence_ = 0;
};

const LogCell* MinedLog::find(uint32_t column) const {
  for (const LogCell& cell : row_.cells) {
    if (cell.column == column) return &cell;
  }
  return nullptr;
}

// The column of a series that has lines of its own; nullptr if it is none's.
const MemoryColumn* MinedLog::apart(uint32_t column) const {
  for (size_t m = 1; reading_.apart && m < reading_.memory.size(); ++m) {
    if (reading_.memory[m].column == column) return &reading_.memory[m];
  }
  return nullptr;
}

void MinedLog::remember_clocks() {
  step_here_ = time_here_ = false;
  if (reading_.step_column != kNoColumn) {
    const LogCell* cell = find(reading_.step_column);
    if (cell != nullptr && cell->numeric && cell->number.value >= 0 && cell->number.value < 1e15) {
      step_ = cell->number.value;
      step_here_ = true;
    }
  }
  if (reading_.stamps && row_.has_time) {
    time_s_ = builder_.time_of(row_.time);
    time_here_ = true;
  } else if (reading_.time_column != kNoColumn) {
    const LogCell* cell = find(reading_.time_column);
    if (cell != nullptr && cell->numeric) {
      const auto since_1970 = epoch_seconds(cell->number.value);
      // "@5000ms": the unit on the number is nearer than one in a name.
      const double scale = cell->number.unit_s > 0 ? cell->number.unit_s : reading_.time_scale;
      time_s_ = since_1970 && cell->number.value >= 1e9
                    ? builder_.time_of({Stamp::Kind::epoch, *since_1970, 0})
                    : builder_.time_of({Stamp::Kind::elapsed, cell->number.value * scale, 0});
      if (!std::isfinite(time_s_)) time_s_ = kMissing;
      time_here_ = true;
    }
  }
}

std::string_view MinedLog::label_of_row() const {
  if (reading_.series == SeriesBy::title) return reading_.memory.front().title;
  if (reading_.series == SeriesBy::prefix) return trim(row_.prefix);
  if (reading_.series != SeriesBy::column) return "";
  const LogCell* cell = find(reading_.series_column);
  return cell == nullptr ? "" : cell->text;
}

size_t MinedLog::process_of(std::string_view label) {
  if (reading_.series == SeriesBy::nothing) return builder_.process(0, false);
  if (reading_.series_is_pid) {
    if (const auto pid = parse_int(label)) return builder_.process(*pid, true);
  }
  label = label.substr(0, kMostLabel);
  if (const auto known = labels_.find(label); known != labels_.end()) return known->second;
  const size_t process = builder_.process(static_cast<int64_t>(labels_.size()), false);
  labels_.emplace(label, process);
  const bool number = !label.empty() && std::all_of(label.begin(), label.end(), is_digit);
  const std::string_view title = reading_.series_title;
  builder_.describe(
      process,
      number ? fmt::format("{} {}", title.empty() ? "rank" : title, label) : std::string(label),
      -1);
  return process;
}

Instant MinedLog::instant_here() const {
  Instant at;
  const bool step_known = reading_.step_column != kNoColumn && !std::isnan(step_);
  if (step_known && (step_here_ || reading_.carried_step)) at.step = static_cast<int64_t>(step_);
  if (time_here_ || reading_.carried_time) at.time_s = time_s_;
  return at;
}

void MinedLog::begin_round(size_t process) {
  const Instant at = instant_here();
  const bool one_row = reading_.series == SeriesBy::title && !reading_.apart;
  if (reading_.series == SeriesBy::nothing || one_row) {
    round_ = at;
    round_open_ = true;
    builder_.row(round_, number_);
    return;
  }
  // Past the most processes that are kept all share a place.
  const size_t place = process == RunBuilder::kNone ? 0 : process + 1;
  if (last_round_.size() <= place) last_round_.resize(place + 1, 0);
  const bool late = reading_.round_s > 0 && at.time_s - round_.time_s > reading_.round_s / 2;
  const bool clocked = at.step >= 0 || !std::isnan(at.time_s);
  const bool other = (clocked && at.step != round_.step) || late || row_.starts_block;
  if (!round_open_ || other || last_round_[place] == rounds_) {
    round_ = at;
    round_open_ = true;
    // Whose readings are one round is known, when it was is not.
    if (!clocked) {
      round_.step = static_cast<int64_t>(rounds_) - 1;
      builder_.note(kNumberedInOrder);
    }
    ++rounds_;
  }
  last_round_[place] = rounds_;
  builder_.row(round_, number_);
}

double MinedLog::sum_with(const MemoryColumn& memory, const LogCell& cell) const {
  double value = cell.number.value;
  for (const uint32_t more : memory.plus) {
    const LogCell* other = find(more);
    if (other != nullptr && other->numeric) value += other->number.value;
  }
  return value;
}

double MinedLog::mb_of(const MemoryColumn& memory, const LogCell& cell) const {
  const double unit = cell.number.unit_mb > 0 ? cell.number.unit_mb : memory.bare_mb;
  return sum_with(memory, cell) * (unit == kKbInMb ? memory.kb_mb : unit);
}

// Where they stand in lines of their own they belong to the reading before them.
void MinedLog::put_others() {
  if (!round_open_) return;
  for (const MemoryColumn& other : reading_.others) {
    const LogCell* cell = find(other.column);
    if (cell == nullptr || !cell->numeric) continue;
    const size_t gauge =
        builder_.gauge_column(builder_.process(0, false), std::string(kOtherFigure) + other.title);
    const double mb = mb_of(other, *cell);
    if (mb >= 0 && std::isfinite(mb)) builder_.set_gauge(gauge, mb);
  }
}

void MinedLog::put(const MemoryColumn& memory, const LogCell& cell, size_t process) {
  if (process == RunBuilder::kNone) return;
  const auto measure = static_cast<size_t>(&memory - reading_.memory.data());
  if (columns_.size() <= process) columns_.resize(process + 1);
  columns_[process].resize(reading_.memory.size(), 0);
  size_t& column = columns_[process][measure];
  if (column == 0) {
    column = builder_.memory_column(process, memory.metric,
                                    memory.title.empty() ? "memory" : memory.title) +
             1;
  }
  builder_.set_mb(column - 1, mb_of(memory, cell));
  const double limit_mb = cell.limit_mb > 0 ? cell.limit_mb : memory.total_mb;
  if (measure == 0 && limit_mb > 0 && reading_.series == SeriesBy::nothing) {
    builder_.fact_at_line(&Context::limit_mb, limit_mb, number_);
  }
}

void MinedLog::row() {
  const MemoryColumn& main = reading_.memory.front();
  std::string occurrence;
  size_t taken = 0;
  for (size_t i = 0; i < row_.cells.size(); ++i) {
    const LogCell& cell = row_.cells[i];
    const MemoryColumn* memory = is_of(main, cell.column) ? &main : apart(cell.column);
    if (memory == nullptr || !cell.numeric) continue;
    if (cell.number.unit == Numeral::Unit::rate || cell.number.unit == Numeral::Unit::time)
      continue;
    const bool is_last = i + 1 >= row_.cells.size() || !row_.cells[i + 1].after_arrow;
    if (reading_.pair == PairTakes::first && cell.after_arrow) continue;
    if (reading_.pair == PairTakes::last && !is_last) continue;
    std::string_view label = memory == &main ? label_of_row() : memory->title;
    if (reading_.series == SeriesBy::occurrence) {
      const Instant here = instant_here();
      const bool same =
          here.step == round_.step && (here.time_s == round_.time_s || here.step >= 0);
      occurrence_ = round_open_ && same ? occurrence_ + 1 : 1;
      occurrence = fmt::format("series {}", occurrence_);
      label = occurrence;
    }
    const size_t process = process_of(label);
    begin_round(process);
    ++taken;
    put(*memory, cell, process);
    if (taken > 1 || reading_.apart) continue;
    for (size_t m = 1; m < reading_.memory.size(); ++m) {
      const LogCell* other = find(reading_.memory[m].column);
      if (other == nullptr || !other->numeric) continue;
      const bool own = reading_.series == SeriesBy::title;
      put(reading_.memory[m], *other, own ? process_of(reading_.memory[m].title) : process);
    }
  }
}

void MinedLog::line(std::string_view text, size_t number) {
  number_ = number;
  const bool ours = layout_.cut(plain_line(text, storage_), row_);
  if (row_.starts_block) round_open_ = false;
  if (!ours) {
    const auto words = find_last_words(text);
    if (words) builder_.event(EventKind::oom, trim(worth_quoting(text, *words)));
    return;
  }
  remember_clocks();
  row();
  put_others();
}

// What is free becomes what was taken from the most that ever was.
void turn_over(Run& run, const std::vector<MemoryColumn>& memory) {
  for (Series& series : run.series) {
    const auto falls = std::find_if(memory.begin(), memory.end(), [&](const MemoryColumn& column) {
      return column.falls && column.metric == series.metric;
    });
    if (falls == memory.end()) continue;
    double most = 0;
    for (const double mb : series.mb) most = std::isnan(mb) ? most : std::max(most, mb);
    const double all = run.context.limit_mb && run.context.limit_mb->value >= most
                           ? run.context.limit_mb->value
                           : most;
    for (double& mb : series.mb) mb = all - mb;
  }
}

Runs MinedLog::finish(size_t lines_read) {
  Runs runs = builder_.finish(lines_read);
  for (Run& run : runs) turn_over(run, reading_.memory);
  return runs;
}

}  // namespace

Result<Runs> read_mined(LineReader& lines, Reading& reading) {
  if (reading.transposed) return read_transposed(lines);
  MinedLog log(reading);
  std::string_view line;
  while (lines.next(line)) {
    log.line(lines.number() == 1 ? without_bom(line) : line, lines.number());
  }
  return log.finish(lines.number());
}

}  // namespace plateau
