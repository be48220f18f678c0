// SPDX-License-Identifier: Apache-2.0
// For tests: holds whole pages to the ones stored under tests/golden.
//
// PLATEAU_UPDATE_GOLDEN=1 in the environment rewrites every stored page that a test asks for; read
// the difference before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace plateau {

// `file` is the page's path below tests/golden, ending included: "report/leak-80.txt". A page that
// is not stored fails the test.
inline void expect_stored_page(const std::string& file, const std::string& text) {
  const std::string path = PLATEAU_SOURCE_DIR "/tests/golden/" + file;
  if (std::getenv("PLATEAU_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream input(path);
  ASSERT_TRUE(input) << path << " is missing; PLATEAU_UPDATE_GOLDEN=1 writes it";
  const std::string stored{std::istreambuf_iterator<char>(input), {}};
  EXPECT_EQ(text, stored) << "differs from " << path;
}

}  // namespace plateau
