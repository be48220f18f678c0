// SPDX-License-Identifier: Apache-2.0
#include "prove/server_trial.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace plateau {
namespace {

TEST(ServerTrial, TheNumberReplacesEveryPlace) {
  EXPECT_EQ(request_command("curl host/{i}?again={i}", 12), "curl host/12?again=12");
  EXPECT_EQ(request_command("curl host", 3), "curl host");
}

TEST(ServerTrial, AServerThatEndsAtOnceIsAnErrorThatSaysSo) {
  ServerTrialOptions options;
  options.command = {"true"};
  options.same = "false";
  const Result<ProveResult> result = run_server_trial(options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("ended before it answered"), std::string::npos);
}

TEST(ServerTrial, AServerThatKeepsNothingIsLevelAndIsEnded) {
  ServerTrialOptions options;
  options.command = {"sleep", "1000"};
  options.same = "true";
  options.other = "true {i}";
  options.requests = 5;
  const Result<ProveResult> result = run_server_trial(options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result.value().proved, Proved::level);
  EXPECT_EQ(kill(static_cast<pid_t>(result.value().pid), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace plateau
