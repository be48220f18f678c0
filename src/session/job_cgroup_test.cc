// SPDX-License-Identifier: Apache-2.0
#include "session/job_cgroup.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "session/machine.h"
#include "session/testing/child.h"

namespace plateau {
namespace {

using testing::HasSubstr;

// A tree of plain files in the shape of a mounted hierarchy. A kernel fills a new group with files;
// here the group of this process is laid out beforehand.
struct FakeTree {
  explicit FakeTree(const std::string& parent, const char* limit_file) {
    group = fmt::format("{}/plateau-{}", scratch.file(parent), getpid());
    std::filesystem::create_directories(group);
    limit = fmt::format("{}/{}", group, limit_file);
    std::ofstream(limit) << "max";
  }
  ScratchDirectory scratch;
  std::string group;
  std::string limit;
};

TEST(JobCgroup, VersionTwoGetsItsLimitInBytes) {
  const FakeTree tree("user.slice", "memory.max");
  const auto group = JobCgroup::create(tree.scratch.file("."), "0::/user.slice\n", 164);
  ASSERT_TRUE(group.ok()) << group.error().message;
  EXPECT_EQ(text_of_file(tree.limit), "164000000");
  EXPECT_THAT(group.value().procs_file(), HasSubstr("user.slice/plateau-"));
}

TEST(JobCgroup, VersionTwoTriesTheParentOfAGroupThatHoldsProcesses) {
  const FakeTree tree("user.slice", "memory.max");
  std::filesystem::create_directories(tree.scratch.file("user.slice/shell"));
  const auto group = JobCgroup::create(tree.scratch.file("."), "0::/user.slice/shell\n", 164);
  ASSERT_TRUE(group.ok()) << group.error().message;
  EXPECT_EQ(text_of_file(tree.limit), "164000000");
  // What was tried below is gone again.
  EXPECT_TRUE(std::filesystem::is_empty(tree.scratch.file("user.slice/shell")));
}

TEST(JobCgroup, VersionOneIsFoundByItsController) {
  const FakeTree tree("memory/jobs/a", "memory.limit_in_bytes");
  const auto group = JobCgroup::create(tree.scratch.file("."),
                                       "5:cpu,cpuacct:/x\n4:hugetlb,memory:/jobs/a\n0::/\n", 164);
  ASSERT_TRUE(group.ok()) << group.error().message;
  EXPECT_EQ(text_of_file(tree.limit), "164000000");
}

TEST(JobCgroup, WhereNoneMayBeMadeTheReasonIsSaid) {
  const ScratchDirectory scratch;
  const auto none = JobCgroup::create(scratch.file("."), "3:cpu:/\n", 164);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("no memory controller"));
  const auto missing = JobCgroup::create(scratch.file("nowhere"), "4:memory:/a\n", 164);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  const auto garbage = JobCgroup::create(scratch.file("."), "\n:\n::\nmemory", 164);
  EXPECT_FALSE(garbage.ok());
}

TEST(JobCgroup, TheBackstopLeavesRoomToSave) {
  EXPECT_DOUBLE_EQ(backstop_mb(100), 164);
  EXPECT_DOUBLE_EQ(backstop_mb(20'000), 21'000);
}

TEST(JobCgroup, ARealGroupHoldsTheChildAndGoesAway) {
  std::string directory;
  {
    auto group = JobCgroup::create("/sys/fs/cgroup", text_of_file("/proc/self/cgroup"), 500);
    if (!group) GTEST_SKIP() << group.error().message;
    directory = group.value().directory();
    const std::string procs = group.value().procs_file();
    const int code = in_child([&] {
      const Fd file(open(procs.c_str(), O_WRONLY | O_CLOEXEC));
      if (write(file.get(), "0", 1) != 1) return 1;
      const std::string where = text_of_file("/proc/self/cgroup");
      const std::string name = directory.substr(directory.rfind('/'));
      return where.find(name) == std::string::npos ? 2 : 0;
    });
    if (code == 1) GTEST_SKIP() << "the group may be made but not entered";
    EXPECT_EQ(code, 0);
  }
  struct stat info = {};
  EXPECT_NE(stat(directory.c_str(), &info), 0) << directory;
}

}  // namespace
}  // namespace plateau
