// SPDX-License-Identifier: Apache-2.0
#include "session/untraced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kMaps[] = "7f00-7f01 r-xp 00000000 00:00 1 /lib64/ld-linux-x86-64.so.2\n";

TEST(TracerState, IsReadFromMapsAndEnvironment) {
  const std::string maps = kMaps;
  const std::string told("A=1\0LD_PRELOAD=/x/libplateau_tracer.so\0B=2\0", 43);
  EXPECT_EQ(tracer_state("", told), TracerState::unknown);
  EXPECT_EQ(tracer_state(maps + "7f02-7f03 r-xp 0 0:0 2 /x/libplateau_tracer.so\n", told),
            TracerState::loaded);
  EXPECT_EQ(tracer_state(maps, ""), TracerState::not_told) << "env -i";
  EXPECT_EQ(tracer_state(maps, std::string("LD_PRELOAD=/other.so\0", 21)), TracerState::not_told);
  EXPECT_EQ(tracer_state(maps, told), TracerState::refused);
  EXPECT_EQ(tracer_state("400000-401000 r-xp 0 0:0 3 /bin/static\n", told),
            TracerState::without_loader);
}

TEST(UntracedProcesses, AreNamedWithTheirReasonUnlessTheyHaveATrack) {
  Snapshot snapshot;
  ProcessSample self;
  self.key = {getpid(), 1};
  self.name = "self";
  self.anon_kb = 10'000;
  ProcessSample small = self;
  small.key.pid = 1;
  small.anon_kb = 100;
  snapshot.processes = {self, small};
  UntracedProcesses untraced;
  untraced.look(snapshot, 1);
  EXPECT_THAT(untraced.sentences({}, true),
              ElementsAre(HasSubstr("the heap of self (pid " + std::to_string(getpid()))));
  EXPECT_THAT(untraced.sentences({}, true).front(), HasSubstr("without the job's environment"));
  EXPECT_THAT(untraced.sentences({getpid()}, true), SizeIs(1)) << "of before its exec";
}

}  // namespace
}  // namespace plateau
