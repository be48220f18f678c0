// SPDX-License-Identifier: Apache-2.0
// The door: opens, decompresses, recognises, reads, and says in one sentence why it could not.
#include "import/import.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "import/better_reading.h"
#include "import/byte_source.h"
#include "import/column_role.h"
#include "import/csv_fields.h"
#include "import/endings.h"
#include "import/line_reader.h"
#include "import/metric_document.h"
#include "import/mined_log.h"
#include "import/readers.h"
#include "import/run_folder.h"
#include "recording/other_figures.h"

namespace plateau {
namespace {

constexpr size_t kHead = 64u << 10;     // To recognise a format by.
constexpr size_t kSample = 192u << 10;  // To learn a reading from.

struct Format {
  FormatInfo info;
  Result<Runs> (*read)(LineReader&);
};

const std::vector<Format>& formats() {
  static const std::vector<Format> known = {
      {{"recording", "Plateau's own recordings"}, read_plateau_recording},
      {{"text", "any text log: lines with a step or a time and an amount of memory"},
       read_text_log},
      {{"csv", "CSV, TSV or ';' with a header; units from column names"}, read_csv},
      {{"jsonl", "JSON lines, one object per sample; nested keys are joined with '.'"},
       read_json_lines},
      {{"trainer-state", "Hugging Face trainer_state.json, or a JSON array of records"},
       read_trainer_state},
      {{"mprof", "memory_profiler's mprofile_*.dat"}, read_mprof},
      {{"psrecord", "psrecord --log, plain or csv"}, read_psrecord},
      {{"ps", "loops of ps with a header, or top -b; RSS in KiB"}, read_ps},
      {{"free", "loops of free in any unit"}, read_free},
      {{"jvm-native", "loops of jcmd PID VM.native_memory summary; committed memory by section"},
       read_jvm_native},
      {{"malloc-info", "glibc's malloc_info() again and again; what malloc has from the system"},
       read_malloc_info},
      {{"openj9", "verbose collections of OpenJ9 (-Xverbosegclog); what each left in the heap"},
       read_verbose_gc},
      {{"pidstat", "pidstat -r"}, read_pidstat},
      {{"nvidia-smi", "nvidia-smi --query-gpu or --query-compute-apps with --format=csv"},
       read_nvidia_smi},
      // Made JSON lines before they are read, see import_document().
      {{"metrics", "the JSON answers of CloudWatch, Google, Azure, Datadog, Graphite, InfluxDB"},
       read_json_lines},
      {{"prometheus", "the JSON answer of a Prometheus range query"}, read_prometheus},
      {{"wandb", "system metrics exported from Weights & Biases as CSV"}, read_wandb_csv},
      {{"wandb-run", "a Weights & Biases run: its run-ID.wandb, or its folder"}, read_wandb_log},
      {{"tensorboard", "TensorBoard event files, one or a folder of them"}, read_tensorboard},
      {{"mlflow", "MLflow run folders, or (only if named) one metric file"}, read_mlflow_metric},
      {{"cuda-snapshot", "PyTorch's CUDA memory snapshots, read without executing them"},
       read_cuda_snapshot},
  };
  return known;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : formats()) {
    if (format.info.name == name) return &format;
  }
  return nullptr;
}

Error unknown_format(std::string_view name) {
  std::string all;
  for (const Format& format : formats()) all += fmt::format(" {}", format.info.name);
  return {Error::Kind::usage, fmt::format("unknown format '{}'; known are: auto{}", name, all)};
}

Error nothing_found(const std::string& name, std::string_view format, bool empty,
                    std::string_view foreign, const Reading& reading) {
  if (empty) return {Error::Kind::no_samples, fmt::format("{} is empty", name)};
  if (!foreign.empty()) {
    return {Error::Kind::no_samples,
            fmt::format("no memory figures found in {}: it looks like {}", name, foreign)};
  }
  if (!reading.found.empty()) {
    return {Error::Kind::no_samples,
            fmt::format("no memory figures found in {} (read as {}), but {}; if one of them is "
                        "memory, say --memory NAME",
                        name, format, fmt::join(reading.found, ", "))};
  }
  return {Error::Kind::no_samples,
          fmt::format("no memory figures found in {} (read as {}): no column or number in it looks "
                      "like memory over time. `plateau convert --explain` shows what is there; "
                      "--memory NAME chooses a figure, --unit MB reads a lone number in each line "
                      "as memory",
                      name, format)};
}

Error not_there(const std::string& name, const std::string& wish, const Reading& reading) {
  return {Error::Kind::no_samples,
          fmt::format("nothing in {} is called '{}'{}{}; `plateau convert --explain` shows every "
                      "column",
                      name, wish, reading.found.empty() ? "" : ", but ",
                      fmt::join(reading.found, ", "))};
}

Error not_told_apart(const std::string& name, const std::string& wish) {
  return {Error::Kind::no_samples,
          fmt::format("nothing in {} that is called '{}' rises with the memory or tells series "
                      "apart; `plateau convert --explain` shows every column",
                      name, wish)};
}

// A table whose header leaves nothing open: every column is understood, with its unit, and no two
// say the same, which may be of different things.
bool is_understood(std::string_view head) {
  const std::string_view header = head.substr(0, head.find_first_of("\r\n"));
  const char separator = guess_separator(header);
  if (separator == '\0') return false;
  CsvFields cutter(separator);
  std::set<Metric> said;
  for (const std::string_view name : cutter.cut(without_bom(header))) {
    const ColumnRole role = classify_column(name);
    if (role.kind == ColumnRole::Kind::ignored) return false;
    if (role.kind != ColumnRole::Kind::memory) continue;
    if (role.unit_mb == 0) return false;
    // Those of devices are told apart by their numbers.
    const bool of_device = role.metric == Metric::gpu || role.metric == Metric::gpu_reserved;
    if (!of_device && !said.insert(role.metric).second) return false;
  }
  return true;
}

// Formats whose readers know one tool's output so well that nothing is left to learn.
bool is_special(std::string_view name, std::string_view head) {
  if (name == "csv") return is_understood(head);
  // Above its table stand lines that look like rows of it to whoever does not know top.
  if (name == "ps" && head.starts_with("top - ")) return true;
  return name != "text" && name != "ps" && name != "free" && name != "jsonl";
}

// Logs that go on until the process is gone; tables of our own and records say what they mean.
bool tells_no_ending(std::string_view name) {
  return lists("text mprof psrecord ps free pidstat", " ", name);
}

// Other figures (recording/other_figures.h) for a run that the reader of its format has read: only
// where all of the log was learned from, and both have found the same instants in it.
void lend_other_figures(const std::string& sample, Reading& reading, Runs& runs) {
  if (!reading.has_memory || reading.others.empty() || sample.size() >= kSample) return;
  if (runs.size() != 1 || runs.front().processes.size() != 1) return;
  LineReader again(open_memory(sample, {}));
  Result<Runs> learned = read_mined(again, reading);
  if (!learned.ok() || learned.value().size() != 1) return;
  Run& from = learned.value().front();
  if (from.instants.size() != runs.front().instants.size()) return;
  for (Gauge& gauge : from.gauges) {
    if (!gauge.name.starts_with(kOtherFigure)) continue;
    gauge.process = 0;
    runs.front().gauges.push_back(std::move(gauge));
  }
}

std::vector<std::string> account_of(std::string_view how, const Reading& reading, bool mined,
                                    const Runs& runs, size_t lines) {
  std::vector<std::string> account = {fmt::format("read as: {}", how)};
  if (mined) {
    for (std::string& line : describe_reading(reading)) account.push_back(std::move(line));
  }
  size_t bad = 0;
  for (const Run& run : runs) bad += run.lines_bad;
  account.push_back(
      fmt::format("found: {} in {} of {}{}", counted(samples_in(runs), "sample"),
                  counted(runs.size(), "run"), counted(lines, "line"),
                  bad > 0 ? fmt::format(", {} that could not be read", counted(bad, "line")) : ""));
  for (const std::string& column : reading.account) account.push_back("seen: " + column);
  return account;
}

// A source of lines, what stands at its beginning, and how they are to be read.
struct Input {
  LineReader& lines;
  std::string sample;
  const Format* format;
  bool told = false;  // By the user.

  [[nodiscard]] std::string_view head() const { return std::string_view(sample).substr(0, kHead); }
};

// What users must know of the lines that were no samples.
void note_lines(const LineReader& lines, Run& last) {
  if (lines.error()) {
    last.notes.push_back(fmt::format("{}; what came before was read", lines.error()->message));
  }
  if (lines.overlong() > 0) {
    last.lines_bad += lines.overlong();
    last.notes.push_back(fmt::format("{} lines longer than {} bytes were cut", lines.overlong(),
                                     LineReader::kMaxLine));
  }
}

Result<Runs> import_lines(const std::string& name, Input input, const ImportOptions& options) {
  LineReader& lines = input.lines;
  const Format* format = input.format;
  const bool text = !input.told && !is_special(format->info.name, input.head());
  if (const std::string_view foreign = text ? describe_foreign(input.head()) : "";
      !foreign.empty()) {
    return Error{Error::Kind::no_samples,
                 fmt::format("{} is no log: it looks like {}", name, foreign)};
  }
  Reading reading;
  bool mined = false;
  if (text || options.wishes.any()) {
    reading = learn_reading(input.sample, options.wishes);
    LineReader again(open_memory(input.sample, {}));
    if (!reading.has_memory && !options.wishes.memory.empty()) {
      return not_there(name, options.wishes.memory, reading);
    }
    if (!reading.missing.empty()) return not_told_apart(name, reading.missing);
    mined =
        reading.has_memory && (options.wishes.any() || reads_better(reading, format->read(again)));
  }
  Result<Runs> runs = mined ? read_mined(lines, reading) : format->read(lines);
  if (options.account != nullptr) {
    *options.account = account_of(mined ? "learned from the file" : format->info.name, reading,
                                  mined, runs.ok() ? runs.value() : Runs{}, lines.number());
  }
  // A source that failed before anything was understood is the reason; later it is a note.
  if (lines.error() && (!runs.ok() || runs.value().empty())) {
    return Error{lines.error()->kind, fmt::format("{}: {}", name, lines.error()->message)};
  }
  if (!runs.ok()) return Error{runs.error().kind, fmt::format("{} {}", name, runs.error().message)};
  if (runs.value().empty()) {
    return nothing_found(name, format->info.name, input.head().empty(),
                         describe_foreign(input.head()), reading);
  }
  if (!mined) lend_other_figures(input.sample, reading, runs.value());
  for (Run& run : runs.value()) {
    run.source = name;
    if (mined || tells_no_ending(format->info.name)) mark_endings(run);
  }
  note_lines(lines, runs.value().back());
  return runs;
}

// A document that lists points of metrics, as the lines that points_as_lines() makes of it.
Result<Runs> import_document(const std::string& name, LineReader& document,
                             const ImportOptions& options) {
  const Result<std::string> text = points_as_lines(document);
  if (!text.ok()) return Error{text.error().kind, fmt::format("{} {}", name, text.error().message)};
  if (text.value().empty()) {
    return Error{
        Error::Kind::no_samples,
        fmt::format("no memory figures found in {}: it is a JSON document in which no list "
                    "has a time and a number in each element",
                    name)};
  }
  LineReader lines(open_memory(text.value(), {}));
  std::string sample(lines.peek(kSample));
  return import_lines(name, {lines, std::move(sample), find_format("jsonl")}, options);
}

Result<Runs> import_source(const std::string& name, std::unique_ptr<ByteSource> source,
                           const ImportOptions& options) {
  const Format* format = nullptr;
  if (options.format != "auto" && !options.format.empty()) {
    format = find_format(options.format);
    if (format == nullptr) return unknown_format(options.format);
  }
  LineReader lines(decompress_if_needed(std::move(source)));
  Input input{lines, std::string(lines.peek(kSample)), format, format != nullptr};
  if (!input.told) input.format = find_format(recognise_format(input.head()));
  if (input.format->info.name == "metrics") return import_document(name, lines, options);
  return import_lines(name, std::move(input), options);
}

}  // namespace

const std::vector<FormatInfo>& import_formats() {
  static const std::vector<FormatInfo> infos_once = [] {
    std::vector<FormatInfo> infos;
    for (const Format& format : formats()) infos.push_back(format.info);
    return infos;
  }();
  return infos_once;
}

Result<std::vector<Run>> import_file(const std::string& path, const ImportOptions& options) {
  if (is_folder(path)) return read_run_folder(path, options);
  Result<std::unique_ptr<ByteSource>> source = options.following
                                                   ? open_following(path, *options.following)
                                                   : open_file(path, options.progress);
  if (!source.ok()) return source.error();
  return import_source(path == "-" ? "stdin" : path, std::move(source.value()), options);
}

Result<std::vector<Run>> import_bytes(std::string_view name, std::string_view bytes,
                                      const ImportOptions& options) {
  return import_source(std::string(name), open_memory(bytes, options.progress), options);
}

}  // namespace plateau
