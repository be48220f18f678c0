// SPDX-License-Identifier: Apache-2.0
#include "ptrace/stopped_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <thread>
#include <utility>

#include "ptrace/memory.h"

namespace plateau {
namespace {

using testing::HasSubstr;

constexpr double kPatience = 60;

// What a child and its test both see.
struct Shared {
  std::atomic<uint64_t> ready = 0;
  std::atomic<uint64_t> counts[3] = {};
  std::atomic<uint64_t> signals = 0;
  std::atomic<int> result = 1000;
};

// A forked child that runs `work` and exits with 7, or is killed at the end.
class Child {
 public:
  template <typename Work>
  explicit Child(Work work)
      : shared(new(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared) {
    pid = ::fork();
    if (pid == 0) {
      ::alarm(120);
      work(*shared);
      ::_exit(7);
    }
  }
  ~Child() {
    if (pid > 0) end();
    ::munmap(shared, sizeof(Shared));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  template <typename Condition>
  static bool soon(Condition condition) {
    for (int i = 0; i < 20'000 && !condition(); ++i) ::usleep(1000);
    return condition();
  }
  // Its exit status, after SIGKILL if it still runs.
  int end() {
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    pid = -1;
    return status;
  }

  Shared* shared;
  pid_t pid = -1;
};

void count_in_three_threads(Shared& shared) {
  const auto count = [&shared](size_t i) {
    for (;;) ++shared.counts[i];
  };
  std::thread one(count, 0);
  std::thread two(count, 1);
  shared.ready = 1;
  count(2);
}

uint64_t sum(const Shared& shared) {
  return shared.counts[0] + shared.counts[1] + shared.counts[2];
}

TEST(StoppedProcess, AllThreadsStandStillAndGoOnAfterwards) {
  Child child(count_in_three_threads);
  ASSERT_TRUE(Child::soon([&] {
    return child.shared->counts[0] > 0 && child.shared->counts[1] > 0 &&
           child.shared->counts[2] > 0;
  }));
  for (int round = 0; round < 20; ++round) {
    Result<StoppedProcess> stopped = StoppedProcess::stop(child.pid, kPatience);
    ASSERT_TRUE(stopped) << stopped.error().message;
    const uint64_t before = sum(*child.shared);
    ::usleep(2000);
    ASSERT_EQ(sum(*child.shared), before);
    EXPECT_GT(stopped.value().release(), 0.001);
    EXPECT_EQ(stopped.value().release(), 0);
    ASSERT_TRUE(Child::soon([&] { return sum(*child.shared) > before; }));
  }
}

// Whether this thread has a real-time priority, and whether its nice value is below `nice`.
std::pair<bool, bool> goes_before(int nice) {
  return {::sched_getscheduler(0) != SCHED_OTHER, ::getpriority(PRIO_PROCESS, 0) < nice};
}

TEST(StoppedProcess, WhoeverLooksGoesBeforeOthersUntilItLetsGo) {
  const int before = ::getpriority(PRIO_PROCESS, 0);
  const sched_param first = {.sched_priority = 1};
  const sched_param usual = {};
  const bool may_real_time = ::sched_setscheduler(0, SCHED_RR, &first) == 0;
  ::sched_setscheduler(0, SCHED_OTHER, &usual);
  const bool may_nice = ::setpriority(PRIO_PROCESS, 0, before - 1) == 0;
  ::setpriority(PRIO_PROCESS, 0, before);
  const std::pair<bool, bool> in_haste(may_real_time, may_nice && !may_real_time);
  const std::pair<bool, bool> as_usual(false, false);
  Child child(count_in_three_threads);
  {
    Result<StoppedProcess> stopped = StoppedProcess::stop(child.pid, kPatience);
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(goes_before(before), in_haste);
    stopped.value().release();
    EXPECT_EQ(goes_before(before), as_usual);
    ASSERT_TRUE(StoppedProcess::stop(child.pid, kPatience));
  }
  EXPECT_EQ(goes_before(before), as_usual);
}

TEST(StoppedProcess, BlockedCallThatWouldFailDoesNotSeeTheStop) {
  Child child([](Shared& shared) {
    const int events = ::epoll_create1(0);
    epoll_event event = {};
    shared.ready = 1;
    shared.result = ::epoll_wait(events, &event, 1, 3000) < 0 ? errno : 0;
    for (;;) ::pause();
  });
  ASSERT_TRUE(Child::soon([&] { return child.shared->ready == 1; }));
  ::usleep(50'000);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(StoppedProcess::stop(child.pid, kPatience));
    EXPECT_EQ(child.shared->result, 1000);
  }
  ASSERT_TRUE(Child::soon([&] { return child.shared->result != 1000; }));
  EXPECT_EQ(child.shared->result, 0);
}

Shared* g_shared = nullptr;

TEST(StoppedProcess, SignalsOnTheWayArriveOnceEach) {
  Child child([](Shared& shared) {
    g_shared = &shared;
    ::signal(SIGUSR1, [](int) { ++g_shared->signals; });
    shared.ready = 1;
    for (;;) ++shared.counts[0];
  });
  ASSERT_TRUE(Child::soon([&] { return child.shared->ready == 1; }));
  for (uint64_t round = 1; round <= 50; ++round) {
    ::kill(child.pid, SIGUSR1);
    ASSERT_TRUE(StoppedProcess::stop(child.pid, kPatience));
    ASSERT_TRUE(Child::soon([&] { return child.shared->signals == round; })) << round;
  }
}

TEST(StoppedProcess, HowAChildEndedIsLeftForItsParent) {
  Child child([](Shared& shared) { shared.ready = 1; });
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(StoppedProcess::stop(child.pid, kPatience));
  const int status = child.end();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(StoppedProcess, KilledWhileItStandsStillIsNoHang) {
  Child child(count_in_three_threads);
  ASSERT_TRUE(Child::soon([&] { return child.shared->ready == 1; }));
  Result<StoppedProcess> stopped = StoppedProcess::stop(child.pid, kPatience);
  ASSERT_TRUE(stopped) << stopped.error().message;
  ::kill(child.pid, SIGKILL);
  stopped.value().release();
  const int status = child.end();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(StoppedProcess, NoSuchProcessIsAnError) {
  const Result<StoppedProcess> stopped = StoppedProcess::stop(4194303, kPatience);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("it ended"));
}

TEST(RemoteMemory, IsCopiedUpToTheFirstHoleAndWrittenEvenIfReadOnly) {
  constexpr size_t kPage = 4096;
  auto* pages =
      static_cast<char*>(::mmap(nullptr, 2 * kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Child child([pages](Shared& shared) {
    ::munmap(pages + kPage, kPage);
    shared.ready = 1;
    for (;;) ::pause();
  });
  ASSERT_TRUE(Child::soon([&] { return child.shared->ready == 1; }));
  const auto address = reinterpret_cast<uint64_t>(pages);
  std::string room(2 * kPage, 'x');

  EXPECT_EQ(copy_memory(child.pid, address, room.data(), 2 * kPage), kPage);
  EXPECT_FALSE(read_memory(child.pid, address, room.data(), 2 * kPage));
  EXPECT_TRUE(write_memory(child.pid, address + 8, "hello", 5));
  EXPECT_TRUE(read_memory(child.pid, address + 8, room.data(), 5));
  EXPECT_EQ(room.substr(0, 5), "hello");
  EXPECT_EQ(pages[8], '\0') << "only the child's copy is changed";
  EXPECT_FALSE(write_memory(child.pid, address + kPage, "hello", 5));
  ::munmap(pages, 2 * kPage);
}

}  // namespace
}  // namespace plateau
