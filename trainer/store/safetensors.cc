// SPDX-License-Identifier: Apache-2.0
// Files of tensors, mapped: one, or the shards of a model directory.
#include "trainer/store/safetensors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <unordered_map>

#include "base/fd.h"

namespace plateau::train {
namespace {

namespace dom = simdjson::dom;

Error not_readable(const std::filesystem::path& path, std::string_view why) {
  return {Error::Kind::not_found, fmt::format("{}: {}", path.string(), why)};
}

Error bad(const std::filesystem::path& path, std::string_view what) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", path.string(), what)};
}

// A whole file, read-only. Shared: pages are the page cache's own, and never a second copy.
class Mapping {
 public:
  Mapping(void* address, size_t size) : address_(address), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(address_, size_); }

  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(address_), size_};
  }

 private:
  void* address_;
  size_t size_;
};

Result<std::unique_ptr<Mapping>> map_file(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return not_readable(path, std::strerror(errno));
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return not_readable(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return bad(path, "not a file");
  if (status.st_size == 0) return bad(path, "an empty file, expected safetensors");
  const auto size = static_cast<size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (address == MAP_FAILED) {
    return not_readable(path, fmt::format("cannot be mapped: {}", std::strerror(errno)));
  }
  return std::make_unique<Mapping>(address, size);
}

// Which shard has which tensor, as the index says.
Result<std::map<std::string, std::set<std::string>>> read_index(const std::filesystem::path& path) {
  simdjson::padded_string text;
  const auto unread = simdjson::padded_string::load(path.string()).get(text);
  if (unread != simdjson::SUCCESS) {
    return not_readable(path, simdjson::error_message(unread));
  }
  dom::parser parser;
  dom::element root;
  const auto failed = parser.parse(text).get(root);
  if (failed != simdjson::SUCCESS) {
    return bad(path, fmt::format("not JSON: {}", simdjson::error_message(failed)));
  }
  dom::object weight_map;
  if (root["weight_map"].get(weight_map) != simdjson::SUCCESS || weight_map.size() == 0) {
    return bad(path, "has no \"weight_map\" from tensors to files");
  }
  std::map<std::string, std::set<std::string>> shards;
  std::set<std::string_view> seen;
  for (const dom::key_value_pair field : weight_map) {
    std::string_view shard;
    if (field.value.get(shard) != simdjson::SUCCESS || shard.empty() ||
        shard.find('/') != std::string_view::npos || shard == "." || shard == "..") {
      return bad(path, fmt::format("tensor \"{}\": its file is not the name of a file beside the "
                                   "index",
                                   field.key));
    }
    if (!seen.insert(field.key).second) {
      return bad(path, fmt::format("tensor \"{}\" stands twice", field.key));
    }
    shards[std::string(shard)].emplace(field.key);
  }
  return shards;
}

}  // namespace

struct SafetensorsFile::State {
  std::filesystem::path path;
  std::unique_ptr<Mapping> mapping;
  SafetensorsHeader header;
  std::unordered_map<std::string_view, const TensorView*> by_name;  // Views of header's names.
};

SafetensorsFile::SafetensorsFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  Result<std::unique_ptr<Mapping>> mapping = map_file(path);
  if (!mapping.ok()) return mapping.error();
  Result<SafetensorsHeader> header = parse_safetensors(mapping.value()->bytes(), path.string());
  if (!header.ok()) return header.error();
  auto state = std::make_unique<State>();
  state->path = path;
  state->mapping = std::move(mapping.value());
  state->header = std::move(header.value());
  for (const TensorView& tensor : state->header.tensors) {
    state->by_name.emplace(tensor.name, &tensor);
  }
  return SafetensorsFile(std::move(state));
}

const std::vector<TensorView>& SafetensorsFile::tensors() const {
  return state_->header.tensors;
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : found->second;
}

const Metadata& SafetensorsFile::metadata() const {
  return state_->header.metadata;
}

const std::filesystem::path& SafetensorsFile::path() const {
  return state_->path;
}

Result<WeightFiles> WeightFiles::open(const std::filesystem::path& model_directory) {
  WeightFiles weights;
  std::error_code ignored;
  const std::filesystem::path single = model_directory / "model.safetensors";
  const std::filesystem::path index = model_directory / "model.safetensors.index.json";
  if (std::filesystem::exists(single, ignored)) {
    Result<SafetensorsFile> file = SafetensorsFile::open(single);
    if (!file.ok()) return file.error();
    weights.files_.push_back(std::move(file.value()));
  } else if (std::filesystem::exists(index, ignored)) {
    const auto shards = read_index(index);
    if (!shards.ok()) return shards.error();
    for (const auto& [shard, names] : shards.value()) {
      Result<SafetensorsFile> file = SafetensorsFile::open(model_directory / shard);
      if (!file.ok()) {
        return Error{file.error().kind,
                     fmt::format("{} (a shard that {} names)", file.error().message,
                                 index.filename().string())};
      }
      for (const std::string& name : names) {
        if (file.value().find(name) == nullptr) {
          return bad(file.value().path(), fmt::format("has no tensor \"{}\", which {} says it has",
                                                      name, index.filename().string()));
        }
      }
      weights.files_.push_back(std::move(file.value()));
    }
  } else {
    return not_readable(model_directory,
                        "has neither model.safetensors nor model.safetensors.index.json");
  }
  for (const SafetensorsFile& file : weights.files_) {
    for (const TensorView& tensor : file.tensors()) {
      if (!weights.by_name_.emplace(tensor.name, &tensor).second) {
        return bad(file.path(),
                   fmt::format("tensor \"{}\" is in another shard already", tensor.name));
      }
    }
  }
  return weights;
}

const TensorView* WeightFiles::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const TensorView*> WeightFiles::tensors() const {
  std::vector<const TensorView*> all;
  all.reserve(by_name_.size());
  for (const auto& [name, tensor] : by_name_) all.push_back(tensor);
  return all;
}

void WeightFiles::release(const TensorView& tensor) const {
  release_pages(tensor);
}

void release_pages(const TensorView& tensor) {
  // Whole pages only: the neighbours may still be needed.
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(tensor.bytes.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t last = (begin + tensor.bytes.size()) / page * page;
  if (first >= last) return;
  // Advice: the pages come back from the file if they are read again.
  ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);  // NOLINT
}

}  // namespace plateau::train
