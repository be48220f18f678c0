// SPDX-License-Identifier: Apache-2.0
#include "command/parse.h"

#include <gmock/gmock.h>

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Verb sample_verb() {
  Verb verb;
  verb.name = "judge";
  verb.positional = {.placeholder = "FILE", .help = "", .many = true};
  verb.options = {
      {.name = "examples", .takes = Takes::count, .placeholder = "N"},
      {.name = "until-step", .takes = Takes::index, .placeholder = "N"},
      {.name = "limit", .takes = Takes::memory, .placeholder = "SIZE"},
      {.name = "color",
       .takes = Takes::choice,
       .placeholder = "WHEN",
       .choices = {"auto", "always", "never"}},
      {.name = "output", .letter = 'o', .takes = Takes::file, .placeholder = "OUT"},
      {.name = "quiet", .letter = 'q'},
      {.name = "heap",
       .takes = Takes::choice,
       .placeholder = "MODE",
       .choices = {"sampled", "exact"},
       .may_be_bare = true},
  };
  return verb;
}

Result<Arguments> parse(std::vector<std::string> words) {
  return parse_arguments(sample_verb(), words);
}

std::string error_of(std::vector<std::string> words) {
  const Result<Arguments> result = parse(std::move(words));
  return result ? "no error" : result.error().message;
}

TEST(ParseArguments, AValueThatMayBeLeftOutStandsOnlyAfterAnEqualsSign) {
  const Result<Arguments> bare = parse({"--heap", "exact"});
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare.value().text("heap"), "");
  EXPECT_THAT(bare.value().positionals, ElementsAre("exact"));
  const Result<Arguments> given = parse({"--heap", "--heap=exact"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value().text("heap"), "exact");
  EXPECT_THAT(error_of({"--heap=exakt"}), HasSubstr("--heap takes one of sampled, exact"));
  EXPECT_FALSE(parse({"a.log"}).value().has("heap"));
  EXPECT_EQ(option_title(sample_verb().options.back()), "--heap[=MODE]");
}

TEST(ParseArguments, OptionsAndFilesMixInAnyOrder) {
  const Result<Arguments> result =
      parse({"a.log", "--examples", "663", "-q", "b.log", "--limit=20GB", "-o", "x.csv"});
  ASSERT_TRUE(result) << error_of({});
  const Arguments& arguments = result.value();
  EXPECT_THAT(arguments.positionals, ElementsAre("a.log", "b.log"));
  EXPECT_EQ(arguments.number("examples"), 663);
  EXPECT_EQ(arguments.memory_mb("limit"), 20000);
  EXPECT_EQ(arguments.text("output"), "x.csv");
  EXPECT_TRUE(arguments.has("quiet"));
  EXPECT_FALSE(arguments.has("color"));
}

TEST(ParseArguments, LaterOptionWinsAndSeparatorsAreRead) {
  const Result<Arguments> result = parse({"--examples", "1", "--examples", "1,200"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result.value().number("examples"), 1200);
}

TEST(ParseArguments, DashIsAFileAndDoubleDashEndsTheOptions) {
  const Result<Arguments> result = parse({"-", "--", "--quiet", "-x.log"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result.value().positionals, ElementsAre("-", "--quiet", "-x.log"));
  EXPECT_FALSE(result.value().has("quiet"));
}

TEST(ParseArguments, OddFileNamesAreLeftAlone) {
  const Result<Arguments> result = parse({"[a,b].log", "a b", "x=y"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result.value().positionals, ElementsAre("[a,b].log", "a b", "x=y"));
}

TEST(ParseArguments, UnknownOptionGetsASuggestion) {
  EXPECT_EQ(error_of({"--exmples", "3"}),
            "unknown option '--exmples' (did you mean '--examples'?)");
  EXPECT_EQ(error_of({"--zzzzzzz=1"}), "unknown option '--zzzzzzz'");
  EXPECT_THAT(error_of({"-z"}), HasSubstr("unknown option '-z'"));
}

TEST(ParseArguments, ValuesAreCheckedByKind) {
  EXPECT_EQ(error_of({"--examples", "many"}),
            "--examples takes a whole number of at least 1, not 'many'");
  EXPECT_THAT(error_of({"--examples", "0"}), HasSubstr("at least 1"));
  EXPECT_THAT(error_of({"--examples", "-5"}), HasSubstr("not '-5'"));
  EXPECT_THAT(error_of({"--examples", "1e3"}), HasSubstr("whole number"));
  EXPECT_EQ(error_of({"--until-step", "0"}), "no error");
  EXPECT_THAT(error_of({"--limit", "20 parsecs"}), HasSubstr("such as 20GB"));
  EXPECT_EQ(error_of({"--color", "alway"}),
            "--color takes one of auto, always, never, not 'alway' (did you mean 'always'?)");
}

TEST(ParseArguments, MissingValueIsNamed) {
  EXPECT_EQ(error_of({"--examples"}), "--examples needs a value");
}

TEST(ParseArguments, HelpIsHeardBesideMistakes) {
  const Result<Arguments> result = parse({"--nonsense", "--help"});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result.value().has("help"));
}

TEST(ParseArguments, RequiredAndUnexpectedArgumentsAreNamed) {
  Verb verb;
  verb.positional = {.placeholder = "SHELL",
                     .help = "",
                     .takes = Takes::choice,
                     .required = true,
                     .choices = {"bash", "zsh"}};
  const auto message = [&verb](std::vector<std::string> words) {
    return parse_arguments(verb, words).error().message;
  };
  EXPECT_EQ(message({}), "SHELL is missing");
  EXPECT_EQ(message({"bash", "zsh"}), "unexpected argument 'zsh'");
  EXPECT_EQ(message({"basch"}),
            "SHELL must be one of bash, zsh, not 'basch' (did you mean 'bash'?)");
}

Verb command_verb() {
  Verb verb = sample_verb();
  verb.positional = {.placeholder = "COMMAND",
                     .help = "What to run.",
                     .takes = Takes::command,
                     .required = true,
                     .many = true};
  return verb;
}

TEST(ParseArguments, ACommandKeepsItsOwnOptions) {
  const Result<Arguments> given = parse_arguments(
      command_verb(),
      std::vector<std::string>{"--examples", "3", "python", "train.py", "--examples", "9", "-o"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value().number("examples"), 3);
  EXPECT_EQ(given.value().positionals,
            (std::vector<std::string>{"python", "train.py", "--examples", "9", "-o"}));
}

TEST(ParseArguments, TheTwoDashesBeforeACommandAreNotPartOfIt) {
  const Result<Arguments> given =
      parse_arguments(command_verb(), std::vector<std::string>{"-o", "x", "--", "sh", "--", "-c"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given.value().positionals, (std::vector<std::string>{"sh", "--", "-c"}));
}

TEST(ParseArguments, ACommandsArgumentsAreItsOwnEmptyOnesAndAllBytesIncluded) {
  const std::vector<std::string> command = {"redis-server", "--save", "", "\xff\xfe", "--", "-h"};
  std::vector<std::string> words = {"--"};
  words.insert(words.end(), command.begin(), command.end());
  const Result<Arguments> given = parse_arguments(command_verb(), words);
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ(given.value().positionals, command);
  EXPECT_FALSE(parse_arguments(command_verb(), std::vector<std::string>{"--", "", "x"}).ok());
}

TEST(ParseArguments, AMissingCommandIsSaid) {
  const Result<Arguments> given =
      parse_arguments(command_verb(), std::vector<std::string>{"--examples", "3"});
  ASSERT_FALSE(given.ok());
  EXPECT_EQ(given.error().message, "COMMAND is missing");
}

}  // namespace
}  // namespace plateau
