// SPDX-License-Identifier: Apache-2.0
#include "ptrace/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace plateau {
namespace {

using testing::HasSubstr;

TargetFacts ordinary() {
  return {.exists = true, .state = 'S', .name = "job", .user = 1000};
}

std::string explained(const TargetFacts& facts) {
  return explain_refusal(4711, facts).message;
}

TEST(Refusal, YamaIsNamedWithItsValueAndTheRemedy) {
  TargetFacts facts = ordinary();
  facts.yama = 1;
  EXPECT_THAT(explained(facts), HasSubstr("ptrace_scope is 1"));
  EXPECT_THAT(explained(facts), HasSubstr("sysctl kernel.yama.ptrace_scope=0"));
  facts.yama = 3;
  EXPECT_THAT(explained(facts), HasSubstr("until a reboot"));
}

TEST(Refusal, AnotherUserIsNamed) {
  TargetFacts facts = ordinary();
  facts.same_user = false;
  EXPECT_THAT(explained(facts), HasSubstr("another user, 1000"));
}

TEST(Refusal, ContainersAreToldWhatToAdd) {
  TargetFacts facts = ordinary();
  EXPECT_THAT(explained(facts), HasSubstr("--cap-add=SYS_PTRACE"));
  facts.same_user_namespace = false;
  EXPECT_THAT(explained(facts), HasSubstr("inside that container"));
}

TEST(Refusal, ATracedOrEndedProcessIsNotTried) {
  TargetFacts facts = ordinary();
  EXPECT_TRUE(check_target(4711, facts));
  facts.tracer = 12;
  facts.tracer_name = "gdb";
  EXPECT_THAT(check_target(4711, facts).error().message, HasSubstr("traced by gdb (pid 12)"));
  facts = ordinary();
  facts.state = 'Z';
  EXPECT_THAT(check_target(4711, facts).error().message, HasSubstr("has ended"));
  EXPECT_THAT(check_target(::getpid(), ordinary()).error().message, HasSubstr("very program"));
  EXPECT_THAT(check_target(-5, ordinary()).error().message, HasSubstr("no such process"));
}

TEST(Refusal, ASandboxWithoutPtraceIsTold) {
  EXPECT_THAT(explain_refusal(4711, ordinary(), ENOSYS).message, HasSubstr("seccomp"));
  EXPECT_THAT(explain_refusal(4711, ordinary(), ESRCH).message, HasSubstr("has ended"));
}

TEST(Refusal, AThreadThatEndedMeanwhileIsNoRefusal) {
  EXPECT_TRUE(check_failed_seize(::getpid(), 4194303, EPERM));
  EXPECT_TRUE(check_failed_seize(::getpid(), ::getpid(), ESRCH));
  EXPECT_FALSE(check_failed_seize(::getpid(), ::getpid(), EPERM));
}

TEST(Refusal, FactsOfAProcessAreReadFromProc) {
  const TargetFacts facts = look_at_target(::getpid());
  EXPECT_TRUE(facts.exists);
  EXPECT_TRUE(facts.same_user);
  EXPECT_TRUE(facts.same_user_namespace);
  EXPECT_TRUE(facts.descendant);
  EXPECT_FALSE(look_at_target(4194303).exists);
}

}  // namespace
}  // namespace plateau
