// SPDX-License-Identifier: Apache-2.0
#include "inject/inject.h"
#include <gtest/gtest.h>
namespace plateau {
TEST(X, Y) {}
}  // namespace plateau
