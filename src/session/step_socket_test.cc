// SPDX-License-Identifier: Apache-2.0
#include "session/step_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/testing/scratch_directory.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;

class StepSocketTest : public testing::Test {
 protected:
  StepSocket make() {
    auto made = StepSocket::create_under(base_);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(made.value());
  }

  size_t entries() const { return scratch_.entries(); }

  ScratchDirectory scratch_;
  std::string base_ = scratch_.path();
};

// Sends without waiting; false if the queue is full or nobody listens.
bool say(const std::string& path, const std::string& text) {
  const int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const ssize_t sent = sendto(sender, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  close(sender);
  return sent == static_cast<ssize_t>(text.size());
}

// Runs `body` in a child that ends without destructors; returns the child's pid once it is gone.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return child;
}

TEST_F(StepSocketTest, DirectoryIsPrivate) {
  const StepSocket heard = make();
  struct stat info{};
  ASSERT_EQ(stat(fs::path(heard.path()).parent_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST_F(StepSocketTest, NothingSaidIsNothingHeardAndDoesNotBlock) {
  StepSocket heard = make();
  EXPECT_TRUE(heard.receive().empty());
}

TEST_F(StepSocketTest, WordsArriveInOrderWithTheSendersPid) {
  // given
  StepSocket heard = make();
  // when
  const pid_t child = in_child([&] {
    say(heard.path(), "run examples=663 batch=8");
    say(heard.path(), "step 1");
    say(heard.path(), "mark from elsewhere pid=77");
  });
  const auto words = heard.receive();
  // then
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0].facts.examples->value, 663);
  EXPECT_EQ(words[1].step, 1);
  EXPECT_EQ(words[0].pid, child);
  EXPECT_EQ(words[1].pid, child);
  EXPECT_EQ(words[2].pid, 77);
  EXPECT_EQ(heard.malformed(), 0U);
}

TEST_F(StepSocketTest, DatagramMayHoldSeveralLines) {
  StepSocket heard = make();
  ASSERT_TRUE(say(heard.path(), "step 10 epoch=0.5\ngauge tensors.cpu 330\n\nmark epoch\r\n"));
  const auto words = heard.receive();
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[1].value, 330);
  EXPECT_EQ(words[2].name, "epoch");
  EXPECT_EQ(words[2].pid, getpid());
}

TEST_F(StepSocketTest, NonsenseIsCountedAndTheRestIsHeard) {
  StepSocket heard = make();
  ASSERT_TRUE(say(heard.path(), "stop 3\nstep 4\n\x01\x02"));
  ASSERT_TRUE(say(heard.path(), ""));
  const auto words = heard.receive();
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].step, 4);
  EXPECT_EQ(heard.malformed(), 2U);
}

TEST_F(StepSocketTest, DatagramTooLongLosesItsLastLineOnly) {
  StepSocket heard = make();
  ASSERT_TRUE(say(heard.path(), "step 4\nmark " + std::string(70000, 'x')));
  const auto words = heard.receive();
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(words[0].step, 4);
  EXPECT_EQ(heard.cut(), 1U);
  EXPECT_EQ(heard.malformed(), 0U);
}

TEST_F(StepSocketTest, FullQueueRefusesAndIsReadableUntilHeard) {
  // given: a sender that does not stop
  StepSocket heard = make();
  int said = 0;
  while (said < 100000 && say(heard.path(), "step " + std::to_string(said))) ++said;
  ASSERT_LT(said, 100000);
  // when
  size_t count = 0;
  pollfd ready{.fd = heard.fd(), .events = POLLIN, .revents = 0};
  while (poll(&ready, 1, 0) == 1) count += heard.receive().size();
  // then
  EXPECT_EQ(count, static_cast<size_t>(said));
  EXPECT_TRUE(say(heard.path(), "step 1"));
}

TEST_F(StepSocketTest, OwnerRemovesSocketAndDirectory) {
  {
    const StepSocket heard = make();
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(StepSocketTest, MoveTakesTheSocketAlong) {
  StepSocket first = make();
  const std::string path = first.path();
  StepSocket second = std::move(first);
  ASSERT_TRUE(say(path, "step 9"));
  EXPECT_EQ(second.receive().size(), 1U);
  second = make();
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(second.path()));
}

TEST_F(StepSocketTest, ForkedChildRemovesNothing) {
  StepSocket heard = make();
  in_child([&] { const StepSocket copy = std::move(heard); });
  EXPECT_TRUE(fs::exists(heard.path()));
}

TEST_F(StepSocketTest, DirectoryOfADeadWatcherIsSweptUp) {
  // given: a watcher that ends without cleaning up
  in_child([&] {
    auto made = StepSocket::create_under(base_);
    _exit(0);
  });
  ASSERT_EQ(entries(), 1U);
  // when
  const StepSocket heard = make();
  // then
  EXPECT_EQ(entries(), 1U);
  EXPECT_TRUE(fs::exists(heard.path()));
}

TEST_F(StepSocketTest, SweepLeavesTheLivingAndStrangersAlone) {
  // given: a live watcher, foreign names, a fresh directory without a socket
  const StepSocket heard = make();
  const pid_t gone = in_child([] {});
  fs::create_directory(base_ + "/plateau-notes");
  fs::create_directory(base_ + "/plateau-" + std::to_string(gone) + "-abcdef");
  fs::create_directory(base_ + "/plateau-" + std::to_string(gone) + "-report-2");
  // when
  const int removed = sweep_step_sockets(base_);
  // then
  EXPECT_EQ(removed, 0);
  EXPECT_EQ(entries(), 4U);
}

TEST_F(StepSocketTest, ListenAtReplacesASocketThatADeadWatcherLeft) {
  const std::string path = base_ + "/steps";
  in_child([&] {
    auto made = StepSocket::listen_at(path);
    _exit(made.ok() ? 0 : 1);
  });
  ASSERT_TRUE(fs::is_socket(path));
  {
    auto heard = StepSocket::listen_at(path);
    ASSERT_TRUE(heard.ok()) << heard.error().message;
    ASSERT_TRUE(say(path, "step 3"));
    EXPECT_EQ(heard.value().receive().size(), 1U);
    EXPECT_FALSE(StepSocket::listen_at(path).ok()) << "somebody listens";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(StepSocketTest, ListenAtLeavesWhateverElseIsThere) {
  scratch_.write("file", "precious");
  fs::create_symlink(base_ + "/file", base_ + "/link");
  fs::create_directory(base_ + "/directory");
  for (const char* name : {"/file", "/link", "/directory"}) {
    EXPECT_FALSE(StepSocket::listen_at(base_ + name).ok()) << name;
    EXPECT_TRUE(fs::exists(base_ + name)) << name;
  }
  EXPECT_EQ(entries(), 3U);
}

TEST_F(StepSocketTest, ListenAtNeedsADirectoryThatNobodyElseCanChange) {
  fs::create_directory(base_ + "/open");
  fs::permissions(base_ + "/open", fs::perms::all);
  EXPECT_FALSE(StepSocket::listen_at(base_ + "/open/steps").ok());
  EXPECT_FALSE(fs::exists(base_ + "/open/steps"));
}

TEST_F(StepSocketTest, ListenAtRemovesNothingThatTookItsPlace) {
  const std::string path = base_ + "/steps";
  {
    auto heard = StepSocket::listen_at(path);
    ASSERT_TRUE(heard.ok());
    fs::remove(path);
    scratch_.write("steps", "precious");
  }
  EXPECT_TRUE(fs::is_regular_file(path));
}

TEST_F(StepSocketTest, SweepRemovesNoFileThatIsNoSocket) {
  const pid_t gone = in_child([] {});
  const std::string directory = base_ + "/plateau-" + std::to_string(gone) + "-abcdef";
  fs::create_directory(directory);
  scratch_.write(directory.substr(base_.size() + 1) + "/steps", "precious");
  EXPECT_EQ(sweep_step_sockets(base_), 0);
  EXPECT_TRUE(fs::exists(directory + "/steps"));
}

TEST_F(StepSocketTest, PathTooLongIsSaidSo) {
  const auto made = StepSocket::create_under("/tmp/" + std::string(120, 'd'));
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().message, testing::HasSubstr("too long"));
}

TEST_F(StepSocketTest, RuntimeDirectoryThatIsGoneFallsBackToTmp) {
  // given
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_RUNTIME_DIR", (base_ + "/gone").c_str(), 1);
  // when
  const auto fallback = StepSocket::create();
  setenv("XDG_RUNTIME_DIR", base_.c_str(), 1);
  const auto wished = StepSocket::create();
  // then
  ASSERT_TRUE(fallback.ok() && wished.ok());
  EXPECT_THAT(fallback.value().path(), testing::StartsWith("/tmp/plateau-"));
  EXPECT_THAT(wished.value().path(), testing::StartsWith(base_ + "/plateau-"));
  kept.empty() ? unsetenv("XDG_RUNTIME_DIR") : setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace plateau
