// SPDX-License-Identifier: Apache-2.0
// Which format an input has, from its first 64 KB. Marks that only one tool writes come first, CSV
// needs a header whose names mean something and a line below it of the same width, and whatever is
// left is a text log.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "import/column_role.h"
#include "import/csv_fields.h"
#include "import/framed_log.h"
#include "import/metric_document.h"
#include "import/pickle.h"
#include "import/readers.h"
#include "recording/recording.h"

namespace plateau {
namespace {

constexpr size_t kMaxHeadLines = 400;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Lines of the head that hold something; a last, cut line is left out if there are others.
std::vector<std::string_view> head_lines(std::string_view head) {
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < kMaxHeadLines) {
    const size_t end = std::min(head.find_first_of("\r\n"), head.size());
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    head.remove_prefix(std::min(head.size(), end + 1));
  }
  return lines;
}

bool word_in(std::string_view line, std::string_view word) {
  for (std::string_view rest = line; !trim(rest).empty();) {
    if (next_word(rest) == word) return true;
  }
  return false;
}

std::string_view recognise_json(std::string_view head, const std::vector<std::string_view>& lines) {
  const char first = lines.front().front();
  if (first != '{' && first != '[') return "";
  if (first == '{' && has(head, "\"log_history\"")) return "trainer-state";
  if (has(head, "\"resultType\"") || (has(head, "\"metric\"") && has(head, "\"values\""))) {
    return "prometheus";
  }
  // A pretty-printed document: its first line is a bracket and little else. Objects as a runtime
  // prints them have keys without quotes.
  // Several of them one after the other are a log that prints objects.
  if (lines.front() == "{" && has(head, "\n{")) return "";
  const bool document =
      lines.size() == 1 || lines.front().size() == 1 || lines.front().back() == '[';
  if (document && may_list_points(head)) return "metrics";
  if (lines.front() == "{") return lines.size() > 1 && lines[1].front() != '"' ? "" : "metrics";
  // An answer of a server in each line: "[{"id":"…","value":"…"}]".
  const auto answers = std::count_if(lines.begin(), lines.end(), [](std::string_view line) {
    return line.starts_with("[{") && line.ends_with("}]");
  });
  if (answers >= 3) return "";
  if (first == '[' && (lines.front() == "[" || lines.front().starts_with("[{"))) {
    return "trainer-state";
  }
  return "";
}

bool looks_like_json_lines(const std::vector<std::string_view>& lines) {
  size_t objects = 0;
  for (const std::string_view line : lines) {
    if (line.starts_with("{\"") || line.starts_with("{ \"")) ++objects;
  }
  return objects > 0 && objects * 2 >= lines.size();
}

std::string_view recognise_tables(const std::vector<std::string_view>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.starts_with('#') && has(line, "Elapsed time") && has(line, "Real (MB)")) {
      return "psrecord";
    }
    if (has(line, "minflt/s") && has(line, "RSS")) return "pidstat";
    if (line.starts_with("<malloc version=")) return "malloc-info";
    if (line.starts_with("<verbosegc")) return "openj9";
    if (has(line, "Total: reserved=") && has(line, "committed=")) return "jvm-native";
    if (line.starts_with("total") && has(line, "used") && has(line, "free") &&
        i + 1 < lines.size() && has(lines[i + 1], "Mem:")) {
      return "free";
    }
    const bool resident = word_in(line, "RSS") || word_in(line, "RES") || word_in(line, "RSZ");
    if (resident && (word_in(line, "PID") || word_in(line, "COMMAND") || word_in(line, "CMD"))) {
      return "ps";
    }
  }
  return "";
}

bool looks_like_mprof(const std::vector<std::string_view>& lines) {
  size_t marks = 0;
  for (size_t i = 0; i < std::min<size_t>(lines.size(), 20); ++i) {
    std::string_view rest = lines[i];
    const std::string_view kind = next_word(rest);
    if (kind == "CMDLINE" && i == 0) ++marks;
    if (kind == "MEM" && parse_double(next_word(rest)) && parse_double(next_word(rest))) ++marks;
  }
  return marks >= 2 || (marks == 1 && lines.size() == 1);
}

// "csv" or one of its special kinds if `lines` start with a header, else empty.
std::string_view recognise_csv(const std::vector<std::string_view>& lines) {
  size_t at = 0;
  while (at < lines.size() && lines[at].front() == '#' && guess_separator(lines[at]) == '\0') ++at;
  if (at >= lines.size()) return "";
  std::string_view header = lines[at];
  while (!header.empty() && (header.front() == '#' || header.front() == ' ')) {
    header.remove_prefix(1);
  }
  const char separator = guess_separator(header);
  if (separator == '\0') return "";
  if (has(header, "mem_real")) return "psrecord";
  CsvFields cutter(separator);
  const std::vector<std::string_view> names = cutter.cut(header);
  std::vector<size_t> memory;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name.starts_with("memory.used") || name.starts_with("used_gpu_memory") ||
        name.starts_with("used_memory")) {
      return "nvidia-smi";
    }
    if (has(name, " - system.") || has(name, " - system/")) return "wandb";
    if (name.size() > 80 || parse_double(name)) return "";
    if (classify_column(name).kind == ColumnRole::Kind::memory) memory.push_back(i);
  }
  const size_t width = names.size();
  if (memory.empty() || width < 2) return "";
  if (at + 1 >= lines.size()) return "csv";
  // A text line with commas may hold a word for memory; only a table has numbers below it.
  for (size_t row = at + 1; row < std::min(lines.size(), at + 100); ++row) {
    const std::vector<std::string_view>& fields = cutter.cut(lines[row]);
    if (fields.size() + 1 < width || fields.size() > width) continue;
    for (const size_t column : memory) {
      if (column < fields.size() && parse_memory_mb(fields[column])) return "csv";
    }
  }
  return "";
}

// Runs of zero bytes as long as this are a hole: a log that was cut to nothing while its writer
// went on where it was, as logrotate's copytruncate does.
constexpr size_t kHole = 64;

// "r\0s\0s\0": every other byte is zero.
bool looks_like_utf16(std::string_view head) {
  size_t zeros = 0;
  for (size_t i = 1; i < head.size(); i += 2) zeros += (head[i] == '\0') != (head[i - 1] == '\0');
  return head.size() >= 8 && zeros * 10 > head.size() / 2 * 9;
}

// What bytes without any mark are, if they are no text; empty if they are.
std::string_view describe_bytes(std::string_view head) {
  if (looks_like_utf16(head)) {
    return "UTF-16 text; convert it first (iconv -f UTF-16LE -t UTF-8)";
  }
  size_t strange = 0;
  size_t all = 0;
  for (size_t at = 0; at < head.size();) {
    const size_t zeros = std::min(head.find_first_not_of('\0', at), head.size()) - at;
    if (zeros >= kHole) {
      at += zeros;
      continue;
    }
    const auto byte = static_cast<unsigned char>(head[at]);
    strange += byte < 0x20 && !is_space(head[at]) && byte != 0x1b && byte != '\b' && byte != '\f';
    ++all;
    ++at;
  }
  if (all == 0 && !head.empty()) return "binary data: nothing but zero bytes";
  return strange * 10 > all ? "binary data" : "";
}

// What Plateau itself writes: an answer, a comparison, in the terminal, as Markdown, JSON, SARIF,
// JUnit's XML or a chart. It holds figures of memory, and is no log of them.
bool is_answer_of_ours(std::string_view head) {
  if (head.starts_with("{\"file\":") && has(head, "\"verdict\":")) return true;
  if (head.starts_with("{\"$schema\":") && has(head, "\"name\":\"plateau\"")) return true;
  if (head.starts_with("<svg") && has(head, "plateau-chart")) return true;
  if (head.starts_with("<?xml") && has(head, "<testsuite name=\"plateau")) return true;
  std::string_view rest = head;
  const bool markdown = rest.starts_with("## ");
  if (markdown) rest.remove_prefix(3);
  const std::string_view line = rest.substr(0, rest.find('\n'));
  std::string_view word = line.substr(0, line.find_first_of(" :"));
  if (line.starts_with("NO WORSE ")) word = "WORSE";
  if (!lists("LEAK PLATEAU WARMING UNDECIDED BETTER WORSE", " ", word)) return false;
  static constexpr std::string_view kParts[] = {"\n  Grew  ",  "\n  Level ", "\n  Open  ",
                                                "\n  Why   ",  "\n  Next  ", "\n  Risk  ",
                                                "\n  Likely ", "\n  A  ",    "\n- **"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [head](std::string_view part) { return has(head, part); });
}

}  // namespace

std::string_view recognise_format(std::string_view head) {
  if (looks_like_recording(head)) return "recording";
  if (looks_like_tfrecords(head)) return "tensorboard";
  if (looks_like_wandb_log(head)) return "wandb-run";
  if (looks_like_cuda_snapshot(head)) return "cuda-snapshot";
  head = without_bom(head);
  const std::vector<std::string_view> lines = head_lines(head);
  if (lines.empty()) return "text";
  if (const std::string_view json = recognise_json(head, lines); !json.empty()) return json;
  if (looks_like_json_lines(lines)) return "jsonl";
  if (looks_like_mprof(lines)) return "mprof";
  if (const std::string_view csv = recognise_csv(lines); !csv.empty()) return csv;
  if (const std::string_view table = recognise_tables(lines); !table.empty()) return table;
  return "text";
}

std::string_view describe_foreign(std::string_view head) {
  struct Magic {
    std::string_view bytes;
    std::string_view what;
  };
  static constexpr std::array<Magic, 9> kMagics = {{
      {"\xfd"
       "7zXZ",
       "xz-compressed data; decompress it first (xz -dc FILE | plateau judge -)"},
      {"BZh", "bzip2-compressed data; decompress it first"},
      {"PK\x03\x04", "a zip archive; unpack it first"},
      {"\x7f"
       "ELF",
       "a program"},
      {"\x89PLT", "a Plateau recording that a transfer as text has damaged; copy it as binary"},
      {"PAR1", "a Parquet file; convert it to CSV first"},
      {"%PDF", "a PDF document"},
      {"\xff\xfe", "UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)"},
      {"\xfe\xff", "UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)"},
  }};
  for (const Magic& magic : kMagics) {
    if (head.starts_with(magic.bytes)) return magic.what;
  }
  const std::string_view text = trim(without_bom(head)).substr(0, 15);
  if (equal_ignoring_case(text.substr(0, 14), "<!doctype html") ||
      equal_ignoring_case(text.substr(0, 5), "<html")) {
    // Reports of ours carry their data in an element of that name.
    return has(head, "plateau")
               ? "a report of Plateau; give the recording or the log it was made from"
               : "a web page; give the log itself";
  }
  if (is_answer_of_ours(trim(without_bom(head)))) {
    return "an answer of Plateau; give the recording or the log it was made from";
  }
  if (looks_like_pickle(head)) return "a Python pickle that is no CUDA memory snapshot";
  return describe_bytes(head);
}

}  // namespace plateau
