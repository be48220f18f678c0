// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/redact.h"
#include "recording/append_file.h"
#include "recording/recording_log.h"
#include "recording/redact_run.h"
#include "recording/wire.h"

namespace plateau {
namespace {

constexpr size_t kMaxText = 4096;  // Of a name, a source, an event: no more is kept.
constexpr size_t kNone = static_cast<size_t>(-1);
constexpr uint64_t kLeastStaleBytes = 1'000'000;  // Replaced tracks that are not worth a rewrite.

// Above every pid there can be (2^22), so that the id of a second holder is nobody's pid.
constexpr int64_t kGeneration = 10'000'000;

// As much of a text as is written, without secrets unless they are to be kept. What is cut off may
// be what shows that the rest is a secret, so it is cut last.
std::string written(std::string_view text, bool keep_secrets, size_t most = kMaxText) {
  if (keep_secrets) return std::string(text.substr(0, most));
  return redacted(text.substr(0, 2 * most)).substr(0, most);
}

// Seconds that survive being written, read and added to: whole milliseconds, or 0 for nonsense.
double sane_seconds(double seconds) {
  return seconds > 0 && seconds <= 1e11 ? std::round(seconds * 1000) / 1000 : 0;
}

HeadRecord head_record(const RecordingHead& head, size_t max_rows) {
  HeadRecord record{.head = head, .max_rows = max_rows, .stride = 1};
  record.head.command = written(head.command, head.keep_secrets, 16 * kMaxText);
  record.head.host = written(head.host, head.keep_secrets);
  record.head.plateau_version = written(head.plateau_version, head.keep_secrets);
  record.head.started_unix_s = sane_seconds(head.started_unix_s);
  record.head.interval_s = sane_seconds(head.interval_s);
  return record;
}

}  // namespace

struct RecordingWriter::State {
  explicit State(const HeadRecord& head) : log(head) {}

  RecordingLog log;
  std::string path;
  std::optional<AppendFile> file;
  bool broken = false;      // An append failed: the file stays as it is until it can be replaced.
  std::string trouble;      // Not yet told.
  bool is_partial = false;  // A process or a column was refused, and a note says so.
  uint64_t heap_bytes = 0;  // Of all heap records in the file, also those that later ones replace.
  uint64_t stale_allowed = kLeastStaleBytes;
  bool keep_secrets = false;
  std::map<std::pair<int64_t, uint64_t>, size_t> process_of;
  std::map<int64_t, size_t> holder_of;  // The latest process with a pid.
  std::map<std::tuple<size_t, int, std::string>, size_t> column_of;

  [[nodiscard]] std::string cut(std::string_view text) const { return written(text, keep_secrets); }

  void append(RecordType type, std::string_view payload) {
    if (!file || broken) return;
    std::string record;
    put_record(record, type, payload);
    tell(file->append(record));
  }

  void tell(const std::string& error) {
    if (error.empty()) return;
    broken = true;
    trouble = fmt::format("{} is no longer written: {}", path, error);
  }

  // Writes the whole log anew. If that fails the old file is as good as before: it holds every
  // sample unmerged, and reading it merges them just so.
  void replace() {
    if (!file || !file->can_replace()) return;
    const std::string error = file->replace(log.bytes());
    if (!error.empty()) return;
    broken = false;
    heap_bytes = live_heap_bytes();
    stale_allowed = kLeastStaleBytes;
  }

  [[nodiscard]] uint64_t live_heap_bytes() const {
    uint64_t bytes = 0;
    for (const RecordingLog::StoredHeap& heap : log.heaps()) bytes += heap.track.size();
    return bytes;
  }

  // Clears replaced heap tracks out once they are two thirds of the file, so that the cost of
  // writing it anew is shared by tracks of the same size.
  void clear_stale_heaps() {
    if (!file || broken) return;
    const uint64_t stale = heap_bytes - std::min(heap_bytes, live_heap_bytes());
    const uint64_t live = file->size() - std::min(file->size(), stale);
    if (stale < stale_allowed || stale <= 2 * live) return;
    // Should that fail, not every later track tries again.
    stale_allowed = 2 * stale;
    replace();
  }

  // The process as it stands in the recording: the pid is its id unless an earlier process had it.
  Process described(const Process& given, size_t index) const {
    Process process = given;
    process.name = cut(given.name);
    process.role_reason = cut(given.role_reason);
    const auto parent = holder_of.find(given.parent);
    if (parent != holder_of.end() && parent->second != index) {
      process.parent = log.processes()[parent->second].process.id;
    }
    const bool is_known = index < log.processes().size();
    process.id = is_known ? log.processes()[index].process.id : free_id(given.id);
    if (process.id != given.id) {
      process.id_is_pid = false;
      process.name += fmt::format(" (another process with pid {})", given.id);
    }
    return process;
  }

  [[nodiscard]] int64_t free_id(int64_t pid) const {
    int64_t id = pid;
    while (log.has_id(id)) id += kGeneration;
    return id;
  }

  // A table that misses a part of the tree must say so.
  size_t refuse(const std::string& why) {
    if (!is_partial) {
      const std::string text = fmt::format("a part of the job is not recorded: {}", why);
      if (log.put_note(text).empty()) append(RecordType::note, text);
      is_partial = true;
    }
    return kNone;
  }

  size_t column(const RecordedColumn& column) {
    const int kind = column.is_gauge ? -1 : static_cast<int>(column.metric);
    const auto key = std::tuple(column.process, kind, column.name);
    const auto known = column_of.find(key);
    if (known != column_of.end()) return known->second;
    if (const std::string refused = log.put_column(column); !refused.empty()) {
      return refuse(refused);
    }
    append(RecordType::column, encode_record(column));
    column_of.emplace(key, log.columns().size() - 1);
    return log.columns().size() - 1;
  }

  // The sample as it can follow the last one.
  [[nodiscard]] Sample next(const Sample& given) const {
    const Sample& last = log.last();
    Sample sample = given;
    sample.serial = log.samples();
    sample.at.time_s = std::max(last.at.time_s, given.at.time_s);
    sample.at.step = std::max(std::min(given.at.step, INT64_MAX / 4), last.at.step);
    sample.at.epoch = std::isfinite(given.at.epoch) ? given.at.epoch + 0.0 : last.at.epoch;
    return sample;
  }
};

Result<RecordingWriter> RecordingWriter::create(const std::string& path, const RecordingHead& head,
                                                size_t max_rows, bool replaced) {
  auto state = make_hidden<State>(head_record(head, max_rows));
  state->path = path;
  state->keep_secrets = head.keep_secrets;
  if (!path.empty()) {
    Result<AppendFile> file = AppendFile::create(path, replaced);
    if (!file.ok()) return file.error();
    state->file.emplace(std::move(file.value()));
    const std::string error = state->file->append(state->log.bytes());
    if (!error.empty()) {
      return Error{Error::Kind::not_found, fmt::format("cannot write {}: {}", path, error)};
    }
  }
  RecordingWriter writer(std::move(state));
  if (head.keep_secrets) writer.note(kSecretsKeptNote);
  return writer;
}

size_t RecordingWriter::process(const Process& process, uint64_t start_ticks) {
  State& state = *state_;
  const auto key = std::pair(process.id, start_ticks);
  const auto known = state.process_of.find(key);
  if (known != state.process_of.end()) return known->second;
  const size_t index = state.log.processes().size();
  const ProcessRecord record{.index = index,
                             .pid = process.id,
                             .start_ticks = start_ticks,
                             .process = state.described(process, index)};
  if (const std::string refused = state.log.put_process(record); !refused.empty()) {
    return state.refuse(refused);
  }
  state.append(RecordType::process, encode_record(record));
  state.process_of.emplace(key, index);
  state.holder_of[process.id] = index;
  return index;
}

void RecordingWriter::update_process(size_t index, const Process& process) {
  State& state = *state_;
  if (index >= state.log.processes().size()) return;
  ProcessRecord record = state.log.processes()[index];
  Process given = process;
  given.id = record.pid;
  given = state.described(given, index);
  if (given == record.process) return;
  record.process = std::move(given);
  if (!state.log.put_process(record).empty()) return;
  state.append(RecordType::process, encode_record(record));
}

size_t RecordingWriter::memory_column(size_t process, Metric metric) {
  return state_->column({.process = process, .is_gauge = false, .metric = metric, .name = ""});
}

size_t RecordingWriter::gauge_column(size_t process, std::string_view name) {
  return state_->column(
      {.process = process, .is_gauge = true, .metric = Metric::memory, .name = state_->cut(name)});
}

void RecordingWriter::row(const Sample& sample) {
  State& state = *state_;
  const std::string payload =
      encode_sample(state.next(sample), state.log.last(), state.log.columns());
  if (!state.log.put_row(RecordType::sample, payload).empty()) return;
  state.append(RecordType::sample, payload);
  if (state.log.merge_if_full()) state.replace();
}

void RecordingWriter::event(EventKind kind, std::string_view text, double time_s) {
  State& state = *state_;
  if (state.log.events().size() >= kMaxEvents) {
    std::string one;
    put_varint(one, 1);
    if (state.log.put_events_lost(1).empty()) state.append(RecordType::events_lost, one);
    return;
  }
  const EventRecord record{
      .serial = state.log.samples(), .time_s = time_s, .kind = kind, .text = state.cut(text)};
  if (state.log.put_event(record).empty()) state.append(RecordType::event, encode_record(record));
}

void RecordingWriter::fact(FactField which, double value, std::string_view source,
                           std::string_view text) {
  State& state = *state_;
  if (!std::isfinite(value)) return;
  const FactRecord record{.which = fact_number(which),
                          .fact = {.value = value,
                                   .source = state.cut(source),
                                   .text = state.cut(text.substr(0, kMaxFactText))}};
  const std::optional<Fact>& known = state.log.context().*which;
  if (known && *known == record.fact) return;
  if (state.log.put_fact(record).empty()) state.append(RecordType::fact, encode_record(record));
}

void RecordingWriter::note(std::string_view text) {
  State& state = *state_;
  const std::string kept = state.cut(text);
  const std::vector<std::string>& notes = state.log.notes();
  if (std::find(notes.begin(), notes.end(), kept) != notes.end()) return;
  if (!state.log.put_note(kept).empty()) return;
  state.append(RecordType::note, kept);
}

void RecordingWriter::heap(int64_t pid, std::string_view encoded_track) {
  State& state = *state_;
  const std::vector<RecordingLog::StoredHeap>& known = state.log.heaps();
  const auto before =
      std::find_if(known.begin(), known.end(),
                   [pid](const RecordingLog::StoredHeap& heap) { return heap.pid == pid; });
  const bool is_new = before == known.end();
  const HeapRecord record{
      .pid = pid, .number = is_new ? 0 : before->number + 1, .track = encoded_track};
  const bool displaces = is_new && known.size() >= RecordingLog::kMaxHeaps;
  if (const std::string refused = state.log.put_heap(record); !refused.empty()) {
    note(fmt::format("the heap of pid {} is not recorded: {}", pid, refused));
    return;
  }
  state.append(RecordType::heap, encode_record(record));
  state.heap_bytes += encoded_track.size();
  if (displaces) {
    note(
        fmt::format("of more than {0} processes with a traced heap, those {0} are kept whose "
                    "tracks came last",
                    RecordingLog::kMaxHeaps));
  }
  state.clear_stale_heaps();
}

void RecordingWriter::holders(HolderGrowth growth) {
  State& state = *state_;
  for (Holder& holder : growth.holders) {
    each_text(holder, [&](std::string& text) { text = state.cut(text); });
  }
  if (!state.log.put_holders(growth).empty()) return;
  state.append(RecordType::holders, encode_record(growth));
}

void RecordingWriter::finish(const Ending& ending) {
  State& state = *state_;
  Ending kept = ending;
  kept.text = state.cut(ending.text);
  if (!state.log.put_ending(kept).empty()) return;
  state.append(RecordType::ending, encode_record(kept));
  // The last chance: the disk may have room again.
  if (state.broken) state.replace();
}

Run RecordingWriter::run(bool with_heaps) const {
  Run run = state_->log.to_run(with_heaps);
  run.source = state_->path;
  run.format = "recording";
  return run;
}

const std::string& RecordingWriter::path() const {
  return state_->path;
}

uint64_t RecordingWriter::bytes_written() const {
  return state_->file ? state_->file->size() : 0;
}

std::string RecordingWriter::trouble() {
  return std::exchange(state_->trouble, "");
}

}  // namespace plateau
