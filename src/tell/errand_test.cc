// SPDX-License-Identifier: Apache-2.0
#include "tell/errand.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace plateau {
namespace {

using testing::HasSubstr;

std::string wait_for(Errand errand) {
  while (true) {
    if (const std::optional<std::string> account = errand.account()) return *account;
    poll(nullptr, 0, 5);
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ErrandTest : public testing::Test {
 protected:
  ErrandTest() {
    char name[] = "/tmp/plateau-errand.XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ErrandTest() override { std::filesystem::remove_all(directory_); }

  // Runs it as an errand; the account.
  static std::string run(const ShellCommand& shell) {
    std::optional<Errand> errand =
        Errand::start("test-errand", shell.most_s, [&] { return run_shell(shell); });
    EXPECT_TRUE(errand);
    return errand ? wait_for(std::move(*errand)) : "";
  }

  std::filesystem::path directory_;
};

TEST_F(ErrandTest, ACommandGetsItsVariablesAndItsInput) {
  const std::string out = directory_ / "out";
  EXPECT_EQ(run({.command = "{ echo \"$PLATEAU_VERDICT\"; cat; } >" + out,
                 .variables = {{"PLATEAU_VERDICT", "leak"}},
                 .input = "{\"verdict\":\"leak\"}\n"}),
            "");
  EXPECT_EQ(text_of(out), "leak\n{\"verdict\":\"leak\"}\n");
}

TEST_F(ErrandTest, WhatTheJobIsCalledIsNoPartOfTheCommand) {
  const std::string evil = "\"; touch " + (directory_ / "pwned").string() + "; $(touch " +
                           (directory_ / "pwned").string() + ") `id` '";
  const std::string out = directory_ / "out";
  EXPECT_EQ(run({.command = "printf %s \"$PLATEAU_HEADLINE\" >" + out,
                 .variables = {{"PLATEAU_HEADLINE", evil}},
                 .input = ""}),
            "");
  EXPECT_EQ(text_of(out), evil);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "pwned"));
}

TEST_F(ErrandTest, AFailureIsSaid) {
  EXPECT_EQ(run({.command = "exit 3", .variables = {}, .input = ""}), "ended with exit code 3");
  EXPECT_EQ(run({.command = "kill -9 $$", .variables = {}, .input = ""}), "was ended by signal 9");
}

TEST_F(ErrandTest, WhatTakesTooLongIsEndedWithWhatItStarted) {
  const std::string pid_file = directory_ / "pid";
  const std::string account = run({.command = "sleep 1000 & echo $! >" + pid_file + "; wait",
                                   .variables = {},
                                   .input = "",
                                   .most_s = 0.5});
  EXPECT_THAT(account, HasSubstr("took longer"));
  const pid_t sleeper = std::stoi(text_of(pid_file));
  // It was asked to end, and sleep does.
  for (int i = 0; i < 2000 && kill(sleeper, 0) == 0; ++i) {
    const std::string state = text_of("/proc/" + std::to_string(sleeper) + "/stat");
    if (state.find(") Z ") != std::string::npos) break;
    poll(nullptr, 0, 5);
  }
  const std::string state = text_of("/proc/" + std::to_string(sleeper) + "/stat");
  EXPECT_TRUE(state.empty() || state.find(") Z ") != std::string::npos) << state;
}

TEST_F(ErrandTest, NobodyWaitsForWhatIsSlow) {
  std::optional<Errand> slow = Errand::start("test-errand", 30, [] {
    poll(nullptr, 0, 30000);
    return std::string();
  });
  ASSERT_TRUE(slow);
  EXPECT_FALSE(slow->account());
  kill(-slow->pid(), SIGKILL);
  EXPECT_THAT(wait_for(std::move(*slow)), HasSubstr("killed"));
}

TEST_F(ErrandTest, AnInputThatIsNotReadHurtsNobody) {
  EXPECT_EQ(run({.command = "true", .variables = {}, .input = std::string(5'000'000, 'x')}), "");
}

}  // namespace
}  // namespace plateau
