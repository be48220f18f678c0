// SPDX-License-Identifier: Apache-2.0
#include "command/dispatch.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/version.h"
#include "cli/completion.h"
#include "cli/help_verb.h"
#include "cli/man.h"
#include "cli/shared_options.h"
#include "cli/verbs.h"
#include "command/help.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::vector<Verb> table() {
  return {judge_verb(), run_verb(),        watch_verb(), compare_verb(), convert_verb(),
          dump_verb(),  completion_verb(), man_verb(),   help_verb()};
}

// Runs a command line with both streams caught in memory.
Outcome run_words(std::vector<std::string> words) {
  char* out_text = nullptr;
  char* err_text = nullptr;
  size_t out_size = 0;
  size_t err_size = 0;
  std::FILE* out_file = open_memstream(&out_text, &out_size);
  std::FILE* err_file = open_memstream(&err_text, &err_size);
  Output out(out_file, err_file);
  Outcome outcome;
  outcome.code = dispatch(plateau_program(), table(), words, out);
  std::fclose(out_file);
  std::fclose(err_file);
  outcome.out.assign(out_text, out_size);
  outcome.err.assign(err_text, err_size);
  std::free(out_text);
  std::free(err_text);
  return outcome;
}

TEST(Dispatch, UnknownVerbIsOneLineWithASuggestion) {
  const Outcome outcome = run_words({"jugde", "a.log"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "plateau: unknown verb 'jugde' (did you mean 'judge'?); try 'plateau --help'\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(Dispatch, UsageErrorNamesVerbAndHelp) {
  const Outcome outcome = run_words({"judge", "--examples", "x", "a.log"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, StartsWith("plateau judge: --examples takes"));
  EXPECT_THAT(outcome.err, HasSubstr("; try 'plateau judge --help'\n"));
}

TEST(Dispatch, VersionAndHelpGoToStandardOutput) {
  EXPECT_EQ(run_words({"--version"}).out, "plateau " + std::string(version()) + "\n");
  EXPECT_THAT(run_words({"--help"}).out, HasSubstr("An answer:\n  judge "));
  EXPECT_EQ(run_words({}).code, 2);
}

TEST(Help, VerbsStandByWhatIsWantedAndNoneIsLost) {
  const std::vector<Verb> verbs = {judge_verb(), dump_verb(), man_verb()};
  const Program program = {.groups = {{"Files", {"dump", "absent"}}, {"Nothing", {"absent"}}}};
  const std::string said = overview_help(program, verbs);
  EXPECT_THAT(said, HasSubstr("\nFiles:\n  dump "));
  EXPECT_THAT(said, HasSubstr("\nMore:\n  judge "));
  EXPECT_THAT(said, HasSubstr("\n  man "));
  EXPECT_THAT(said, Not(HasSubstr("Nothing")));
  EXPECT_THAT(overview_help({}, verbs), HasSubstr("\nVerbs:\n  judge "));
}

TEST(Help, EveryVerbExplainsItselfWithThreeExamples) {
  for (const Verb& verb : table()) {
    const Outcome outcome = run_words({"help", verb.name});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, run_words({verb.name, "--help"}).out);
    EXPECT_GE(verb.examples.size(), 3U) << verb.name;
    for (const Option& option : verb.options) {
      EXPECT_THAT(outcome.out, HasSubstr("--" + option.name));
      EXPECT_FALSE(option.help.empty()) << option.name;
      EXPECT_FALSE(option.group.empty()) << option.name;
    }
  }
}

TEST(Help, LinesFitATerminal) {
  for (const Verb& verb : table()) {
    std::string text = verb_help(verb);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(end - at, 92U) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(Generated, ManAndCompletionsKnowEveryVerbAndOption) {
  const std::vector<Verb> verbs = table();
  const std::string bash = bash_completion(verbs);
  const std::string zsh = zsh_completion(verbs);
  const std::string fish = fish_completion(verbs);
  const std::string man = manual_page(verbs);
  for (const Verb& verb : verbs) {
    EXPECT_THAT(man, HasSubstr(".SS " + verb.name));
    for (const Option& option : verb.options) {
      EXPECT_THAT(bash, HasSubstr("--" + option.name));
      EXPECT_THAT(zsh, HasSubstr("--" + option.name));
      EXPECT_THAT(fish, HasSubstr("-l " + option.name));
    }
  }
}

}  // namespace
}  // namespace plateau
