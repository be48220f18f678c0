// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_words.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace plateau {
namespace {

using ::testing::HasSubstr;

bool knows_eleven(int minor) {
  return minor == 11;
}

// A machine on which everything works.
MachineFacts good() {
  MachineFacts machine;
  machine.proc = machine.rollup = machine.pss = machine.smaps = true;
  machine.may_trace_all = machine.may_make_groups = machine.nvml = machine.debug_files = true;
  machine.glibc = true;
  machine.user = 0;
  machine.seccomp = 0;
  machine.cgroup.version = 2;
  machine.shm_kb = machine.shm_free_kb = int64_t{8} << 20;
  machine.gpus.resize(2);
  machine.pythons = {{"/usr/bin/python3.11", 11}};
  return machine;
}

OwnFacts whole() {
  return {.tracer = "/x/libplateau_tracer.so",
          .module = "/x/python",
          .trainer = "/x/plateau-train",
          .attaches = true,
          .loads_libraries = true};
}

Check check_of(const MachineFacts& machine, const std::string& name,
               const OwnFacts& own = whole()) {
  const std::vector<Check> checks = doctor_checks(machine, own, knows_eleven);
  const auto found = std::ranges::find(checks, name, &Check::name);
  return found == checks.end() ? Check{} : *found;
}

TEST(DoctorWords, WhereEverythingWorksNothingIsToBeDone) {
  for (const Check& check : doctor_checks(good(), whole(), knows_eleven)) {
    EXPECT_EQ(check.state, Check::State::works) << check.name;
    EXPECT_EQ(check.remedy, "") << check.name;
    EXPECT_NE(check.text, "") << check.name;
  }
}

TEST(DoctorWords, OnlyReadableMemoryIsEssential) {
  const MachineFacts nothing;
  const std::vector<Check> checks = doctor_checks(nothing, {}, knows_eleven);
  EXPECT_FALSE(essentials_work(checks));
  MachineFacts bare;
  bare.proc = bare.smaps = true;
  EXPECT_TRUE(essentials_work(doctor_checks(bare, {}, knows_eleven)));
}

TEST(DoctorWords, EveryScopeOfYamaHasItsRemedy) {
  MachineFacts machine = good();
  machine.may_trace_all = false;
  machine.yama = 0;
  EXPECT_EQ(check_of(machine, "attach").state, Check::State::works);
  machine.yama = 1;
  EXPECT_THAT(check_of(machine, "attach").remedy, HasSubstr("ptrace_scope=0"));
  machine.container = "docker";
  EXPECT_THAT(check_of(machine, "attach").remedy, HasSubstr("SYS_PTRACE"));
  machine.yama = 3;
  machine.may_trace_all = true;
  EXPECT_THAT(check_of(machine, "attach").remedy, HasSubstr("next boot"));
  EXPECT_EQ(check_of(machine, "attach").state, Check::State::limited);
}

TEST(DoctorWords, WhereRootIsAskedForTheKernelsReasonIsSaid) {
  MachineFacts machine = good();
  machine.may_trace_all = false;
  const Check others = check_of(machine, "others");
  EXPECT_THAT(others.remedy, HasSubstr("as root"));
  EXPECT_THAT(others.text, HasSubstr("CAP_SYS_PTRACE"));
}

TEST(DoctorWords, AnotherProcessorCannotAttach) {
  OwnFacts own = whole();
  own.attaches = false;
  EXPECT_THAT(check_of(good(), "attach", own).remedy, HasSubstr("plateau run --heap"));
}

TEST(DoctorWords, ADriverWithoutItsLibraryIsLimitedAndNoDriverIsNot) {
  MachineFacts machine = good();
  machine.nvml = false;
  machine.gpus.clear();
  EXPECT_EQ(check_of(machine, "gpu").state, Check::State::works);
  machine.nvidia = true;
  EXPECT_EQ(check_of(machine, "gpu").state, Check::State::limited);
}

TEST(DoctorWords, TheStaticProgramNamesTheOneThatLoadsLibraries) {
  MachineFacts machine = good();
  machine.nvml = false;
  machine.gpus.clear();
  machine.nvidia = true;
  machine.debug_files = false;
  OwnFacts own = whole();
  own.servers_named = true;
  EXPECT_THAT(check_of(machine, "names", own).remedy, HasSubstr("libdebuginfod1"));
  own.loads_libraries = false;
  EXPECT_THAT(check_of(machine, "names", own).remedy, HasSubstr("plateau-glibc"));
  EXPECT_THAT(check_of(machine, "gpu", own).text, HasSubstr("this static program cannot load"));
  EXPECT_THAT(check_of(machine, "gpu", own).remedy, HasSubstr("plateau-glibc"));
}

TEST(DoctorWords, WithoutGlibcNoJobIsTraced) {
  MachineFacts machine = good();
  machine.glibc = false;
  EXPECT_EQ(check_of(machine, "tracer").state, Check::State::limited);
  EXPECT_THAT(check_of(machine, "tracer").text, HasSubstr("there is no glibc here"));
}

TEST(DoctorWords, DockersSharedMemoryIsTooSmall) {
  MachineFacts machine = good();
  machine.container = "docker";
  machine.shm_kb = machine.shm_free_kb = 65536;
  const Check check = check_of(machine, "shm");
  EXPECT_EQ(check.state, Check::State::limited);
  EXPECT_THAT(check.text, HasSubstr("67.1 MB"));
  EXPECT_THAT(check.remedy, HasSubstr("--shm-size"));
}

TEST(DoctorWords, UnknownPythonsAreNamedApart) {
  MachineFacts machine = good();
  machine.pythons = {{"/usr/bin/python3.11", 11}, {"/opt/python3.15", 15}};
  const Check check = check_of(machine, "python");
  EXPECT_EQ(check.state, Check::State::limited);
  EXPECT_EQ(check.text, "3.11: objects and lines can be read; 3.15: not known");
}

TEST(DoctorWords, AGroupThatCannotBeMadeIsToldWithTheLimit) {
  MachineFacts machine = good();
  machine.may_make_groups = false;
  machine.cgroup.limit_kb = 16 << 20;
  const Check check = check_of(machine, "cgroup");
  EXPECT_EQ(check.state, Check::State::limited);
  EXPECT_THAT(check.text, HasSubstr("version 2, limit 17.2 GB"));
}

}  // namespace
}  // namespace plateau
