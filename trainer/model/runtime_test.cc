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

TEST(Runtime, UsesAsManyThreadsAsAskedFor) {
  EXPECT_EQ(use_threads(1), 1);
  EXPECT_GE(use_threads(0), 1);
}

}  // namespace
}  // namespace plateau::train
