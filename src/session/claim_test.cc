// SPDX-License-Identifier: Apache-2.0
#include "session/claim.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "session/machine.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

TEST(Claim, WithdrawnLeavesNoFileThatWasNotThere) {
  const ScratchDirectory scratch;
  const auto claim = Claim::on(scratch.file("new.plateau"));
  ASSERT_TRUE(claim.ok());
  EXPECT_TRUE(exists(scratch.file("new.plateau")));
  claim.value().withdraw();
  EXPECT_FALSE(exists(scratch.file("new.plateau")));
}

TEST(Claim, AnOldRecordingSurvivesAWithdrawal) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.file("old.plateau")) << "old";
  const auto claim = Claim::on(scratch.file("old.plateau"), true);
  ASSERT_TRUE(claim.ok());
  claim.value().withdraw();
  EXPECT_EQ(text_of_file(scratch.file("old.plateau")), "old");
}

TEST(Claim, WhatHoldsSomethingIsRefusedUnlessItIsToBeReplaced) {
  const ScratchDirectory scratch;
  std::ofstream(scratch.file("old.plateau")) << "old";
  std::ofstream(scratch.file("empty.plateau")) << "";
  const auto refused = Claim::on(scratch.file("old.plateau"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);
  EXPECT_TRUE(Claim::on(scratch.file("old.plateau"), true).ok());
  EXPECT_TRUE(Claim::on(scratch.file("empty.plateau")).ok()) << "mktemp makes such";
}

TEST(Claim, ANameThatNobodyChoseGivesWayToOthers) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.plateau");
  EXPECT_EQ(Claim::on_free(path).value().path(), path);
  EXPECT_EQ(Claim::on_free(path).value().path(), scratch.file("a-2.plateau"));
  const auto third = Claim::on_free(path);
  EXPECT_EQ(third.value().path(), scratch.file("a-3.plateau"));
  third.value().withdraw();
  EXPECT_FALSE(exists(scratch.file("a-3.plateau")));
  EXPECT_FALSE(Claim::on_free(scratch.file("no/such/a.plateau")).ok());
}

TEST(Claim, WhatCannotBeWrittenIsSaidWithItsName) {
  const ScratchDirectory scratch;
  const auto nowhere = Claim::on(scratch.file("no/such/place.plateau"));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().message.find("no/such/place.plateau"), std::string::npos);
  EXPECT_FALSE(Claim::on("/tmp").ok());
}

TEST(Claim, NothingAndNamedPipesAreNotTried) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(Claim::on("").ok());
  EXPECT_TRUE(Claim::on(scratch.file("pipe")).ok());
  EXPECT_TRUE(Claim::on("/dev/null").ok());
}

}  // namespace
}  // namespace plateau
