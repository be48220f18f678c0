// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/redact.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/verbs.h"
#include "import/byte_source.h"
#include "import/line_reader.h"
#include "recording/record_codec.h"
#include "recording/recording.h"
#include "recording/recording_reader.h"
#include "recording/redact_run.h"
#include "report/text.h"

namespace plateau {
namespace {

// A line of the summary; texts of the recording are made harmless.
void add(std::string& out, std::string_view title, std::string_view text) {
  out += printable(fmt::format("  {:<10} {}", title, text)) + "\n";
}

// The same for what a recording of an earlier version may hold secrets in.
void add_text(std::string& out, std::string_view title, std::string_view text,
              const RecordingLog& log) {
  const bool keep = std::ranges::find(log.notes(), kSecretsKeptNote) != log.notes().end();
  add(out, title, keep ? std::string(text) : redacted(text));
}

void add_head(std::string& out, const RecordingLog& log) {
  const RecordingHead& head = log.head().head;
  if (!head.command.empty()) add_text(out, "command", head.command, log);
  if (!head.host.empty()) add(out, "host", head.host);
  if (!head.plateau_version.empty()) add(out, "written by", "plateau " + head.plateau_version);
  if (head.started_unix_s > 0) add(out, "started", format_utc(head.started_unix_s));
  if (head.interval_s > 0) add(out, "interval", format_seconds(head.interval_s));
}

void add_rows(std::string& out, const RecordingLog& log) {
  size_t spans = 0;
  uint64_t most = 1;
  double first_s = 0;
  bool first = true;
  log.each_row([&](const SampleSpan& span) {
    if (first) first_s = span.early.at.time_s;
    first = false;
    spans += span.count > 1;
    most = std::max(most, span.count);
  });
  std::string text = counted(log.samples(), "sample");
  if (log.samples() > 1) {
    text += " over " + format_seconds(log.last().at.time_s - first_s);
  }
  if (spans > 0) {
    text += fmt::format(", kept in {}: {} single, {} of up to {} samples",
                        counted(log.rows(), "row"), log.rows() - spans, spans, most);
  }
  add(out, "rows", text);
  if (log.last().at.step >= 0) {
    add(out, "steps", fmt::format("up to {}", format_count(log.last().at.step)));
  }
}

void add_processes(std::string& out, const RecordingLog& log) {
  add(out, "processes", fmt::format("{}", log.processes().size()));
  for (const ProcessRecord& record : log.processes()) {
    const Process& process = record.process;
    std::string text = fmt::format("  {} {}", process.id_is_pid ? "pid" : "id", process.id);
    if (process.role != Role::unknown) text += fmt::format(", {}", role_name(process.role));
    if (!process.role_reason.empty()) text += fmt::format(" ({})", process.role_reason);
    if (!process.name.empty()) text += ": " + process.name;
    add_text(out, "", text, log);
  }
  std::vector<std::string> names;
  for (const RecordedColumn& column : log.columns()) {
    std::string name = column.is_gauge ? column.name : std::string(metric_name(column.metric));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  add(out, "columns", fmt::format("{}: {}", log.columns().size(), fmt::join(names, ", ")));
}

void add_facts(std::string& out, const RecordingLog& log) {
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = log.context().*kind.field;
    if (!fact) continue;
    const std::string value = kind.is_name() ? fact->text : fmt::format("{:.10g}", fact->value);
    add(out, "fact", fmt::format("{} {} ({})", kind.key, value, fact->source));
  }
}

void add_events(std::string& out, const RecordingLog& log) {
  std::map<std::string_view, size_t> kinds;
  for (const EventRecord& event : log.events()) ++kinds[event_name(event.kind)];
  std::string text = fmt::format("{}", log.events().size());
  std::string separator = ": ";
  for (const auto& [kind, count] : kinds) {
    text += fmt::format("{}{} {}", separator, count, kind);
    separator = ", ";
  }
  if (log.events_lost() > 0) text += fmt::format("; {} more were left out", log.events_lost());
  add(out, "events", text);
}

void add_heaps(std::string& out, const RecordingLog& log) {
  for (const RecordingLog::StoredHeap& heap : log.heaps()) {
    const Result<HeapTrack> decoded = decode_heap_track(heap.track);
    if (!decoded.ok()) {
      add(out, "heap", fmt::format("pid {}: {}", heap.pid, decoded.error().message));
      continue;
    }
    const HeapTrack& track = decoded.value();
    std::string text = fmt::format(
        "pid {}: {}, {}, {}, {}", heap.pid, track.exact ? "every allocation" : "sampled",
        counted(track.sites.size(), "site"), counted(track.rows.size(), "row"),
        counted(heap.track.size(), "byte"));
    if (!track.rows.empty()) {
      text += fmt::format("; {} alive at the last row",
                          format_mb(live_bytes_at(track, track.rows.back()) / kBytesPerMb));
    }
    add(out, "heap", text);
  }
}

std::string ending_text(const Ending& ending) {
  switch (ending.kind) {
    case Ending::Kind::unknown:
      return "not known: still being written, or its writer was killed";
    case Ending::Kind::exited:
      return fmt::format("exited with code {}", ending.code);
    case Ending::Kind::signaled:
      return fmt::format("ended by signal {}", ending.code);
    case Ending::Kind::oom_killed:
      return fmt::format("OOM-killed (signal {})", ending.code);
    case Ending::Kind::left:
      return "still running when the watcher left";
    case Ending::Kind::vanished:
      return "gone; its exit code is not known";
  }
  return "";
}

std::string summary_of(const std::string& name, const RecordingLog& log, size_t bytes) {
  std::string out =
      printable(fmt::format("{}: recording, {}", name, counted(bytes, "byte"))) + "\n";
  add_head(out, log);
  add_rows(out, log);
  add_processes(out, log);
  add_facts(out, log);
  add_events(out, log);
  add_heaps(out, log);
  const std::string& said = log.ending().text;
  add(out, "ending", ending_text(log.ending()) + (said.empty() ? "" : "; " + said));
  for (const std::string& note : log.notes()) add(out, "note", note);
  if (!log.damage().empty()) add(out, "damaged", log.damage());
  return out;
}

Result<std::string> bytes_of(const std::string& file) {
  Result<std::unique_ptr<ByteSource>> source = open_file(file, nullptr);
  if (!source.ok()) return source.error();
  LineReader reader(decompress_if_needed(std::move(source.value())));
  // What is none is not read to its end, which it may not have. load_recording() says so.
  const std::string_view head = reader.peek(kRecordingMagic.size());
  const bool readable = !reader.error() || !head.empty();
  if (readable && !looks_like_recording(head)) return std::string(head);
  Result<std::string> bytes = reader.read_all(0);
  if (!bytes.ok()) return Error{bytes.error().kind, file + " " + bytes.error().message};
  if (reader.error() && bytes.value().empty()) {
    return Error{reader.error()->kind, fmt::format("{}: {}", file, reader.error()->message)};
  }
  return bytes;
}

int run_dump(const Invocation& invocation) {
  Output& out = invocation.out;
  const std::string& file = invocation.arguments.positionals.front();
  const std::string name = file == "-" ? "stdin" : file;
  const Result<std::string> bytes = bytes_of(file);
  if (!bytes.ok()) return trouble(invocation, bytes.error().message);
  const bool json = invocation.arguments.has("json");
  if (!json) {
    const Result<RecordingLog> log = load_recording(name, bytes.value());
    if (!log.ok()) return trouble(invocation, log.error().message);
    out.print(summary_of(name, log.value(), bytes.value().size()));
    if (!invocation.arguments.has("records")) return kExitFine;
    out.print("\n  offset  type         length  content\n");
  }
  const Result<std::vector<std::string>> lines = describe_recording(name, bytes.value(), json);
  if (!lines.ok()) return trouble(invocation, lines.error().message);
  for (const std::string& line : lines.value()) {
    out.print((json ? line : printable(line)) + "\n");
  }
  return kExitFine;
}

}  // namespace

Verb dump_verb() {
  Verb verb;
  verb.name = "dump";
  verb.summary = "show what a recording holds, record by record";
  verb.description = {
      "Shows what is in a recording: the job's command, its processes with their roles and "
      "why they have them, facts, samples, events, and how the job ended. A recording that is "
      "still being written, or whose writer was killed, is shown as far as it goes; damage is "
      "reported with its place in the file. docs/formats/recording.md explains the file byte by "
      "byte."};
  verb.positional = {
      .placeholder = "FILE",
      .help = "A recording, plain or compressed (gzip, zstd); '-' is standard input.",
      .takes = Takes::file,
      .required = true};
  verb.options = grouped(
      "Output",
      {flag("records",
            "Also list every record on a line of its own: where it begins, its type, the length of "
            "its content, and what it says."),
       flag("json",
            "Print every record as one JSON object per line, with all values of all "
            "samples (kB, or the unit of the gauge) and the means of merged ones.")});
  verb.examples = {
      {"what was recorded?", "plateau dump job.plateau"},
      {"every record, with its place in the file", "plateau dump job.plateau --records"},
      {"all values, for a script", "plateau dump job.plateau --json | jq -c .cells"}};
  verb.run = run_dump;
  return verb;
}

}  // namespace plateau
