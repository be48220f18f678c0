// SPDX-License-Identifier: Apache-2.0
// How the launcher (launch.cc) tells the loader where LibTorch is, and the program undoes it, so
// that what it starts does not find LibTorch's libraries before its own.
#pragma once

#include <cstdlib>

namespace plateau::train {

constexpr const char* kLoaderPath = "LD_LIBRARY_PATH";
constexpr const char* kLoaderPathBefore = "PLATEAU_LOADER_PATH_BEFORE";

// Call it before threads are started.
inline void restore_loader_path() {
  const char* before = std::getenv(kLoaderPathBefore);
  if (before == nullptr) return;
  if (*before == 0) {
    ::unsetenv(kLoaderPath);
  } else {
    ::setenv(kLoaderPath, before, 1);
  }
  ::unsetenv(kLoaderPathBefore);
}

}  // namespace plateau::train
