// SPDX-License-Identifier: Apache-2.0
#include "plateau.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "session/step_socket.h"

namespace plateau {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A watcher on a path of our choice; it forgets what it heard when it goes.
class Listener {
 public:
  explicit Listener(const std::string& path) : path_(path) {
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    close(fd_);
    unlink(path_.c_str());
  }

  std::vector<std::string> lines() {
    std::vector<std::string> all;
    char buffer[65536];
    for (;;) {
      const ssize_t size = recv(fd_, buffer, sizeof(buffer), 0);
      if (size < 0) return all;
      std::string_view rest(buffer, static_cast<size_t>(size));
      while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        all.emplace_back(line);
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      }
    }
  }

 private:
  std::string path_;
  int fd_ = -1;
};

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string shape = "/tmp/clientXXXXXX";
    ASSERT_NE(mkdtemp(shape.data()), nullptr);
    base_ = shape;
    path_ = base_ + "/s";
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  std::string base_, path_;
};

TEST_F(ClientTest, EverythingItSaysIsUnderstoodByTheWatcher) {
  // given
  auto made = StepSocket::create_under(base_);
  ASSERT_TRUE(made.ok());
  Client client(made.value().path().c_str());
  Facts facts;
  facts.total_steps = 250;
  facts.batch = 8;
  // when
  client.run_facts(facts);
  client.step(120, 1.45);
  {
    const auto phase = client.evaluate();
  }
  client.gauge("queue length", -0.25);
  client.mark("line\none");
  const auto words = made.value().receive();
  // then
  ASSERT_EQ(words.size(), 6U);
  EXPECT_EQ(words[0].facts.total_steps->value, 250);
  EXPECT_EQ(words[0].facts.batch->value, 8);
  EXPECT_FALSE(words[0].facts.examples);
  EXPECT_EQ(words[1].step, 120);
  EXPECT_DOUBLE_EQ(words[1].epoch, 1.45);
  EXPECT_EQ(words[2].kind, StepWords::Kind::begin);
  EXPECT_EQ(words[3].kind, StepWords::Kind::end);
  EXPECT_EQ(words[4].name, "queue_length");
  EXPECT_EQ(words[4].value, -0.25);
  EXPECT_EQ(words[5].name, "line_one");
  EXPECT_EQ(words[5].pid, getpid());
  EXPECT_EQ(made.value().malformed(), 0U);
}

TEST_F(ClientTest, WithoutSocketNothingHappens) {
  for (const char* paths : {static_cast<const char*>(nullptr), "", ":"}) {
    Client client(paths);
    client.step(1);
    client.mark("unheard");
    EXPECT_FALSE(client.active());
    EXPECT_EQ(client.sent() + client.lost(), 0U);
  }
}

TEST_F(ClientTest, NobodyListeningIsCountedOnly) {
  Client client(path_.c_str());
  client.step(1);
  client.mark("unheard");
  EXPECT_TRUE(client.active());
  EXPECT_EQ(client.lost(), 2U);
}

TEST_F(ClientTest, PathTooLongIsNoTarget) {
  Client client(std::string(200, 'p').c_str());
  client.step(1);
  EXPECT_FALSE(client.active());
}

TEST_F(ClientTest, FullQueueLosesStepsButKeepsEvents) {
  // given: a watcher that does not listen for a while
  Listener watcher(path_);
  Client client(path_.c_str());
  int step = 0;
  while (client.lost() == 0 && step < 100000) client.step(++step);
  ASSERT_LT(step, 100000);
  // when
  client.mark("checkpoint");
  client.begin("eval");
  watcher.lines();
  client.step(999);
  // then
  EXPECT_THAT(watcher.lines(), ElementsAre("mark checkpoint", "begin eval", "step 999"));
  EXPECT_EQ(client.lost(), 1U);
}

TEST_F(ClientTest, EventsThatWaitAreBounded) {
  // given: a full queue
  Listener watcher(path_);
  Client client(path_.c_str());
  while (client.lost() == 0) client.step(1);
  // when
  for (int i = 0; i < 1000; ++i) client.mark(std::string(100, 'm'));
  watcher.lines();
  client.step(2);
  // then: 4096 bytes hold 38 lines of "mark " and 100 letters
  EXPECT_EQ(watcher.lines().size(), 39U);
  EXPECT_EQ(client.lost(), 1U + 1000U - 38U);
}

TEST_F(ClientTest, WatcherThatRestartsHearsTheFactsAgain) {
  // given
  Client client(path_.c_str());
  Facts facts;
  facts.examples = 663;
  {
    Listener first(path_);
    client.run_facts(facts);
    client.step(1);
    EXPECT_THAT(first.lines(), ElementsAre("run examples=663", "step 1"));
  }
  client.step(2);
  // when
  Listener second(path_);
  client.step(3);
  client.step(4);
  // then
  EXPECT_THAT(second.lines(), ElementsAre("run examples=663", "step 3", "step 4"));
}

TEST_F(ClientTest, SeveralWatchersHearTheSame) {
  Listener first(path_), second(path_ + "2");
  Client client((path_ + ":" + path_ + "2").c_str());
  client.step(7);
  EXPECT_THAT(first.lines(), ElementsAre("step 7"));
  EXPECT_THAT(second.lines(), ElementsAre("step 7"));
}

TEST_F(ClientTest, ForkedChildIsSilent) {
  Listener watcher(path_);
  Client client(path_.c_str());
  const pid_t child = fork();
  if (child == 0) {
    client.step(1);
    client.mark("worker");
    _exit(client.active() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(watcher.lines(), IsEmpty());
}

TEST_F(ClientTest, ThreadsMaySpeakAtOnce) {
  // given
  Listener watcher(path_);
  Client client(path_.c_str());
  constexpr int kEach = 200;
  // when
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&client] {
      for (int i = 0; i < kEach; ++i) client.gauge("g", i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  // then: each word was either sent whole or counted
  EXPECT_EQ(client.sent() + client.lost(), 4U * kEach);
  for (const std::string& line : watcher.lines()) EXPECT_TRUE(parse_step_words(line)) << line;
}

TEST_F(ClientTest, NumbersThatAreNoneAreNotSaid) {
  Listener watcher(path_);
  Client client(path_.c_str());
  client.step(-1);
  client.gauge("x", std::numeric_limits<double>::infinity());
  client.gauge("", 3);
  client.mark("");
  client.step(5, std::numeric_limits<double>::infinity());
  EXPECT_THAT(watcher.lines(), ElementsAre("step 5"));
}

TEST_F(ClientTest, WatcherSwappedBetweenTwoSendsHearsTheFactsSoon) {
  // given: no send fails while one watcher follows another
  Client client(path_.c_str());
  Facts facts;
  facts.batch = 8;
  {
    Listener first(path_);
    client.run_facts(facts);
  }
  // when
  Listener second(path_);
  std::vector<std::string> heard;
  for (int step = 1; step <= 100; ++step) {
    client.step(step);
    for (const std::string& line : second.lines()) heard.push_back(line);
  }
  // then
  EXPECT_EQ(heard.size(), 101U);
  EXPECT_THAT(heard, testing::Contains("run batch=8"));
}

TEST(ClientText, DecimalSignOfAnyLocaleBecomesADot) {
  for (const char* printed : {"-1.45e-07", "-1,45e-07",
                              "-1\xd9\xab\x34\x35"
                              "e-07"}) {
    detail::Text<64> text;
    text.add_dotted(printed);
    EXPECT_EQ(text.view(), "-1.45e-07");
  }
}

}  // namespace
}  // namespace plateau
