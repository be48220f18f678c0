// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/runtime.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace plateau::train {
namespace {

TEST(Runtime, NamesTheLibraryThatMultiplies) {
  const BlasInfo blas = blas_in_use();
  EXPECT_TRUE(std::filesystem::exists(blas.library)) << blas.library;
}

TEST(Runtime, OpenBlasIsNotTakenForTheReference) {
  const BlasInfo blas = blas_in_use();
  if (blas.library.find("openblas") == std::string::npos) {
    GTEST_SKIP() << "another BLAS is in use: " << blas.library;
  }
  EXPECT_FALSE(blas.is_reference);
}

// Runs itself in a process that the loader gives the reference library.
TEST(Runtime, TellsTheReferenceLibraryApart) {
  const std::string directory = "/usr/lib/x86_64-linux-gnu/blas";
  if (!std::filesystem::exists(directory + "/libblas.so.3")) {
    GTEST_SKIP() << "no reference BLAS on this machine";
  }
  if (std::getenv("PLATEAU_BLAS_TOLD") != nullptr) {
    const BlasInfo blas = blas_in_use();
    EXPECT_TRUE(blas.is_reference) << blas.library;
    return;
  }
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const std::string command = "PLATEAU_BLAS_TOLD=1 LD_LIBRARY_PATH=" + directory + " '" + self +
                              "' --gtest_filter=Runtime.TellsTheReferenceLibraryApart >&2";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Runtime, UsesAsManyThreadsAsAskedFor) {
  EXPECT_EQ(use_threads(1), 1);
  EXPECT_GE(use_threads(0), 1);
}

}  // namespace
}  // namespace plateau::train
