// SPDX-License-Identifier: Apache-2.0
#include "command/screen.h"

#include <gtest/gtest.h>

#include <map>

namespace plateau {
namespace {

Surroundings around(bool terminal, std::map<std::string, std::string, std::less<>> variables) {
  Surroundings made;
  made.is_terminal = terminal;
  made.variable = [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  return made;
}

bool color(const Surroundings& where, std::string_view when) {
  return choose_view(where, when, {}).color;
}

TEST(ChooseView, ColourOnlyOnATerminalThatCan) {
  EXPECT_TRUE(color(around(true, {{"TERM", "xterm"}}), "auto"));
  EXPECT_FALSE(color(around(false, {{"TERM", "xterm"}}), "auto"));
  EXPECT_FALSE(color(around(true, {{"TERM", "dumb"}}), "auto"));
  EXPECT_FALSE(color(around(true, {}), "auto"));
}

TEST(ChooseView, EnvironmentMayForbidOrForceColour) {
  EXPECT_FALSE(color(around(true, {{"TERM", "xterm"}, {"NO_COLOR", "1"}}), "auto"));
  EXPECT_TRUE(color(around(true, {{"TERM", "xterm"}, {"NO_COLOR", ""}}), "auto"));
  EXPECT_TRUE(color(around(false, {{"CLICOLOR_FORCE", "1"}}), "auto"));
  EXPECT_FALSE(color(around(false, {{"CLICOLOR_FORCE", "0"}}), "auto"));
  EXPECT_FALSE(color(around(false, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}), "auto"));
}

TEST(ChooseView, FlagBeatsTheEnvironment) {
  EXPECT_TRUE(color(around(false, {{"NO_COLOR", "1"}}), "always"));
  EXPECT_FALSE(color(around(true, {{"TERM", "xterm"}, {"CLICOLOR_FORCE", "1"}}), "never"));
}

TEST(ChooseView, LocaleDecidesAboutUtf8) {
  EXPECT_TRUE(choose_view(around(false, {{"LANG", "de_DE.UTF-8"}}), "auto", {}).utf8);
  EXPECT_TRUE(choose_view(around(false, {{"LC_CTYPE", "C.utf8"}}), "auto", {}).utf8);
  EXPECT_FALSE(choose_view(around(false, {{"LC_ALL", "C"}, {"LANG", "C.UTF-8"}}), "auto", {}).utf8);
  EXPECT_FALSE(choose_view(around(false, {}), "auto", {}).utf8);
}

TEST(ChooseView, WidthComesFromFlagTerminalVariableOrEighty) {
  Surroundings where = around(true, {{"COLUMNS", "70"}});
  EXPECT_EQ(choose_view(where, "auto", {}).width, 70U);
  where.terminal_columns = 150;
  EXPECT_EQ(choose_view(where, "auto", {}).width, 150U);
  EXPECT_EQ(choose_view(where, "auto", 99).width, 99U);
  EXPECT_EQ(choose_view(where, "auto", 1).width, 40U);
  EXPECT_EQ(choose_view(around(false, {{"COLUMNS", "wide"}}), "auto", {}).width, 80U);
}

}  // namespace
}  // namespace plateau
