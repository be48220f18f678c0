// SPDX-License-Identifier: Apache-2.0
#include "import/run_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/fewer_rows.h"
#include "recording/outline.h"

namespace plateau {
namespace {

constexpr size_t kMaxBadSamples = 5;
constexpr size_t kMaxNotes = 20;
constexpr size_t kMostEarlier = 16;  // Outlines of runs before it that a run carries.
constexpr size_t kMaxText = 200;     // Of a name, an event or a quoted line.

// Text from a log is shown to users: control bytes become spaces, and it is cut to a sane length.
std::string clean(std::string_view text) {
  std::string out(text.substr(0, kMaxText));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

void note_once(Run& run, std::string_view text) {
  if (run.notes.size() >= kMaxNotes) return;
  if (std::find(run.notes.begin(), run.notes.end(), text) != run.notes.end()) return;
  run.notes.emplace_back(text);
}

// Takes over the facts of `from`; with `only_gaps`, those that `to` does not have.
void merge_facts(Context& to, Context& from, bool only_gaps) {
  for (const FactKind& fact : kFacts) {
    std::optional<Fact>& stated = from.*fact.field;
    if (stated && !(only_gaps && to.*fact.field)) to.*fact.field = stated;
    stated.reset();
  }
}

// Trainers log the epoch as a fraction beside the step.
void derive_epoch_steps(Run& run) {
  if (epoch_steps_of(run.context)) return;
  EpochRatio ratio;
  for (const Instant& at : run.instants) ratio.see(at.step, at.epoch);
  if (const std::optional<double> steps = ratio.steps()) {
    run.context.epoch_steps = Fact{*steps, std::string(EpochRatio::kSource)};
  }
}

}  // namespace

std::string kernel_kb_note(std::string_view label) {
  return label.empty()
             ? "the kB are of 1024 bytes: all are multiples of a page"
             : fmt::format("'{}' is in kB of 1024 bytes: all are multiples of a page", label);
}

size_t RunBuilder::process(int64_t id, bool is_pid) {
  const auto found = process_of_.find(id);
  if (found != process_of_.end()) return found->second;
  if (processes_.size() >= kMaxProcesses) {
    note(fmt::format("only the first {} processes were read", kMaxProcesses));
    return kNone;
  }
  processes_.push_back({.id = id, .parent = -1, .id_is_pid = is_pid, .name = "", .role = {}});
  process_of_.emplace(id, processes_.size() - 1);
  return processes_.size() - 1;
}

void RunBuilder::describe(size_t process, std::string_view name, int64_t parent) {
  if (process >= processes_.size()) return;
  if (!name.empty() && processes_[process].name.empty()) processes_[process].name = clean(name);
  if (parent >= 0) processes_[process].parent = parent;
}

size_t RunBuilder::column(const std::string& key, size_t process, std::optional<Metric> metric,
                          std::string_view label) {
  if (process == kNone) return kNone;
  const auto found = column_of_.find(key);
  if (found != column_of_.end()) return found->second;
  if (columns_.size() >= kMaxColumns) return kNone;
  columns_.push_back(
      {process, !metric, metric.value_or(Metric::memory), clean(label), {}, 0, 0, {}, 0});
  column_of_.emplace(key, columns_.size() - 1);
  return columns_.size() - 1;
}

size_t RunBuilder::memory_column(size_t process, Metric metric, std::string_view label) {
  return column(fmt::format("{}\x01{}", process, static_cast<int>(metric)), process, metric, label);
}

size_t RunBuilder::gauge_column(size_t process, std::string_view name) {
  return column(fmt::format("{}\x02{}", process, name), process, std::nullopt, name);
}

double RunBuilder::key_of(const Instant& at) const {
  return at.step >= 0 ? static_cast<double>(at.step) : at.time_s;
}

double RunBuilder::time_of(const Stamp& stamp) {
  const double time_s = times_.accept(stamp);
  epoch_time_ = times_.counts_from_1970();
  return time_s;
}

void RunBuilder::row(const Instant& at, size_t line) {
  next_ = at;
  next_line_ = line;
  const bool same_time = at.time_s == open_.at.time_s;
  if (at.step >= 0) {
    const bool times_differ = at.time_s < open_.at.time_s || at.time_s > open_.at.time_s;
    joining_ =
        open_.used && at.step == open_.at.step && (join_ == Join::same_step || !times_differ);
  } else {
    // Lines without any clock belong together until one of them says the same thing again.
    const bool numbered =
        join_ == Join::same_step && std::isnan(at.time_s) && std::isnan(open_.at.time_s);
    joining_ = open_.used && open_.at.step < 0 && (same_time || numbered);
  }
  if (joining_) {
    if (std::isnan(open_.at.epoch)) open_.at.epoch = at.epoch;
  } else {
    open(at, line);
  }
}

void RunBuilder::open(const Instant& at, size_t line) {
  commit();
  ++open_serial_;
  open_.used = true;
  open_.at = at;
  open_.line = line;
  open_.has_memory = false;
  if (has_pending_) merge_facts(open_.facts, pending_, false);
  open_.has_facts = open_.has_facts || has_pending_;
  has_pending_ = false;
  joining_ = false;
}

void RunBuilder::put(size_t index, double value) {
  // After new_run() the instant that row() named last goes on in the new run.
  if (!open_.used) open(next_, next_line_);
  Column& column = columns_[index];
  if (column.open_serial == open_serial_) {
    const bool times_known = std::isfinite(next_.time_s) && std::isfinite(open_.at.time_s);
    if (!joining_ || (next_.step >= 0 && (!times_known || next_.time_s == open_.at.time_s))) {
      open_.cells[column.open_cell].second = value;
      return;
    }
    open(next_, next_line_);
  }
  column.open_serial = open_serial_;
  column.open_cell = open_.cells.size();
  open_.cells.emplace_back(index, value);
}

bool RunBuilder::set_mb(size_t column, double mb) {
  if (std::isnan(mb)) return false;
  if (mb < 0 || mb > kMaxMb) {
    bad(next_line_, mb < 0 ? fmt::format("negative memory ({:.6g} MB)", mb)
                           : fmt::format("impossible amount of memory ({:.3g} MB)", mb));
    return false;
  }
  if (column == kNone) return false;
  ++columns_[column].others;
  put(column, mb);
  open_.has_memory = true;
  return true;
}

bool RunBuilder::set_kb(size_t column, double kb) {
  // Sensible whichever it turns out to be.
  const bool large = kb * kKernelKbInMb > kMaxMb;
  if (!set_mb(column, kb * (large ? kKernelKbInMb : kKbInMb))) return false;
  --columns_[column].others;
  columns_[column].kb.see(kb);
  return true;
}

void RunBuilder::set_gauge(size_t column, double value) {
  if (column != kNone && std::isfinite(value) && value >= 0) put(column, value);
}

void RunBuilder::event(EventKind kind, std::string_view text) {
  if (open_.used) {
    const auto same = [kind](const Event& event) { return event.kind == kind; };
    const bool repeated = std::any_of(open_.events.begin(), open_.events.end(), same);
    if (!repeated || kind == EventKind::mark) {
      if (open_.events.size() < 8) open_.events.push_back({0, kind, clean(text)});
    }
  }
}

// Whether the latest statement of the fact is this value.
bool RunBuilder::is_known(FactField which, double value) const {
  const std::optional<Fact>& later = pending_.*which ? pending_.*which : open_.facts.*which;
  const std::optional<Fact>& known = later ? later : run_.context.*which;
  return known && known->value == value;
}

void RunBuilder::fact(FactField which, double value, std::string_view source) {
  const bool zero_says = kFacts[fact_number(which)].may_be_zero();
  if (!std::isfinite(value) || value < 0 || (value == 0 && !zero_says)) return;
  if (is_known(which, value)) return;
  pending_.*which = Fact{value, std::string(source)};
  has_pending_ = true;
}

void RunBuilder::fact_at_line(FactField which, double value, size_t line) {
  if (is_known(which, value)) return;
  fact(which, value, fmt::format("line {}", line));
}

void RunBuilder::bad(size_t line, std::string_view why) {
  ++run_.lines_bad;
  if (run_.bad_samples.size() >= kMaxBadSamples) return;
  run_.bad_samples.push_back(fmt::format("line {}: {}", line, clean(why)));
}

void RunBuilder::note(std::string_view text) {
  note_once(run_, text);
}

bool RunBuilder::goes_back(const Row& row) const {
  if (run_.instants.empty()) return false;
  const Instant& last = run_.instants.back();
  if ((row.at.step >= 0) != (last.step >= 0)) return false;
  return key_of(row.at) < key_of(last);
}

// Hands the open row on: into the run, or to held_ if it goes back.
void RunBuilder::commit() {
  if (!open_.used) return;
  open_.used = false;
  ++open_serial_;
  if (!open_.has_memory) {
    // No sample. What happened then is put after the sample before it.
    if (!held_.used) keep_events(open_);
    drop(open_);
    return;
  }
  if (held_.used) settle_held(key_of(open_.at));
  if (goes_back(open_)) {
    std::swap(held_, open_);
    held_.used = true;
    open_.used = false;
  } else {
    append(open_);
  }
}

// Forgets a row that is no sample; what it knew about the job waits for the next one.
void RunBuilder::keep_events(Row& row) {
  for (Event& event : row.events) {
    if (run_.instants.empty() || run_.events.size() >= kMaxEvents) break;
    event.instant = run_.instants.size() - 1;
    run_.events.push_back(std::move(event));
  }
  row.events.clear();
}

void RunBuilder::drop(Row& row) {
  row.cells.clear();
  row.events.clear();
  if (row.has_facts) merge_facts(pending_, row.facts, true);
  has_pending_ = has_pending_ || row.has_facts;
  row.has_facts = false;
}

// Decides what the held row was, now that the key of the next one is known (NaN: there is none).
void RunBuilder::settle_held(double next_key) {
  held_.used = false;
  const double first = key_of(run_.instants.front());
  const double last = key_of(run_.instants.back());
  const bool inside = key_of(held_.at) > first;
  const bool late = inside && !(next_key <= last);
  if (late || runs_.size() + 1 >= kMaxRuns) {
    bad(held_.line, fmt::format("out of order: {:.10g} after {:.10g}", key_of(held_.at), last));
    drop(held_);
    return;
  }
  end_run(held_.line);
  append(held_);
}

void RunBuilder::append(Row& row) {
  if (run_.instants.empty()) run_line_ = row.line;
  if (row.has_facts) merge_facts(run_.context, row.facts, false);
  row.has_facts = false;
  const size_t at = run_.instants.size();
  run_.instants.push_back(row.at);
  ++rows_read_;
  ++samples_;
  for (const auto& [index, value] : row.cells) {
    Column& column = columns_[index];
    if (column.values.empty()) ++active_columns_;
    column.values.resize(at, kMissing);
    column.values.push_back(value);
  }
  keep_events(row);
  row.cells.clear();
  if (run_.instants.size() >= most_rows()) make_room();
}

size_t RunBuilder::most_rows() const {
  constexpr size_t kFewest = 8;
  const size_t cells = kMaxCells - std::min(kMaxCells, cells_done_);
  return std::clamp(cells / std::max<size_t>(1, active_columns_), kFewest, kMaxRows);
}

// Makes the latest rows as sparse as those before them. When that no longer helps, all of them
// become half as dense.
void RunBuilder::make_room() {
  if (stride_ > 1) thin_out(thinned_, 2 * stride_);
  if (run_.instants.size() > most_rows() - most_rows() / 4) {
    thin_out(0, 4);
    stride_ *= 2;
  }
  thinned_ = run_.instants.size();
}

void RunBuilder::thin_out(size_t from, size_t group) {
  std::vector<const std::vector<double>*> memory;
  for (const Column& column : columns_) {
    if (!column.is_gauge && !column.values.empty()) memory.push_back(&column.values);
  }
  const std::vector<size_t> rows = rows_to_keep(memory, from, run_.instants.size(), group);
  keep_rows(run_.instants, rows);
  for (Column& column : columns_) keep_rows(column.values, rows);
  // An event moves to the last row that is left before it.
  size_t place = 0;
  for (Event& event : run_.events) {
    while (place + 1 < rows.size() && rows[place + 1] <= event.instant) ++place;
    event.instant = place;
  }
}

void RunBuilder::new_run(bool keep_facts) {
  commit();
  if (held_.used) settle_held(kMissing);
  if (!run_.instants.empty()) end_run(next_line_);
  if (keep_facts) return;
  run_.context = {};
  for (Process& process : processes_) {
    process.name.clear();
    process.parent = -1;
  }
}

// Moves the columns that hold something into `run`, with the processes they belong to.
void RunBuilder::fill_run(Run& run) {
  const size_t rows = run.instants.size();
  std::vector<size_t> place(processes_.size(), kNone);
  for (Column& column : columns_) {
    if (column.values.empty()) continue;
    if (place[column.process] == kNone) {
      place[column.process] = run.processes.size();
      run.processes.push_back(processes_[column.process]);
    }
    column.values.resize(rows, kMissing);
    if (column.others == 0 && column.kb.is_of_kernel(column.label)) {
      for (double& mb : column.values) mb *= kKernelKbInMb / kKbInMb;
      note_once(run, kernel_kb_note(column.label));
    }
    column.kb = {};
    column.others = 0;
    const size_t process = place[column.process];
    if (column.is_gauge) {
      run.gauges.push_back({column.label, process, std::move(column.values)});
    } else {
      run.series.push_back({process, column.metric, column.label, std::move(column.values)});
    }
    column.values = {};
  }
}

void RunBuilder::end_run(size_t next_line) {
  if (stride_ > 1) thin_out(thinned_, 2 * stride_);
  cells_done_ += run_.instants.size() * active_columns_;
  Run done = std::move(run_);
  run_ = {};
  run_.context = done.context;
  fill_run(done);
  done.format = format_;
  done.epoch_time = epoch_time_;
  done.lines_read = next_line > run_line_ ? next_line - run_line_ : 0;
  derive_epoch_steps(done);
  if (stride_ > 1) {
    done.instants_read = rows_read_;
    done.notes.push_back(fmt::format(
        "very long: of every {} samples the lowest and the highest were kept", 2 * stride_));
  }
  runs_.push_back(std::move(done));
  run_lines_.push_back(run_line_);
  active_columns_ = 0;
  rows_read_ = 0;
  stride_ = 1;
  thinned_ = 0;
}

std::vector<Run> RunBuilder::finish(size_t lines_read) {
  new_run();
  std::vector<Run> runs = std::move(runs_);
  for (size_t i = 0; i < runs.size(); ++i) {
    Run& run = runs[i];
    if (runs.size() == 1) run.lines_read = lines_read;
    if (runs.size() > 1) {
      run.title = fmt::format("run {} of {} (line {})", i + 1, runs.size(), run_lines_[i]);
    }
    const auto placed = [](const Instant& at) { return at.step >= 0 || std::isfinite(at.time_s); };
    if (!std::any_of(run.instants.begin(), run.instants.end(), placed)) {
      for (size_t row = 0; row < run.instants.size(); ++row) {
        run.instants[row].step = static_cast<int64_t>(row);
      }
      run.notes.emplace_back(kNumberedInOrder);
    }
  }
  for (size_t i = 1; i < runs.size(); ++i) {
    runs[i].earlier = runs[i - 1].earlier;
    if (const auto outline = outline_of(runs[i - 1])) runs[i].earlier.push_back(*outline);
    if (runs[i].earlier.size() > kMostEarlier) runs[i].earlier.erase(runs[i].earlier.begin());
  }
  if (!runs.empty()) {
    merge_facts(runs.back().context, pending_, true);
    for (std::string& text : run_.bad_samples) {
      if (runs.back().bad_samples.size() < kMaxBadSamples) {
        runs.back().bad_samples.push_back(std::move(text));
      }
    }
    runs.back().lines_bad += run_.lines_bad;
  }
  return runs;
}

}  // namespace plateau
