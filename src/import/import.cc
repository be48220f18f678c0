// SPDX-License-Identifier: Apache-2.0
// The door: opens, decompresses, recognises, reads, and says in one sentence why it could not.
#include "import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/byte_source.h"
#include "import/line_reader.h"
#include "import/readers.h"

namespace plateau {
namespace {

constexpr size_t kHead = 64u << 10;

struct Format {
  FormatInfo info;
  Result<Runs> (*read)(LineReader&);
};

const std::vector<Format>& formats() {
  static const std::vector<Format> known = {
      {{"recording", "Plateau's own recordings"}, read_plateau_recording},
      {{"text", "text logs of any make: lines with a step or a time and an amount of memory"},
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
      {{"pidstat", "pidstat -r"}, read_pidstat},
      {{"nvidia-smi", "nvidia-smi --query-gpu or --query-compute-apps with --format=csv"},
       read_nvidia_smi},
      {{"prometheus", "the JSON answer of a Prometheus range query"}, read_prometheus},
      {{"wandb", "system metrics exported from Weights & Biases as CSV"}, read_wandb_csv},
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
                    std::string_view foreign) {
  if (empty) return {Error::Kind::no_samples, fmt::format("{} is empty", name)};
  if (!foreign.empty()) {
    return {Error::Kind::no_samples,
            fmt::format("no memory figures found in {}: it looks like {}", name, foreign)};
  }
  return {Error::Kind::no_samples,
          fmt::format("no memory figures found in {} (read as {}): looked for lines with a step or "
                      "a time and an amount such as 'Step 10: RAM: 5552 MB', for CSV or JSON lines "
                      "with a name such as rss_mb, and for mprof, psrecord, ps, free, pidstat, "
                      "nvidia-smi, Prometheus and wandb output; try --format or see `plateau "
                      "convert --help`",
                      name, format)};
}

Result<Runs> import_source(const std::string& name, std::unique_ptr<ByteSource> source,
                           const ImportOptions& options) {
  const Format* format = nullptr;
  if (options.format != "auto" && !options.format.empty()) {
    format = find_format(options.format);
    if (format == nullptr) return unknown_format(options.format);
  }
  LineReader lines(decompress_if_needed(std::move(source)));
  const std::string head(lines.peek(kHead));
  if (format == nullptr) format = find_format(recognise_format(head));
  Result<Runs> runs = format->read(lines);
  // A source that failed before anything was understood is the reason; later it is a note.
  if (lines.error() && (!runs.ok() || runs.value().empty())) {
    return Error{lines.error()->kind, fmt::format("{}: {}", name, lines.error()->message)};
  }
  if (!runs.ok()) return Error{runs.error().kind, fmt::format("{} {}", name, runs.error().message)};
  if (runs.value().empty()) {
    return nothing_found(name, format->info.name, head.empty(), describe_foreign(head));
  }
  for (Run& run : runs.value()) run.source = name;
  Run& last = runs.value().back();
  if (lines.error()) {
    last.notes.push_back(fmt::format("{}; what came before was read", lines.error()->message));
  }
  if (lines.overlong() > 0) {
    last.lines_bad += lines.overlong();
    last.notes.push_back(fmt::format("{} lines longer than {} bytes were cut", lines.overlong(),
                                     LineReader::kMaxLine));
  }
  return runs;
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
  Result<std::unique_ptr<ByteSource>> source = open_file(path, options.progress);
  if (!source.ok()) return source.error();
  return import_source(path == "-" ? "stdin" : path, std::move(source.value()), options);
}

Result<std::vector<Run>> import_bytes(std::string_view name, std::string_view bytes,
                                      const ImportOptions& options) {
  return import_source(std::string(name), open_memory(bytes, options.progress), options);
}

}  // namespace plateau
