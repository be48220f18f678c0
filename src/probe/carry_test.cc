// SPDX-License-Identifier: Apache-2.0
#include "probe/carry.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

ProcessSample at(int64_t anon_kb) {
  ProcessSample sample;
  sample.anon_kb = anon_kb;
  sample.file_kb = 100;
  sample.shmem_kb = 0;
  return sample;
}

SmapsRollup rollup(int64_t anon_kb) {
  return {.pss_kb = anon_kb + 50,
          .pss_anon_kb = anon_kb,
          .pss_file_kb = 50,
          .pss_shmem_kb = 0,
          .uss_kb = 30};
}

TEST(Carry, WorkedNumberOfTheEssay) {
  Carry carry;
  carry.begin(true);
  ProcessSample fork = at(590);
  carry.tick(fork);
  EXPECT_EQ(fork.pss_anon_kb, 0);
  EXPECT_EQ(fork.pss_kb, kUnread);

  ProcessSample grown = at(610);
  carry.tick(grown);
  EXPECT_EQ(grown.pss_anon_kb, 20);
  carry.walked(rollup(223), grown);
  EXPECT_EQ(grown.pss_anon_kb, 223);
  EXPECT_EQ(grown.pss_kb, 273);

  ProcessSample after = at(605);
  carry.tick(after);
  EXPECT_EQ(after.pss_anon_kb, 218);
  EXPECT_EQ(after.pss_kb, 268);
  EXPECT_EQ(after.uss_kb, 25);
}

TEST(Carry, WhoSharesWithNobodyAnyMoreOwnsAllItsPages) {
  Carry carry;
  carry.begin(false);
  ProcessSample parent = at(1580);
  carry.tick(parent);
  carry.walked(rollup(316), parent);
  carry.set_alone(true);
  ProcessSample after = at(1584);
  carry.tick(after);
  EXPECT_EQ(after.pss_anon_kb, 1584);
  carry.set_alone(false);
  ProcessSample forked_again = at(1584);
  carry.tick(forked_again);
  EXPECT_EQ(forked_again.pss_anon_kb, 1584) << "who is forked next has no share of it yet";
}

TEST(Carry, SharesOfAWalkEndWithOneOfThoseWhoHadThem) {
  Carry parent, child;
  parent.begin(false);
  child.begin(true, 1500);
  ProcessSample main = at(1580), worker = at(1510);
  parent.tick(main);
  child.tick(worker);
  parent.walked(rollup(520), main);
  child.walked(rollup(530), worker);  // 30 of it are its own.
  parent.sharer_ended();
  child.sharer_ended();
  main = at(1590);
  worker = at(1515);
  parent.tick(main);
  child.tick(worker);
  EXPECT_EQ(main.pss_anon_kb, 1590);
  EXPECT_EQ(worker.pss_anon_kb, 35);
  parent.walked(rollup(800), main);
  main = at(1592);
  parent.tick(main);
  EXPECT_EQ(main.pss_anon_kb, 802) << "a new walk shares out anew";
}

TEST(Carry, AForkOwnsWhatItHasBeyondItsParentAtFirstSight) {
  Carry carry;
  carry.begin(true, 590);
  ProcessSample first_seen = at(596);  // It was quicker than the first tick.
  carry.tick(first_seen);
  EXPECT_EQ(first_seen.pss_anon_kb, 6);
}

TEST(Carry, ProgramOfItsOwnOwnsAllItsMemoryBeforeTheFirstWalk) {
  Carry carry;
  carry.begin(false);
  ProcessSample sample = at(8000);
  carry.tick(sample);
  EXPECT_EQ(sample.pss_anon_kb, 8000);
}

TEST(Carry, CarriedFiguresStayBetweenZeroAndAnon) {
  Carry carry;
  carry.begin(true);
  ProcessSample sample = at(600);
  carry.tick(sample);
  carry.walked(rollup(200), sample);

  ProcessSample shrunk = at(100);
  carry.tick(shrunk);
  EXPECT_EQ(shrunk.pss_anon_kb, 0);
}

TEST(Carry, ExecForgetsTheWalkBefore) {
  Carry carry;
  carry.begin(true);
  ProcessSample sample = at(600);
  carry.tick(sample);
  carry.walked(rollup(200), sample);

  carry.begin(false);
  ProcessSample fresh = at(5);
  carry.tick(fresh);
  EXPECT_EQ(fresh.pss_anon_kb, 5);
  EXPECT_EQ(fresh.pss_kb, kUnread);
}

}  // namespace
}  // namespace plateau
