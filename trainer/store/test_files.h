// SPDX-License-Identifier: Apache-2.0
// For tests: a directory that goes away, files of tensors in it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

// The bytes of a file with this header and so much data behind it.
inline std::string safetensors_bytes(std::string_view json, size_t data_bytes) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(json.size() >> (8 * i));
  bytes += json;
  for (size_t i = 0; i < data_bytes; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

inline std::span<const std::byte> bytes_of_text(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename T>
TensorView test_tensor(std::string name, DType dtype, std::vector<int64_t> shape,
                       const std::vector<T>& values) {
  return {.name = std::move(name),
          .dtype = dtype,
          .shape = std::move(shape),
          .bytes = std::as_bytes(std::span(values))};
}

}  // namespace plateau::train
