// SPDX-License-Identifier: Apache-2.0
#include "session/missing_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plateau {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

constexpr std::string_view kOurs = "/opt/plateau/python";

std::string why(const std::string& environment, const std::string& arguments) {
  return what_keeps_module_out(environment, arguments, kOurs);
}

TEST(MissingModule, WhereTheEnvironmentIsAsWeMadeItNothingKeepsItOut) {
  const std::string environment =
      "A=1\0PLATEAU_SOCKET=/run/s\0PYTHONPATH=src:/opt/plateau/python\0"s;
  EXPECT_EQ(why(environment, "python\0train.py\0-I\0"s), "");
  EXPECT_EQ(why(environment, "python\0-u\0-m\0train\0-E\0"s), "");
  EXPECT_EQ(why(environment, "python\0-W\0Ignore\0-Xdev\0train.py\0"s), "");
  EXPECT_EQ(why("", "python\0"s), "");  // It could not be read.
}

TEST(MissingModule, ACleanedEnvironmentANewPathAndIsolationAreTold) {
  EXPECT_THAT(why("HOME=/\0"s, "python\0train.py\0"s), HasSubstr("without the job's environment"));
  const std::string other =
      "PLATEAU_SOCKET=/run/s\0PYTHONPATH=/opt/plateau/python3:src\0XPYTHONPATH=/opt/plateau/python\0"s;
  EXPECT_THAT(why(other, "python\0train.py\0"s), HasSubstr("sets PYTHONPATH anew"));
  EXPECT_THAT(why("PLATEAU_SOCKET=/run/s\0"s, "python\0train.py\0"s), HasSubstr("PYTHONPATH anew"));
  const std::string ours = "PLATEAU_SOCKET=/run/s\0PYTHONPATH=/opt/plateau/python\0"s;
  EXPECT_THAT(why(ours, "python\0-u\0-I\0train.py\0"s), HasSubstr("started with -I"));
  EXPECT_THAT(why(ours, "python\0-uE\0train.py\0"s), HasSubstr("started with -uE"));
  EXPECT_THAT(why(ours, "python\0-W\0error\0-S\0-m\0train\0"s), HasSubstr("started with -S"));
}

TEST(MissingModule, OfTheWordsOfAProcessOnlyFlagsAreTold) {
  const std::string ours = "PLATEAU_SOCKET=/run/s\0PYTHONPATH=/opt/plateau/python\0"s;
  EXPECT_EQ(why(ours, "python\0-\x1b[2JI\0train.py\0"s), "");
  EXPECT_THAT(why(ours, "python\0-IWerror::\x1b[2J\0train.py\0"s), HasSubstr("started with -I,"));
}

TEST(MissingModule, WhoeverSwitchedItOffIsToldNothing) {
  EXPECT_EQ(why("PLATEAU_AUTO=0\0"s, "python\0train.py\0"s), "");
}

TEST(MissingModule, OnlyAFrameworkThatItListensToMakesItMissed) {
  EXPECT_TRUE(maps_a_framework("7f00-7f01 r-xp 00:00 1 /v/torch/lib/libtorch_python.so\n"));
  EXPECT_FALSE(maps_a_framework("7f00-7f01 r-xp 00:00 1 /usr/lib/libc.so.6\n"));
}

}  // namespace
}  // namespace plateau
