// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/tokenizer.h"

#include <gtest/gtest.h>

TEST(Tokenizer, Placeholder) {}
