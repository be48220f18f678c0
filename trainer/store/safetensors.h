// SPDX-License-Identifier: Apache-2.0
// Tensors in files: the safetensors format, read by mapping it, one file or many shards.
//
// A file is mapped read-only and never copied as a whole; a TensorView points into the mapping and
// lives as long as the file object. Every length and offset is checked with overflow in mind before
// it is used: no holes, no overlap, the last byte of the data is the last byte of the file.
// Writing goes to a temporary name beside the file, is flushed to the disk and renamed: a reader
// sees the old file or the new one. docs/formats/safetensors.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau::train {

enum class DType : uint8_t { boolean, u8, i8, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };
size_t bytes_of(DType dtype);
std::string_view name_of(DType dtype);  // "F32" as the format spells it.

struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  // Little-endian, row by row; may be at an odd address.

  [[nodiscard]] int64_t elements() const;
};

using Metadata = std::map<std::string, std::string>;

// One mapped file. Movable; not for use by two threads while it is moved.
class SafetensorsFile {
 public:
  static Result<SafetensorsFile> open(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  [[nodiscard]] const std::vector<TensorView>& tensors() const;  // In the order of their offsets.
  [[nodiscard]] const TensorView* find(std::string_view name) const;  // nullptr if absent.
  [[nodiscard]] const Metadata& metadata() const;
  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  struct State;
  explicit SafetensorsFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Only the header, for those who have the bytes (the fuzzer, and open()). Views point into `file`.
struct SafetensorsHeader {
  std::vector<TensorView> tensors;
  Metadata metadata;
};
Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file,
                                            const std::string& name);

// A model directory: model.safetensors, or the shards of model.safetensors.index.json. A shard that
// is missing, a tensor that the index names but its shard lacks, a tensor twice: errors.
class WeightFiles {
 public:
  static Result<WeightFiles> open(const std::filesystem::path& model_directory);
  [[nodiscard]] const TensorView* find(std::string_view name) const;
  [[nodiscard]] std::vector<const TensorView*> tensors() const;  // Sorted by name.
  [[nodiscard]] const std::vector<SafetensorsFile>& files() const { return files_; }
  // Tells the kernel that the pages of a tensor that was converted are not needed again.
  void release(const TensorView& tensor) const;

 private:
  std::vector<SafetensorsFile> files_;
  std::map<std::string, const TensorView*, std::less<>> by_name_;
};

// The advice behind WeightFiles::release(). Requires: `tensor` lies in a mapped file.
void release_pages(const TensorView& tensor);

// Writes tensors one after the other, so that only one needs to be in memory: sizes first, then the
// bytes in the same order. Not finished means not there: the temporary file is removed.
class SafetensorsWriter {
 public:
  struct Entry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<int64_t> shape;
  };
  static Result<SafetensorsWriter> create(const std::filesystem::path& path,
                                          std::vector<Entry> entries, const Metadata& metadata);
  SafetensorsWriter(SafetensorsWriter&&) noexcept;
  SafetensorsWriter& operator=(SafetensorsWriter&&) noexcept;
  ~SafetensorsWriter();

  // The bytes of the next entry, whole.
  Result<std::monostate> add(std::span<const std::byte> bytes);
  Result<std::monostate> finish();

 private:
  struct State;
  explicit SafetensorsWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// All at once.
Result<std::monostate> write_safetensors(const std::filesystem::path& path,
                                         const std::vector<TensorView>& tensors,
                                         const Metadata& metadata);

}  // namespace plateau::train
