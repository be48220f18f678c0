// SPDX-License-Identifier: Apache-2.0
// For tests: the Python interpreters of this machine. One place, so that all rooms try the same.
#pragma once

#include <glob.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace plateau {

// The interpreter of CPython 3.`minor` that pyenv installed (PYENV_ROOT, else ~/.pyenv); minor 0
// stands for the system's. Empty if it is not installed.
inline std::string python_for_test(int minor) {
  if (minor == 0) return ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "";
  std::string root;
  if (const char* home = std::getenv("HOME")) root = std::string(home) + "/.pyenv";
  if (const char* given = std::getenv("PYENV_ROOT")) root = given;
  if (root.empty()) return "";
  const std::string pattern = root + "/versions/3." + std::to_string(minor) + ".*/bin/python3";
  glob_t found = {};
  std::string path;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) path = found.gl_pathv[0];
  ::globfree(&found);
  return path;
}

}  // namespace plateau
