// SPDX-License-Identifier: Apache-2.0
#include "inject/safe_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plateau {
namespace {

using testing::HasSubstr;

TEST(CheckEnterable, AStoppedProcessOrOneWithAShadowStackIsNotTried) {
  TargetFacts facts = {.exists = true, .state = 'S', .name = "job", .user = 1000};
  EXPECT_TRUE(check_enterable(4711, facts));
  facts.shadow_stack = true;
  EXPECT_THAT(check_enterable(4711, facts).error().message, HasSubstr("shadow stack"));
  facts.state = 'T';
  EXPECT_THAT(check_enterable(4711, facts).error().message, HasSubstr("kill -CONT 4711"));
  facts.tracer = 12;
  EXPECT_THAT(check_enterable(4711, facts).error().message, HasSubstr("traced by"));
}

}  // namespace
}  // namespace plateau
