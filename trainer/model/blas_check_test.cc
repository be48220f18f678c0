// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/blas_check.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace plateau::train {
namespace {

TEST(BlasInUse, NamesAFileThatExists) {
  const BlasInUse blas = blas_in_use();
  EXPECT_TRUE(blas.library == "built in" || std::filesystem::exists(blas.library)) << blas.library;
  // Where Debian keeps the two kinds.
  if (blas.library.find("/openblas") != std::string::npos) {
    EXPECT_FALSE(blas.is_reference);
  }
  if (blas.library.find("/blas/libblas.so") != std::string::npos) {
    EXPECT_TRUE(blas.is_reference);
  }
}

// Runs the test above in a process that the loader gives the reference library.
TEST(BlasInUse, TellsTheReferenceLibraryApart) {
  const char* directory = "/usr/lib/x86_64-linux-gnu/blas";
  if (!std::filesystem::exists(std::string(directory) + "/libblas.so.3")) {
    GTEST_SKIP() << "no reference BLAS on this machine";
  }
  if (std::getenv("PLATEAU_BLAS_TOLD") != nullptr) {
    const BlasInUse blas = blas_in_use();
    EXPECT_TRUE(blas.is_reference) << blas.library;
    return;
  }
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const std::string command = "PLATEAU_BLAS_TOLD=1 LD_LIBRARY_PATH=" + std::string(directory) +
                              " '" + self +
                              "' --gtest_filter=BlasInUse.TellsTheReferenceLibraryApart >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace plateau::train
