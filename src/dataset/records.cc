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
#include "dataset/other_format.h"
#include "dataset/record_places.h"

namespace plateau {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr size_t kMostRecordBytes = 512'000'000;
constexpr uint64_t kMostWholeBytes = 2'000'000'000;
constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kMostFiles = 10'000;

Error broken(const std::string& file, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", file, what)};
}

// What an object holds under "data" or "train", if that is a list of examples and the object is
// none itself; nullopt otherwise.
std::optional<dom::array> list_within(dom::element element) {
  dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  dom::element ignored;
  for (const std::string_view form :
       {"messages", "conversations", "prompt", "instruction", "query", "text"}) {
    if (object.at_key(form).get(ignored) == simdjson::SUCCESS) return std::nullopt;
  }
  for (const std::string_view key : {"data", "train"}) {
    dom::array list;
    if (object.at_key(key).get_array().get(list) == simdjson::SUCCESS) return list;
  }
  return std::nullopt;
}

// Hands single records on, parsed.
class RecordParser {
 public:
  explicit RecordParser(const OnRecord& on_record) : on_record_(on_record) {}

  bool operator()(size_t line, std::string_view text) { return parse({.line = line}, text); }

  bool parse(const RecordAt& at, std::string_view text) {
    if (trim(text).empty()) return true;
    dom::element element;
    const simdjson::error_code code = parser_.parse(text.data(), text.size()).get(element);
    if (code == simdjson::SUCCESS) return hand_on(at, element);
    const std::string what = code == simdjson::UTF8_ERROR
                                 ? "not valid UTF-8"
                                 : fmt::format("not JSON: {}", simdjson::error_message(code));
    return on_record_(at, Error{Error::Kind::bad_input, what});
  }

 private:
  bool hand_on(RecordAt at, dom::element element) {
    const std::optional<dom::array> list = list_within(element);
    if (!list) return on_record_(at, element);
    for (const dom::element each : *list) {
      ++at.example;
      if (!on_record_(at, each)) return false;
    }
    return true;
  }

  const OnRecord& on_record_;
  dom::parser parser_;
};

// Up to `bytes` from `offset` on; empty at the end. nullopt with errno.
using ReadAt = std::function<std::optional<std::string>(uint64_t offset, size_t bytes)>;

ReadAt reader_of(int fd) {
  return [fd](uint64_t offset, size_t bytes) -> std::optional<std::string> {
    std::string out(bytes, '\0');
    size_t done = 0;
    while (done < bytes) {
      const ssize_t got =
          pread(fd, out.data() + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::nullopt;
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    out.resize(done);
    return out;
  };
}

// A JSON list in two passes: where its elements lie, then each by itself, so that one that is
// broken does not cost the others. Where the list itself breaks off is told behind what stands
// before.
Result<void> each_of_list(const ReadAt& read_at, const std::string& file, uint64_t total,
                          const OnRecord& on_record, const OnProgress& progress) {
  RecordFinder finder;
  std::optional<std::string> wrong;
  for (uint64_t offset = 0; !wrong; offset += kChunk) {
    std::optional<std::string> chunk = read_at(offset, kChunk);
    if (!chunk) return broken(file, std::strerror(errno));
    // Spaces in the place of a byte order mark keep the offsets right.
    if (offset == 0 && chunk->starts_with("\xEF\xBB\xBF")) chunk->replace(0, 3, "   ");
    wrong = finder.add({chunk->data(), chunk->size()});
    if (chunk->size() < kChunk && !wrong) {
      wrong = finder.finish();
      break;
    }
  }
  RecordParser parser(on_record);
  RecordAt at;
  for (const RecordPlace& place : finder.take()) {
    at = {.line = place.line, .example = at.example + 1};
    if (place.bytes > kMostRecordBytes) return broken(file, text_of(at) + " is longer than 512 MB");
    const std::optional<std::string> text = read_at(place.offset, place.bytes);
    if (!text) return broken(file, std::strerror(errno));
    if (progress) progress(place.offset + place.bytes, total);
    if (!parser.parse(at, *text)) return {};
  }
  if (wrong) on_record({}, Error{Error::Kind::bad_input, "not JSON: " + *wrong});
  return {};
}

enum class Kind : uint8_t { lines, list, csv };

bool has_ending(const std::string& file, std::string_view ending) {
  return equal_ignoring_case(fs::path(file).extension().string(), ending);
}

// By its first bytes; an error for what is refused.
Result<Kind> kind_of(std::string_view begin, const std::string& file) {
  if (const std::string other = other_format(begin, file); !other.empty()) {
    return broken(file, other);
  }
  if (has_ending(file, ".csv") || has_ending(file, ".tsv")) return Kind::csv;
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
  if (size > kMostWholeBytes) {
    return broken(file, "an object or CSV of more than 2 GB; convert it to JSON lines");
  }
  std::string text;
  std::string chunk(kChunk, '\0');
  while (text.size() <= kMostWholeBytes) {
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
  const Result<void> done = each_csv_row(
      without_mark(text), separator, [&](size_t line, const Result<std::string>& json) {
        return json ? parse(line, json.value()) : on_record({.line = line}, json.error());
      });
  return done ? done : broken(file, done.error().message);
}

}  // namespace

std::string text_of(const RecordAt& at) {
  if (at.example == 0) return at.line == 0 ? "" : fmt::format("line {}", at.line);
  return at.line == 0 ? fmt::format("example {}", at.example)
                      : fmt::format("line {}, example {}", at.line, at.example);
}

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
  if (kind.value() == Kind::list) {
    return each_of_list(reader_of(fd.get()), file, size, on_record, progress);
  }
  const Result<std::string> text = whole_file(fd.get(), file, size);
  if (!text) return text.error();
  if (kind.value() == Kind::csv) {
    return each_csv_record(text.value(), has_ending(file, ".tsv") ? '\t' : ',', file, on_record);
  }
  // One object over several lines.
  RecordParser(on_record).parse({.line = 1}, without_mark(text.value()));
  return {};
}

Result<void> each_record_of(std::string_view text, bool is_csv, const OnRecord& on_record) {
  if (is_csv) return each_csv_record(text, ',', "text", on_record);
  const Result<Kind> kind = kind_of(text, "text");
  if (!kind) return kind.error();
  if (kind.value() == Kind::list) {
    const ReadAt read_at = [&](uint64_t offset, size_t bytes) -> std::optional<std::string> {
      return std::string(text.substr(std::min<uint64_t>(offset, text.size()), bytes));
    };
    return each_of_list(read_at, "text", text.size(), on_record, {});
  }
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
    return broken(path, has_parquet
                            ? "only Parquet or Arrow files; check-data with one of them says how "
                              "to make JSON lines of it"
                            : "no .jsonl, .json or .csv file in it");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace plateau
