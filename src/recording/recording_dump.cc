// SPDX-License-Identifier: Apache-2.0
// Every record of a recording in words, for whoever wants to see what is really in the file.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/json_writer.h"
#include "base/redact.h"
#include "recording/recording_reader.h"
#include "recording/redact_run.h"
#include "recording/wire.h"

namespace plateau {
namespace {

// Collects what one record says, as "name value" pairs or as members of a JSON object.
class Line {
 public:
  Line(bool json, bool keep_secrets, const ReadRecord& record)
      : json_(json), keep_secrets_(keep_secrets) {
    if (json_) {
      writer_.begin_object();
      add("offset", record.offset);
      add("type", record_type_name(record.frame.type));
      add("length", record.frame.payload.size());
    } else {
      text_ = fmt::format("{:>8}  {:<11}  {:>5}", record.offset,
                          record_type_name(record.frame.type), record.frame.payload.size());
    }
  }

  template <typename Value>
  void add(std::string_view name, const Value& value) {
    if constexpr (std::convertible_to<Value, std::string_view>) {
      add_text(name, keep_secrets_ ? std::string(value) : redacted(value));
    } else if (json_) {
      writer_.key(name).value(value);
    } else {
      text_ += fmt::format("  {} {}", name, value);
    }
  }

  [[nodiscard]] bool json() const { return json_; }
  JsonWriter& writer() { return writer_; }
  std::string finish() {
    if (!json_) return std::move(text_);
    writer_.end_object();
    return writer_.take();
  }

 private:
  void add_text(std::string_view name, const std::string& value) {
    if (json_) {
      writer_.key(name).value(value);
    } else {
      text_ += fmt::format("  {} {}", name, json_quoted(value));
    }
  }

  bool json_;
  bool keep_secrets_;
  std::string text_;
  JsonWriter writer_;
};

// What rows need to be read: the columns so far and the sample before.
struct Walk {
  std::vector<RecordedColumn> columns;
  Sample before;
  uint64_t serial = 0;
};

double value_of(const Sample& sample, size_t column, const Walk& walk) {
  const int64_t cell = sample.cells[column];
  return walk.columns[column].is_gauge ? std::bit_cast<double>(cell) : static_cast<double>(cell);
}

// The cells as {"column": value}, kB or the gauge's unit.
void add_cells(Line& line, const Sample& sample, const Walk& walk) {
  JsonWriter& json = line.writer();
  json.key("cells").begin_object();
  for (size_t i = 0; i < sample.present.size(); ++i) {
    if (sample.has(i)) json.key(fmt::format("{}", i)).value(value_of(sample, i, walk));
  }
  json.end_object();
}

void add_sample(Line& line, const Sample& sample, const Walk& walk) {
  line.add("serial", sample.serial);
  line.add("time_s", sample.at.time_s);
  if (sample.at.step >= 0) line.add("step", sample.at.step);
  if (!std::isnan(sample.at.epoch)) line.add("epoch", sample.at.epoch);
  line.add("owned_kb", owned_kb(sample, walk.columns));
  if (line.json()) add_cells(line, sample, walk);
}

void add_kept(Line& line, std::string_view name, const Sample& sample, const Walk& walk) {
  if (line.json()) {
    line.writer().key(name).begin_object();
    add_sample(line, sample, walk);
    line.writer().end_object();
    return;
  }
  line.add(std::string(name) + "_kb", owned_kb(sample, walk.columns));
  line.add("at_s", sample.at.time_s);
  if (sample.at.step >= 0) line.add("step", sample.at.step);
}

void add_row(Line& line, const RecordFrame& frame, Walk& walk) {
  SampleSpan span;
  const bool is_sample = frame.type == static_cast<uint8_t>(RecordType::sample);
  if (!decode_row(frame.payload, !is_sample, walk.before, walk.serial, walk.columns, span)) return;
  if (is_sample) {
    add_sample(line, span.early, walk);
  } else {
    line.add("samples", span.count);
    add_kept(line, "low", span.low(), walk);
    add_kept(line, "high", span.high(), walk);
    if (line.json()) {
      line.writer().key("mean").begin_object();
      for (size_t i = 0; i < walk.columns.size(); ++i) {
        const double mean = mean_of(span, i, walk.columns);
        if (!std::isnan(mean)) line.writer().key(fmt::format("{}", i)).value(mean);
      }
      line.writer().end_object();
    }
  }
  walk.serial += span.count;
  walk.before = std::move(span.two ? span.late : span.early);
}

void add_head(Line& line, const HeadRecord& record) {
  line.add("max_rows", record.max_rows);
  line.add("stride", record.stride);
  line.add("started_unix_s", record.head.started_unix_s);
  line.add("interval_s", record.head.interval_s);
  line.add("command", record.head.command);
  line.add("host", record.head.host);
  line.add("plateau", record.head.plateau_version);
}

void add_process(Line& line, const ProcessRecord& record) {
  line.add("index", record.index);
  line.add("pid", record.pid);
  line.add("start_ticks", record.start_ticks);
  line.add("id", record.process.id);
  line.add("parent", record.process.parent);
  line.add("role", role_name(record.process.role));
  line.add("reason", record.process.role_reason);
  line.add("name", record.process.name);
  if (record.process.rank >= 0) line.add("rank", record.process.rank);
}

void add_column(Line& line, const RecordedColumn& column, Walk& walk) {
  line.add("index", walk.columns.size());
  line.add("process", column.process);
  line.add(column.is_gauge ? "gauge" : "metric",
           column.is_gauge ? std::string_view(column.name) : metric_name(column.metric));
  walk.columns.push_back(column);
}

void add_event(Line& line, const EventRecord& record) {
  line.add("serial", record.serial);
  line.add("time_s", record.time_s);
  line.add("kind", event_name(record.kind));
  line.add("text", record.text);
}

void add_fact(Line& line, const FactRecord& record) {
  line.add("fact", record.which < kFacts.size() ? kFacts[record.which].key : "unknown");
  line.add("value", record.fact.value);
  if (!record.fact.text.empty()) line.add("text", record.fact.text);
  line.add("source", record.fact.source);
}

void add_heap(Line& line, const HeapRecord& record) {
  line.add("pid", record.pid);
  line.add("number", record.number);
  line.add("bytes", record.track.size());
  const Result<HeapTrack> decoded = decode_heap_track(record.track);
  if (!decoded.ok()) return line.add("unreadable", decoded.error().message);
  const HeapTrack& track = decoded.value();
  line.add("exact", std::string_view(track.exact ? "yes" : "no"));
  if (!track.exact) line.add("interval_bytes", track.interval_bytes);
  if (!track.allocator.empty()) line.add("allocator", track.allocator);
  line.add("modules", track.modules.size());
  line.add("codes", track.codes.size());
  line.add("stacks", track.stacks.size());
  line.add("sites", track.sites.size());
  line.add("rows", track.rows.size());
  line.add("allocated_bytes", track.heap_totals.allocated_bytes);
  line.add("allocated_blocks", track.heap_totals.allocated_blocks);
  line.add("freed_bytes", track.heap_totals.freed_bytes);
  line.add("freed_blocks", track.heap_totals.freed_blocks);
  line.add("dropped_allocs", track.dropped_allocs);
  line.add("dropped_frees", track.dropped_frees);
  if (track.rows.empty()) return;
  line.add("from_s", track.rows.front().time_s);
  line.add("to_s", track.rows.back().time_s);
  if (track.rows.back().step >= 0) line.add("step", track.rows.back().step);
  line.add("live_bytes", live_bytes_at(track, track.rows.back()));
}

void add_holders(Line& line, const HolderGrowth& growth) {
  line.add("pid", growth.pid);
  line.add("from_s", growth.from_s);
  line.add("to_s", growth.to_s);
  line.add("stopped_s", growth.stopped_s);
  line.add("holders", growth.holders.size());
  if (growth.holders.empty()) return;
  const Holder& first = growth.holders.front();
  line.add("kind", std::string_view(holder_kind_name(first.kind)));
  line.add("path", first.path);
  line.add("length_before", first.length_before);
  line.add("length_after", first.length_after);
}

// Requires: the reader took the record, so every decoder succeeds.
void add_content(Line& line, const RecordFrame& frame, Walk& walk) {
  switch (static_cast<RecordType>(frame.type)) {
    case RecordType::head:
      return add_head(line, *decode_record<HeadRecord>(frame.payload));
    case RecordType::process:
      return add_process(line, *decode_record<ProcessRecord>(frame.payload));
    case RecordType::column:
      return add_column(line, *decode_record<RecordedColumn>(frame.payload), walk);
    case RecordType::fact:
      return add_fact(line, *decode_record<FactRecord>(frame.payload));
    case RecordType::note:
      return line.add("text", frame.payload);
    case RecordType::event:
      return add_event(line, *decode_record<EventRecord>(frame.payload));
    case RecordType::events_lost:
      return line.add("count", WireReader(frame.payload).varint());
    case RecordType::sample:
    case RecordType::span:
      return add_row(line, frame, walk);
    case RecordType::heap:
      return add_heap(line, *decode_record<HeapRecord>(frame.payload));
    case RecordType::holders:
      return add_holders(line, *decode_record<HolderGrowth>(frame.payload));
    case RecordType::ending: {
      const Ending ending = *decode_record<Ending>(frame.payload);
      line.add("kind", ending_name(ending.kind));
      line.add("code", ending.code);
      return line.add("text", ending.text);
    }
  }
  line.add("number", unsigned{frame.type});
}

}  // namespace

Result<std::vector<std::string>> describe_recording(std::string_view name, std::string_view bytes,
                                                    bool json) {
  std::vector<ReadRecord> records;
  const Result<RecordingLog> log = load_recording(name, bytes, &records);
  if (!log.ok()) return log.error();
  const bool keep_secrets =
      std::ranges::find(log.value().notes(), kSecretsKeptNote) != log.value().notes().end();
  std::vector<std::string> lines;
  Walk walk;
  for (const ReadRecord& record : records) {
    Line line(json, keep_secrets, record);
    if (record.trouble.empty()) {
      add_content(line, record.frame, walk);
    } else {
      line.add("damaged", record.trouble);
      line.add("left_out", bytes.size() - record.offset);
    }
    lines.push_back(line.finish());
  }
  return lines;
}

}  // namespace plateau
