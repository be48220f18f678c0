// SPDX-License-Identifier: Apache-2.0
#include "dataset/records.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/fd.h"
#include "base/text.h"
#include "dataset/csv_records.h"

namespace plateau {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr size_t kMostRecordBytes = 512'000'000;
constexpr uint64_t kMostListBytes = 2'000'000'000;
constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kMostFiles = 10'000;

Error broken(const std::string& file, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", file, what)};
}

// Hands single records on, parsed.
class RecordParser {
 public:
  explicit RecordParser(const OnRecord& on_record) : on_record_(on_record) {}

  bool operator()(size_t line, std::string_view text) {
    if (trim(text).empty()) return true;
    dom::element element;
    const simdjson::error_code code = parser_.parse(text.data(), text.size()).get(element);
    if (code == simdjson::SUCCESS) return on_record_(line, element);
    const std::string what = code == simdjson::UTF8_ERROR
                                 ? "not valid UTF-8"
                                 : fmt::format("not JSON: {}", simdjson::error_message(code));
    return on_record_(line, Error{Error::Kind::bad_input, what});
  }

 private:
  const OnRecord& on_record_;
  dom::parser parser_;
};

// A list, or an object that holds one under "data" or "train"; a list of one object otherwise.
Result<void> each_of_list(std::string_view text, const std::string& file,
                          const OnRecord& on_record) {
  dom::parser parser;
  dom::element root;
  const simdjson::error_code code = parser.parse(text.data(), text.size()).get(root);
  if (code != simdjson::SUCCESS) {
    return broken(file, fmt::format("not JSON: {}", simdjson::error_message(code)));
  }
  dom::array list;
  for (const std::string_view key : {"data", "train"}) {
    dom::element inner;
    if (root.is_object() && root.at_key(key).get(inner) == simdjson::SUCCESS && inner.is_array())
      root = inner;
  }
  if (root.get_array().get(list) != simdjson::SUCCESS) {
    on_record(1, root);
    return {};
  }
  size_t number = 0;
  for (const dom::element each : list) {
    if (!on_record(++number, each)) break;
  }
  return {};
}

enum class Kind : uint8_t { lines, list, csv };

// By its first bytes; an error for what is refused.
Result<Kind> kind_of(std::string_view begin, const std::string& file) {
  if (begin.starts_with("PAR1")) {
    return broken(
        file,
        "Parquet; convert it: python -c \"import datasets; "
        "datasets.load_dataset('parquet', data_files='IN')['train'].to_json('OUT.jsonl')\"");
  }
  if (begin.starts_with("ARROW1")) {
    return broken(file,
                  "Arrow; convert it: python -c \"import datasets; "
                  "datasets.Dataset.from_file('IN').to_json('OUT.jsonl')\"");
  }
  if (begin.starts_with("\x1f\x8b") || begin.starts_with("\x28\xb5\x2f\xfd")) {
    return broken(file, "compressed; decompress it first");
  }
  if (file.ends_with(".csv") || file.ends_with(".tsv")) return Kind::csv;
  std::string_view text = begin;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = trim(text);
  if (text.starts_with('[')) return Kind::list;
  if (text.starts_with('{')) return Kind::lines;
  return broken(file, text.empty() ? "empty" : "neither JSON, JSON lines nor CSV");
}

// Cuts what is appended into lines.
class LineCutter {
 public:
  explicit LineCutter(RecordParser& parse) : parse_(parse) {}

  // False: nobody wants more, or a line is too long.
  bool append(std::string_view chunk) {
    pending_ += chunk;
    size_t begin = 0;
    for (size_t end = pending_.find('\n'); end != std::string::npos;
         end = pending_.find('\n', begin)) {
      if (!parse_(++line_, std::string_view(pending_).substr(begin, end - begin))) return false;
      begin = end + 1;
    }
    pending_.erase(0, begin);
    is_too_long_ = pending_.size() > kMostRecordBytes;
    return !is_too_long_;
  }
  void finish() {
    if (!pending_.empty()) parse_(++line_, pending_);
  }
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }
  [[nodiscard]] size_t line() const { return line_; }

 private:
  RecordParser& parse_;
  std::string pending_;
  size_t line_ = 0;
  bool is_too_long_ = false;
};

std::string_view without_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

Result<void> stream_lines(int fd, const std::string& file, uint64_t total,
                          const OnRecord& on_record, const OnProgress& progress) {
  RecordParser parse(on_record);
  LineCutter cutter(parse);
  std::string chunk(kChunk, '\0');
  uint64_t done = 0;
  while (true) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0) return broken(file, std::strerror(errno));
    if (got == 0) break;
    std::string_view text(chunk.data(), static_cast<size_t>(got));
    if (done == 0) text = without_mark(text);
    done += static_cast<uint64_t>(got);
    if (progress) progress(done, total);
    if (cutter.append(text)) continue;
    if (!cutter.is_too_long()) return {};
    return broken(file, fmt::format("line {} is longer than 512 MB", cutter.line() + 1));
  }
  cutter.finish();
  return {};
}

Result<std::string> whole_file(int fd, const std::string& file, uint64_t size) {
  if (size > kMostListBytes) {
    return broken(file, "a JSON list or CSV of more than 2 GB; convert it to JSON lines");
  }
  std::string text;
  std::string chunk(kChunk, '\0');
  while (text.size() <= kMostListBytes) {
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got < 0) return broken(file, std::strerror(errno));
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<size_t>(got));
  }
  return broken(file, "it grows while it is read");
}

Result<void> each_csv_record(std::string_view text, char separator, const std::string& file,
                             const OnRecord& on_record) {
  RecordParser parse(on_record);
  const Result<void> done = each_csv_row(without_mark(text), separator, parse_as_json(parse));
  return done ? done : broken(file, done.error().message);
}

}  // namespace

Result<void> each_record(const std::string& file, const OnRecord& on_record,
                         const OnProgress& progress) {
  // Without waiting: a pipe that a path leads to must not hold us up.
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!fd || fstat(fd.get(), &facts) != 0) {
    return Error{Error::Kind::not_found, fmt::format("{}: {}", file, std::strerror(errno))};
  }
  if (!S_ISREG(facts.st_mode)) return broken(file, "not a file");
  const auto size = static_cast<uint64_t>(facts.st_size);
  std::string begin(4096, '\0');
  const ssize_t got = pread(fd.get(), begin.data(), begin.size(), 0);
  begin.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  const Result<Kind> kind = kind_of(begin, file);
  if (!kind) return kind.error();
  if (kind.value() == Kind::lines) {
    // An object over several lines is a document, not a line each.
    const size_t end = begin.find('\n');
    const bool is_document =
        file.ends_with(".json") && trim(std::string_view(begin).substr(0, end)) == "{";
    if (!is_document) return stream_lines(fd.get(), file, size, on_record, progress);
  }
  const Result<std::string> text = whole_file(fd.get(), file, size);
  if (!text) return text.error();
  if (kind.value() == Kind::csv) {
    return each_csv_record(text.value(), file.ends_with(".tsv") ? '\t' : ',', file, on_record);
  }
  return each_of_list(without_mark(text.value()), file, on_record);
}

Result<void> each_record_of(std::string_view text, bool is_csv, const OnRecord& on_record) {
  if (is_csv) return each_csv_record(text, ',', "text", on_record);
  const Result<Kind> kind = kind_of(text, "text");
  if (!kind) return kind.error();
  if (kind.value() == Kind::list) return each_of_list(without_mark(text), "text", on_record);
  RecordParser parse(on_record);
  LineCutter cutter(parse);
  if (cutter.append(without_mark(text))) cutter.finish();
  return {};
}

Result<std::vector<std::string>> dataset_files(const std::string& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  bool has_parquet = false;
  auto walk =
      fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, code);
  for (; !code && walk != fs::recursive_directory_iterator(); walk.increment(code)) {
    if (walk.depth() > 3) walk.pop(code);
    if (code || walk == fs::recursive_directory_iterator()) break;
    const fs::path& each = walk->path();
    const std::string kind = each.extension().string();
    const std::string name = each.filename().string();
    has_parquet = has_parquet || kind == ".parquet" || kind == ".arrow";
    const bool is_list = kind == ".json" && name != "dataset_info.json" &&
                         name != "dataset_infos.json" && name != "dataset_dict.json" &&
                         name != "state.json";
    if (kind == ".jsonl" || kind == ".ndjson" || kind == ".csv" || kind == ".tsv" || is_list) {
      files.push_back(each.string());
    }
    if (files.size() > kMostFiles) return broken(path, "more than 10,000 files");
  }
  if (files.empty()) {
    return broken(path,
                  has_parquet
                      ? "only Parquet or Arrow files; convert them: python -c \"import datasets; "
                        "datasets.load_dataset('DIR')['train'].to_json('OUT.jsonl')\""
                      : "no .jsonl, .json or .csv file in it");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace plateau
