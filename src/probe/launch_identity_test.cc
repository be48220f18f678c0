// SPDX-License-Identifier: Apache-2.0
#include "probe/launch_identity.h"

#include <gtest/gtest.h>

#include <map>

namespace plateau {
namespace {

Context told(const std::map<std::string, std::string>& variables) {
  return launch_identity([&variables](std::string_view name) {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::string() : found->second;
  });
}

TEST(LaunchIdentity, TorchrunTellsRankWorldJobAndAttempt) {
  const Context facts = told({{"RANK", "3"},
                              {"WORLD_SIZE", "8"},
                              {"TORCHELASTIC_RUN_ID", "exp-7"},
                              {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(facts.rank->value, 3);
  EXPECT_EQ(facts.world->value, 8);
  EXPECT_EQ(facts.attempt->value, 2);
  EXPECT_EQ(facts.job->text, "exp-7");
  EXPECT_EQ(facts.rank->source, "RANK (torchrun)");
}

TEST(LaunchIdentity, AJobThatTorchrunCallsNoneIsNamedByWhereItsRanksMeet) {
  const Context facts = told({{"RANK", "0"},
                              {"WORLD_SIZE", "2"},
                              {"TORCHELASTIC_RUN_ID", "none"},
                              {"MASTER_ADDR", "n0"},
                              {"MASTER_PORT", "29500"}});
  EXPECT_EQ(facts.rank->value, 0);
  EXPECT_EQ(facts.job->text, "n0:29500");
}

TEST(LaunchIdentity, SlurmTellsTheTasksOfAStep) {
  const std::map<std::string, std::string> batch = {
      {"SLURM_JOB_ID", "4711"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}};
  EXPECT_FALSE(told(batch).rank) << "a batch script is no rank";
  EXPECT_EQ(told(batch).job->text, "4711");
  std::map<std::string, std::string> step = batch;
  step["SLURM_PROCID"] = "5";
  step["SLURM_STEP_ID"] = "0";
  step["SLURM_STEP_NUM_TASKS"] = "16";
  step["SLURMD_NODENAME"] = "gpu-02";
  step["SLURM_RESTART_COUNT"] = "1";
  const Context facts = told(step);
  EXPECT_EQ(facts.rank->value, 5);
  EXPECT_EQ(facts.world->value, 16);
  EXPECT_EQ(facts.attempt->value, 1);
  EXPECT_EQ(facts.node->text, "gpu-02");
}

TEST(LaunchIdentity, TheSchedulersIdComesBeforeTheLaunchersAndItsRankAfter) {
  const Context facts = told({{"SLURM_JOB_ID", "4711"},
                              {"SLURM_PROCID", "1"},
                              {"SLURM_STEP_ID", "0"},
                              {"RANK", "9"},
                              {"WORLD_SIZE", "16"},
                              {"TORCHELASTIC_RUN_ID", "abc"}});
  EXPECT_EQ(facts.job->text, "4711");
  EXPECT_EQ(facts.rank->value, 9);
}

TEST(LaunchIdentity, MpiTellsInThreeDialects) {
  EXPECT_EQ(told({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}).rank->value, 2);
  EXPECT_EQ(told({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}}).world->value, 4);
  EXPECT_EQ(told({{"PMIX_RANK", "7"}, {"PMIX_NAMESPACE", "prterun-n0-1@1"}}).job->text,
            "prterun-n0-1@1");
}

TEST(LaunchIdentity, AnIndexedJobOfKubernetesIsKnownByItsIndexAndItsPodsName) {
  const Context facts = told({{"JOB_COMPLETION_INDEX", "3"},
                              {"HOSTNAME", "train-3"},
                              {"KUBERNETES_SERVICE_HOST", "10.0.0.1"},
                              {"NODE_NAME", "node-b"}});
  EXPECT_EQ(facts.rank->value, 3);
  EXPECT_EQ(facts.job->text, "train");
  EXPECT_EQ(facts.node->text, "node-b");
}

TEST(LaunchIdentity, ABuildServersJobNameIsNotATrainingJob) {
  const Context facts =
      told({{"JOB_NAME", "nightly"}, {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"RANK", "3"}});
  EXPECT_FALSE(facts.job);
  EXPECT_FALSE(facts.rank) << "a RANK without a world may be anybody's";
}

TEST(LaunchIdentity, RayTellsItsJob) {
  EXPECT_EQ(told({{"RAY_JOB_ID", "01000000"}}).job->text, "01000000");
  EXPECT_FALSE(told({{"RAY_JOB_ID", "ffffffff"}}).job) << "a worker started ahead of its job";
}

TEST(LaunchIdentity, WhatTheUserSaysComesFirst) {
  const Context facts = told({{"PLATEAU_JOB", "mine"},
                              {"PLATEAU_RANK", "1"},
                              {"PLATEAU_WORLD", "2"},
                              {"SLURM_JOB_ID", "4711"},
                              {"RANK", "3"},
                              {"WORLD_SIZE", "8"}});
  EXPECT_EQ(facts.job->text, "mine");
  EXPECT_EQ(facts.rank->value, 1);
  EXPECT_EQ(facts.world->value, 2);
}

TEST(LaunchIdentity, HostileNumbersSayNothing) {
  for (const char* rank : {"", "-1", "3.5", "1e9", "99999999999999999999", "rank3", "0x3", "nan"}) {
    EXPECT_FALSE(told({{"RANK", rank}, {"WORLD_SIZE", "8"}}).rank) << rank;
  }
  EXPECT_FALSE(told({{"RANK", "8"}, {"WORLD_SIZE", "8"}}).rank) << "no room for it";
  EXPECT_FALSE(told({{"RANK", "1"}, {"WORLD_SIZE", "999999999999"}}).world);
}

TEST(LaunchIdentity, HostileNamesBecomeOneShortPrintableLine) {
  const Context facts = told({{"PLATEAU_JOB", "a\x1b[31mb\nc" + std::string(5000, 'x')}});
  EXPECT_LE(facts.job->text.size(), kMaxFactText);
  EXPECT_TRUE(facts.job->text.starts_with("ab c")) << facts.job->text;
  EXPECT_FALSE(told({{"PLATEAU_JOB", " \t "}}).job);
  // A character of several bytes at the cut.
  std::string long_name(kMaxFactText - 1, 'x');
  const Context cut = told({{"PLATEAU_JOB", long_name + "\xc3\xa4"}});
  EXPECT_LE(cut.job->text.size(), kMaxFactText + 2);
}

TEST(LaunchIdentity, TheEnvironmentOfAnotherProcessIsReadEntryByEntry) {
  using namespace std::string_literals;
  const Context facts = launch_identity_of("XRANK=9\0RANK=2\0NOTHING\0WORLD_SIZE=4\0=\0"s);
  EXPECT_EQ(facts.rank->value, 2);
  EXPECT_EQ(facts.world->value, 4);
  EXPECT_FALSE(launch_identity_of("").rank);
  EXPECT_FALSE(launch_identity_of("RANK").rank);
}

}  // namespace
}  // namespace plateau
