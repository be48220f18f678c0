// SPDX-License-Identifier: Apache-2.0
#include "import/import.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {
TEST(Import, Placeholder) { EXPECT_FALSE(import_bytes("x", "").ok()); }
}  // namespace
}  // namespace plateau
