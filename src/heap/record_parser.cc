// SPDX-License-Identifier: Apache-2.0
#include "heap/record_parser.h"

namespace plateau {
namespace {

using record_parser::copy_of;

// What follows the fixed part of a record, as bytes.
template <class Record>
std::string_view rest_of(std::span<const uint64_t> words) {
  return std::string_view(reinterpret_cast<const char*>(words.data()), words.size_bytes())
      .substr(sizeof(Record));
}

template <class Record>
bool long_enough(std::span<const uint64_t> words) {
  return words.size_bytes() >= sizeof(Record);
}

}  // namespace

std::optional<StackNews> parse_stack_record(std::span<const uint64_t> words) {
  if (!long_enough<trace::StackRecord>(words)) return std::nullopt;
  const auto record = copy_of<trace::StackRecord>(words.data());
  if (record.native > trace::kMaxNativeFrames || record.python > trace::kMaxPythonFrames) {
    return std::nullopt;
  }
  const std::span<const uint64_t> frames = words.subspan(sizeof record / sizeof(uint64_t));
  constexpr size_t kPythonWords = sizeof(trace::PythonFrameWords) / sizeof(uint64_t);
  if (frames.size() != record.native + size_t{record.python} * kPythonWords) return std::nullopt;
  StackNews news;
  news.id = record.id;
  news.truncated = record.truncated != 0;
  news.native.assign(frames.begin(), frames.begin() + record.native);
  news.python.resize(record.python);
  if (record.python > 0) {
    std::memcpy(static_cast<void*>(news.python.data()), frames.data() + record.native,
                record.python * sizeof(trace::PythonFrameWords));
  }
  return news;
}

std::optional<CodeNews> parse_code_record(std::span<const uint64_t> words) {
  if (!long_enough<trace::CodeRecord>(words)) return std::nullopt;
  const auto record = copy_of<trace::CodeRecord>(words.data());
  const std::string_view rest = rest_of<trace::CodeRecord>(words);
  const size_t file = record.file_bytes;
  const size_t function = record.function_bytes;
  const size_t table = record.line_table_bytes;
  if (file > trace::kMaxTextBytes || function > trace::kMaxTextBytes ||
      table > trace::kMaxLineTableBytes || file + function + table > rest.size()) {
    return std::nullopt;
  }
  CodeNews news;
  news.id = record.id;
  news.code.first_line = record.first_line;
  news.code.minor = record.minor;
  news.code.file = rest.substr(0, file);
  news.code.function = rest.substr(file, function);
  news.code.line_table = rest.substr(file + function, table);
  return news;
}

std::optional<HeapModule> parse_module_record(std::span<const uint64_t> words) {
  if (!long_enough<trace::ModuleRecord>(words)) return std::nullopt;
  const auto record = copy_of<trace::ModuleRecord>(words.data());
  const std::string_view rest = rest_of<trace::ModuleRecord>(words);
  const size_t id = record.build_id_bytes;
  const size_t path = record.path_bytes;
  if (record.begin >= record.end || id > trace::kMaxTextBytes || path > trace::kMaxTextBytes ||
      id + path > rest.size()) {
    return std::nullopt;
  }
  return HeapModule{.begin = record.begin,
                    .end = record.end,
                    .bias = record.bias,
                    .path = std::string(rest.substr(id, path)),
                    .build_id = std::string(rest.substr(0, id))};
}

}  // namespace plateau
