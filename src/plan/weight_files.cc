// SPDX-License-Identifier: Apache-2.0
// The headers of safetensors files: eight bytes that say how long it is, then JSON with a shape for
// each weight. A header is foreign: its length is bounded by the file's and by the format's own
// limit, and shapes are multiplied as doubles, which do not wrap.
#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/fd.h"
#include "plan/weights.h"

namespace plateau {
namespace {

namespace dom = simdjson::dom;
namespace fs = std::filesystem;

constexpr uint64_t kMostHeaderBytes = 100'000'000;  // The limit of the format's own library.
constexpr size_t kMostFiles = 2'000;
constexpr size_t kMostDimensions = 16;

Error broken(const std::string& file, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", file, what)};
}

bool read_exactly(int fd, char* to, size_t bytes, off_t from) {
  while (bytes > 0) {
    const ssize_t got = pread(fd, to, bytes, from);
    if (got <= 0) return false;
    to += got;
    from += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

Result<std::string> read_header(const std::string& file) {
  const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!fd || fstat(fd.get(), &facts) != 0) {
    return Error{Error::Kind::not_found, fmt::format("{}: {}", file, std::strerror(errno))};
  }
  uint64_t length = 0;
  if (!S_ISREG(facts.st_mode) ||
      !read_exactly(fd.get(), reinterpret_cast<char*>(&length), sizeof length, 0)) {
    return broken(file, "too short for a safetensors file");
  }
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (length > kMostHeaderBytes || length > size - sizeof length) {
    return broken(file, "not a safetensors file, or cut off in its header");
  }
  std::string header(length, '\0');
  if (!read_exactly(fd.get(), header.data(), length, sizeof length)) {
    return broken(file, "cut off in its header");
  }
  return header;
}

// Values of one weight; below 0 if its shape is not one.
double values_of(dom::element shape) {
  dom::array sides;
  if (shape.get_array().get(sides) != simdjson::SUCCESS || sides.size() > kMostDimensions)
    return -1;
  double values = 1;
  for (const dom::element side : sides) {
    uint64_t length = 0;
    if (side.get_uint64().get(length) != simdjson::SUCCESS) return -1;
    values *= static_cast<double>(length);
  }
  return values;
}

}  // namespace

Result<StoredWeights> count_header(std::string_view json, const std::string& file) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS) {
    return broken(file, "its header is not a JSON object");
  }
  StoredWeights stored{.files = 1};
  for (const auto [key, value] : object) {
    if (key == "__metadata__") continue;
    dom::element shape;
    std::string_view dtype;
    if (value.at_key("shape").get(shape) != simdjson::SUCCESS ||
        value.at_key("dtype").get_string().get(dtype) != simdjson::SUCCESS) {
      return broken(file, fmt::format("\"{}\" has no dtype and shape", key.substr(0, 80)));
    }
    const double values = values_of(shape);
    if (values < 0) return broken(file, fmt::format("\"{}\" has no shape", key.substr(0, 80)));
    if (dtype.starts_with('F') || dtype == "BF16") {
      stored.parameters += values;
    } else {
      stored.is_packed = true;
    }
  }
  return stored;
}

Result<std::optional<StoredWeights>> count_stored_weights(const std::string& path) {
  std::error_code ignored;
  const fs::path directory =
      fs::is_directory(path, ignored) ? fs::path(path) : fs::path(path).parent_path();
  std::vector<std::string> files;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(directory.empty() ? "." : directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") && !name.starts_with("adapter"))
      files.push_back(entry.path().string());
    if (files.size() > kMostFiles)
      return broken(directory.string(), "more than 2,000 weight files");
  }
  // A model published twice, in shards and consolidated, is counted once.
  const bool has_shards = std::ranges::any_of(files, [](const std::string& file) {
    return fs::path(file).filename().string().starts_with("model");
  });
  StoredWeights all;
  for (const std::string& file : files) {
    if (has_shards && !fs::path(file).filename().string().starts_with("model")) continue;
    const Result<std::string> header = read_header(file);
    if (!header) return header.error();
    const Result<StoredWeights> one = count_header(header.value(), file);
    if (!one) return one.error();
    all.parameters += one.value().parameters;
    all.is_packed = all.is_packed || one.value().is_packed;
    ++all.files;
  }
  if (all.files == 0) return std::optional<StoredWeights>();
  return std::optional<StoredWeights>(all);
}

}  // namespace plateau
