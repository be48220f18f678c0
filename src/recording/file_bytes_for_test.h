// SPDX-License-Identifier: Apache-2.0
// For tests: what stands in a file.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace plateau {

// Empty if the file cannot be read.
inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace plateau
