// SPDX-License-Identifier: Apache-2.0
#include "probe/proc_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/fd_scan.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kStatTail =
    " S 10 20 30 34816 -1 4194304 1 2 3 4 150 50 0 0 20 0 7 0 12345 1000 200 "
    "18446744073709551615 94000 95000 140000 0\n";

TEST(StatParser, NameMayHoldSpacesAndParentheses) {
  const std::string text = "42 (a) S 1 (b)" + std::string(kStatTail);
  const auto stat = parse_stat(text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->comm, "a) S 1 (b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->ppid, 10);
  EXPECT_EQ(stat->pgrp, 20);
  EXPECT_EQ(stat->session, 30);
  EXPECT_EQ(stat->tty, 34816);
  EXPECT_EQ(stat->cpu_ticks, 200u);
  EXPECT_EQ(stat->threads, 7);
  EXPECT_EQ(stat->start_ticks, 12345u);
  EXPECT_EQ(stat->start_code, 94000u);
  EXPECT_EQ(stat->start_stack, 140000u);
}

TEST(StatParser, CutOffBeforeTheStartTimeIsNothing) {
  const std::string text = "42 (python3)" + std::string(kStatTail);
  for (size_t length = 0; length < text.find(" 12345"); ++length) {
    EXPECT_FALSE(parse_stat(std::string_view(text).substr(0, length))) << length;
  }
}

TEST(StatusParser, ReadsTheSplitOfResidentMemory) {
  const ProcStatus status = parse_status(
      "Name:\tRssAnon: 7\nTgid:\t5\nPPid:\t3\nUid:\t1000\t1001\t1000\t1000\nVmRSS:\t  60 kB\n"
      "RssAnon:\t  10 kB\nRssFile:\t  20 kB\nRssShmem:\t  30 kB\nVmSwap:\t 4 kB\nThreads:\t9\n");
  EXPECT_EQ(status.tgid, 5);
  EXPECT_EQ(status.ppid, 3);
  EXPECT_EQ(status.uid, 1001);
  EXPECT_EQ(status.rss_kb, 60);
  EXPECT_EQ(status.anon_kb, 10);
  EXPECT_EQ(status.file_kb, 20);
  EXPECT_EQ(status.shmem_kb, 30);
  EXPECT_EQ(status.swap_kb, 4);
  EXPECT_EQ(status.threads, 9);
}

TEST(StatusParser, KernelThreadHasNoMemory) {
  const ProcStatus status = parse_status("Name:\tkthreadd\nPPid:\t0\nThreads:\t1\n");
  EXPECT_EQ(status.rss_kb, kUnread);
  EXPECT_EQ(status.anon_kb, kUnread);
  EXPECT_EQ(status.threads, 1);
}

TEST(RollupParser, UssIsTheSumOfAllPrivatePages) {
  const SmapsRollup rollup = parse_smaps_rollup(
      "561bf1093000-7ffcb7e95000 ---p 00000000 00:00 0   [rollup]\nPss:  250 kB\n"
      "Pss_Anon: 116 kB\nPss_File: 134 kB\nPss_Shmem: 0 kB\nPrivate_Clean: 40 kB\n"
      "Private_Dirty: 116 kB\nPrivate_Hugetlb: 2048 kB\nSwap: 8 kB\nSwapPss: 4 kB");
  EXPECT_EQ(rollup.pss_kb, 250);
  EXPECT_EQ(rollup.pss_anon_kb, 116);
  EXPECT_EQ(rollup.pss_file_kb, 134);
  EXPECT_EQ(rollup.pss_shmem_kb, 0);
  EXPECT_EQ(rollup.uss_kb, 2204);
}

TEST(SmallParsers, NumbersTooLargeSaturate) {
  EXPECT_EQ(parse_statm("99999999999999999999999 1 2").size, INT64_MAX);
  EXPECT_EQ(parse_cgroup_amount_kb("99999999999999999999999\n"), kUnread);
}

TEST(SmallParsers, UnlimitedCgroupsHaveNoLimit) {
  EXPECT_EQ(parse_cgroup_amount_kb("max\n"), kUnread);
  EXPECT_EQ(parse_cgroup_amount_kb("9223372036854771712\n"), kUnread);
  EXPECT_EQ(parse_cgroup_amount_kb("1048576\n"), 1024);
}

TEST(SmallParsers, KeysMatchAsAWhole) {
  const std::string_view stat = "total_rss_huge 1\ntotal_rss 4096\nanon_thp 7\nanon 5\n";
  EXPECT_EQ(keyed_figure(stat, "total_rss"), 4096);
  EXPECT_EQ(keyed_figure(stat, "anon"), 5);
  EXPECT_EQ(keyed_figure(stat, "shmem"), std::nullopt);
}

TEST(SmallParsers, CommandLinesKeepEmptyArgumentsButNoPadding) {
  using std::string_view_literals::operator""sv;
  EXPECT_THAT(parse_cmdline("python\0\0x y\0\0\0"sv), ElementsAre("python", "", "x y"));
  EXPECT_THAT(parse_cmdline(""), IsEmpty());
}

TEST(SmallParsers, CgroupLinesOfBothVersions) {
  const auto lines = parse_cgroup("4:memory:/a:b\n0::/user.slice\nrubbish\n3:x\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].controllers, "memory");
  EXPECT_EQ(lines[0].path, "/a:b");
  EXPECT_EQ(lines[1].controllers, "");
}

TEST(SmallParsers, LastPidIsTheLastWordOfLoadavg) {
  EXPECT_EQ(parse_last_pid("0.20 0.18 0.12 1/80 11206\n"), 11206);
  EXPECT_EQ(parse_last_pid(""), -1);
  EXPECT_EQ(parse_last_pid("a b"), -1);
}

TEST(SmallParsers, MeminfoGivesWhatIsAvailable) {
  const Meminfo meminfo =
      parse_meminfo("MemTotal: 100 kB\nMemAvailable: 40 kB\nSwapFree: 3 kB\nShmem: 7 kB\n");
  EXPECT_EQ(meminfo.total_kb, 100);
  EXPECT_EQ(meminfo.available_kb, 40);
}

TEST(MapsParser, ListsInodesAndSkipsAnonymousMappings) {
  const auto inodes = parse_mapped_inodes(
      "7f10-7f20 rw-s 00000000 00:01 1024   /memfd:x (deleted)\n"
      "7f20-7f30 rw-p 00000000 00:00 0 \nrubbish\n");
  ASSERT_EQ(inodes.size(), 1u);
  EXPECT_EQ(inodes[0].inode, 1024u);
}

}  // namespace
}  // namespace plateau
