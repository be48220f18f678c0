// SPDX-License-Identifier: Apache-2.0
#include "probe/gpus.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

TEST(Gpus, MissingLibraryMeansNoGpus) {
  Gpus gpus("libno-such-library.so.1");
  gpus.read();
  EXPECT_FALSE(gpus.present());
  EXPECT_TRUE(gpus.devices().empty());
  EXPECT_EQ(gpus.used_by_kb(1), kUnread);
}

TEST(Gpus, UseOfAProcessIsSummedOverDevices) {
  Gpus gpus(PLATEAU_STAND_IN_NVML);
  ASSERT_TRUE(gpus.present());
  gpus.read();
  ASSERT_EQ(gpus.devices().size(), 2u);
  EXPECT_EQ(gpus.devices()[1].index, 1);
  EXPECT_EQ(gpus.devices()[1].name, "Stand-in 2");
  EXPECT_EQ(gpus.devices()[1].used_kb, 2 * 1024 * 1024);
  EXPECT_EQ(gpus.devices()[1].total_kb, 24 * 1024 * 1024);
  EXPECT_EQ(gpus.used_by_kb(4242), 3 * 1024 * 1024);
}

TEST(Gpus, UnknownUseIsNotTakenForAHugeOne) {
  Gpus gpus(PLATEAU_STAND_IN_NVML);
  gpus.read();
  EXPECT_EQ(gpus.used_by_kb(7), kUnread);
}

}  // namespace
}  // namespace plateau
