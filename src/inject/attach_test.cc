// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing/scratch_directory.h"
#include "inject/inject.h"
#include "inject/testing/running_target.h"

namespace plateau {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kTimes = 5;
const InjectOptions kPatient{.timeout_s = 60};

class Attaching : public testing::Test {
 protected:
  [[nodiscard]] AttachRequest request() const {
    return {.tracer = PLATEAU_TRACER_FILE, .directory = directory_.path(), .interval_bytes = 16384};
  }
  [[nodiscard]] size_t segments() const { return directory_.entries(); }
  static std::string maps(pid_t pid) {
    return text_of_file("/proc/" + std::to_string(pid) + "/maps");
  }
  // Until a segment is there: the target has called a hook.
  void await_segment(size_t count) const {
    for (int i = 0; i < 6000 && segments() < count; ++i) ::usleep(10'000);
    ASSERT_GE(segments(), count);
  }
  void come_and_go(const RunningTarget& target) const {
    for (int i = 0; i < kTimes; ++i) {
      const auto attached = attach_tracer(target.pid(), request(), kPatient);
      ASSERT_TRUE(attached.ok()) << attached.error().message;
      await_segment(static_cast<size_t>(i) + 1);
      const auto again = attach_tracer(target.pid(), request(), kPatient);
      ASSERT_FALSE(again.ok());
      EXPECT_THAT(again.error().message, HasSubstr("has a tracer already"));
      const auto detached = detach_tracer(target.pid(), kPatient);
      ASSERT_TRUE(detached.ok()) << detached.error().message;
      EXPECT_EQ(detached.value().left_behind, "");
      EXPECT_THAT(maps(target.pid()),
                  AllOf(Not(HasSubstr("libplateau_tracer")), Not(HasSubstr(".segment"))));
    }
  }

  ScratchDirectory directory_;
};

TEST_F(Attaching, BusyProgramIsTracedAndLeftClean) {
  RunningTarget target({PLATEAU_INJECT_TARGET, "storm", "storm", "float", "spin-main"});
  ASSERT_TRUE(target.ready());
  come_and_go(target);
  EXPECT_EQ(target.end(), 0) << target.line();
}

TEST_F(Attaching, BusyPythonIsTracedAndLeftClean) {
  RunningTarget target({"/usr/bin/python3", "-c",
                        "print('ready')\n"
                        "while True: x = [bytes(2000) for i in range(100)]; y = str(x)"});
  ASSERT_TRUE(target.ready());
  come_and_go(target);
  EXPECT_TRUE(target.alive());
}

TEST_F(Attaching, ALibraryThatPythonStillCallsStaysLoadedAndSaysSo) {
  RunningTarget target({"/usr/bin/python3", "-c",
                        "print('ready')\n"
                        "while True: x = [bytes(2000) for i in range(100)]; y = str(x)"});
  ASSERT_TRUE(target.ready());
  AttachRequest exact = request();
  exact.exact = true;
  const auto attached = attach_tracer(target.pid(), exact, kPatient);
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  await_segment(1);
  ::usleep(300'000);  // Python's own allocator is hooked at one of the next samples.
  const auto detached = detach_tracer(target.pid(), kPatient);
  ASSERT_TRUE(detached.ok()) << detached.error().message;
  if (maps(target.pid()).find("plateau_tracer") != std::string::npos) {
    EXPECT_THAT(detached.value().left_behind, HasSubstr("stays loaded"));
  }
  EXPECT_TRUE(target.alive());
}

TEST_F(Attaching, WithoutATracerThereIsNothingToDetach) {
  RunningTarget target({PLATEAU_INJECT_TARGET});
  const auto detached = detach_tracer(target.pid(), kPatient);
  ASSERT_FALSE(detached.ok());
  EXPECT_THAT(detached.error().message, HasSubstr("has no tracer"));
}

TEST_F(Attaching, AFileThatIsNoTracerIsRefused) {
  RunningTarget target({PLATEAU_INJECT_TARGET});
  AttachRequest wrong = request();
  wrong.tracer = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  EXPECT_FALSE(attach_tracer(target.pid(), wrong, kPatient).ok());
  EXPECT_EQ(target.end(), 0);
}

}  // namespace
}  // namespace plateau
