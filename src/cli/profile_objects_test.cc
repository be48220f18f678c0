// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "census/python_target.h"
#include "cli/exit_code.h"
#include "command/parse.h"

namespace plateau {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Said {
  int code = 0;
  std::string out;
  std::string err;
};

std::string text_of(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text.push_back(static_cast<char>(c));
  std::fclose(file);
  return text;
}

Said profile(pid_t pid, std::vector<std::string> words) {
  Verb verb;
  verb.name = "profile";
  verb.positional = {.placeholder = "PID", .help = "", .takes = Takes::pid};
  verb.options = objects_options();
  verb.options.push_back({.name = "top", .takes = Takes::count, .placeholder = "N"});
  verb.options.push_back({.name = "json"});
  words.insert(words.begin(), std::to_string(pid));
  const Result<Arguments> arguments = parse_arguments(verb, words);
  if (!arguments) return {.code = -1, .err = arguments.error().message};
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  Output output(out, err);
  Said said;
  said.code = output.finish(profile_objects(
      {.verb = verb, .verbs = {}, .arguments = arguments.value(), .out = output}, pid));
  said.out = text_of(out);
  said.err = text_of(err);
  return said;
}

class ProfileObjects : public ::testing::Test {
 protected:
  void SetUp() override {
    if (python_for_test(0).empty()) GTEST_SKIP() << "no /usr/bin/python3";
  }
};

TEST_F(ProfileObjects, AnnouncesTheStopAndShowsTheTable) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());

  const Said said = profile(target.pid(), {"--objects", "--max-stop", "20s", "--top", "5"});

  EXPECT_EQ(said.code, kExitFine) << said.err;
  EXPECT_THAT(said.err, HasSubstr("for at most 20000 ms"));
  EXPECT_THAT(said.out, AllOf(HasSubstr("OBJECTS"), HasSubstr("stopped"), HasSubstr("more types")));
}

TEST_F(ProfileObjects, CountsAgainAndShowsWhatGrew) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());

  const Said said = profile(target.pid(), {"--objects", "--again", "0.1s", "--max-stop", "20s"});

  EXPECT_EQ(said.code, kExitFine) << said.err;
  // Nothing happens in it between the two.
  EXPECT_THAT(said.out, HasSubstr("no type has more objects than before"));
}

TEST_F(ProfileObjects, JsonIsOneObject) {
  PythonTarget target(python_for_test(0));
  ASSERT_TRUE(target.started());

  const Said said = profile(target.pid(), {"--objects", "--json", "--max-stop", "20s"});

  EXPECT_EQ(said.code, kExitFine) << said.err;
  EXPECT_THAT(said.out, StartsWith("{\"schema\":1,"));
  EXPECT_THAT(said.out, HasSubstr("{\"type\":\"__main__.Planted\",\"objects\":1000,"));
}

TEST_F(ProfileObjects, RefusalIsOneLineAndTrouble) {
  PythonTarget target(std::vector<std::string>{"cat"});
  const Said said = profile(target.pid(), {"--objects"});
  EXPECT_EQ(said.code, kExitTrouble);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace plateau
