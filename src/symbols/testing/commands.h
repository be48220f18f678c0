// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: running programs, the interpreters of this machine.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/python_for_test.h"
#include "base/testing/scratch_directory.h"

namespace plateau::testing {

// What the command prints; "" if it fails.
inline std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 65536> chunk{};
  size_t count = 0;
  while ((count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0) {
    text.append(chunk.data(), count);
  }
  return ::pclose(pipe) == 0 ? text : std::string();
}

// Programs of CPython 3.8 to 3.14 on this machine.
inline std::vector<std::string> python_programs() {
  std::vector<std::string> programs;
  for (const int minor : {0, 8, 9, 10, 11, 12, 13, 14}) {
    const std::string program = python_for_test(minor);
    if (!program.empty()) programs.push_back(program);
  }
  return programs;
}

inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

inline std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace plateau::testing
