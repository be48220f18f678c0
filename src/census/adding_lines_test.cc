// SPDX-License-Identifier: Apache-2.0
#include "census/adding_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Scope = GrowingName::Scope;

// "line made" of each.
std::vector<std::string> lines(std::string_view source, const GrowingName& wanted) {
  std::vector<std::string> found;
  for (const AddingLine& each : find_adding_lines(source, wanted)) {
    found.push_back(std::to_string(each.line) + " " + std::to_string(each.made_line));
  }
  return found;
}

constexpr std::string_view kLoop = R"py(losses = []          # 1
def evaluate(losses):
    losses.append(1)     # an argument of that name
def train(model):
    losses = []
    total = 0
    for batch in data:   # 7
        out, loss = model(batch)
        loss = loss / 2
        losses.append(loss)
        total += loss.detach()
        text = "losses.append(no)"  # losses.append(no)
    return losses
def report():
    losses.append(
        read())
)py";

TEST(AddingLines, ALocalIsFilledInItsOwnFunctionOnly) {
  EXPECT_THAT(lines(kLoop, {.scope = Scope::function, .path = "losses", .function = "train"}),
              ElementsAre("10 9"));
  EXPECT_THAT(lines(kLoop, {.scope = Scope::function, .path = "total", .function = "train"}),
              ElementsAre("11 11"));
}

TEST(AddingLines, AGlobalIsNotAnArgumentOrLocalOfItsName) {
  EXPECT_THAT(lines(kLoop, {.scope = Scope::module, .path = "losses"}), ElementsAre("15 16"));
  EXPECT_THAT(lines("kept = []\ndef f():\n  global kept\n  kept = kept + [1]\n",
                    {.scope = Scope::module, .path = "kept"}),
              ElementsAre("4 4"));
}

TEST(AddingLines, FunctionsOfOneNameAreToldApartByTheLineThatRuns) {
  const std::string_view source =
      "class A:\n  def step(self):\n    kept.append(1)\n"
      "class B:\n  def step(self):\n    kept = []\n    kept.append(2)\n";
  EXPECT_THAT(
      lines(source, {.scope = Scope::function, .path = "kept", .function = "B.step", .line = 6}),
      ElementsAre("7 7"));
}

TEST(AddingLines, AClosedOverListIsFilledInAnyFunctionBesideIt) {
  const std::string_view source =
      "def make():\n    kept = []\n    def hook(x):\n        y = x * 2\n        kept.append(y)\n"
      "    def read():\n        return kept\n    return hook, read\n";
  EXPECT_THAT(
      lines(
          source,
          {.scope = Scope::enclosing, .path = "kept", .function = "make.<locals>.read", .line = 6}),
      ElementsAre("5 4"));
}

TEST(AddingLines, AnAttributeIsFilledByItsClassBeforeAnyOther) {
  const std::string_view source =
      "class Data:\n    def get(self, i):\n        image = decode(i)\n"
      "        self.cache[i] = image\n"
      "class Other:\n    def get(self, i):\n        self.cache[i] = 1\n";
  EXPECT_THAT(
      lines(source, {.scope = Scope::attribute, .path = "data.cache", .owner = "__main__.Data"}),
      ElementsAre("4 3"));
  EXPECT_THAT(lines(source, {.scope = Scope::attribute, .path = "x.cache", .owner = "m.Else"}),
              ElementsAre("4 3", "7 7"));
}

TEST(AddingLines, KeysAndItemsAreFollowed) {
  const std::string_view source =
      "state['losses'].append(a + b)\nstate[\"other\"].append(1)\nby_name[key(1, [2])].append(v)\n"
      "by_name[3] = []\n";
  EXPECT_THAT(lines(source, {.scope = Scope::attribute, .path = "state['losses']"}),
              ElementsAre("1 1"));
  EXPECT_THAT(lines(source, {.scope = Scope::module, .path = "by_name[*]"}), ElementsAre("3 0"));
  EXPECT_THAT(lines(source, {.scope = Scope::module, .path = "by_name"}), ElementsAre("4 4"));
}

TEST(AddingLines, WhatIsMadeOfItselfGrows) {
  const std::string_view source =
      "def run(h):\n    out, h = cell(x, h)\n    y = h == 1\n    h = zero()\n    print(h=h)\n";
  EXPECT_THAT(lines(source, {.scope = Scope::function, .path = "h", .function = "run"}),
              ElementsAre("2 2"));
}

TEST(AddingLines, WhatDoesNotGrowIsFoundWhereItIsBound) {
  const std::string_view source =
      "class D:\n    def __init__(self, paths):\n        self.images = [\n"
      "            open_image(p) for p in paths]\n        self.n = len(self.images)\n";
  const GrowingName images{
      .scope = Scope::attribute, .path = "data.images", .owner = "m.D", .assigned = true};
  EXPECT_THAT(lines(source, images), ElementsAre("3 3"));
}

TEST(AddingLines, NothingIsFoundInWhatIsNoProgram) {
  const GrowingName wanted{.scope = Scope::module, .path = "a"};
  for (const std::string_view source : {"", "\"\"\"a.append(1)", "'a.append(1)\n", "a.append",
                                        "def", "a[", "((((", "\\\n", "a = "}) {
    EXPECT_THAT(lines(source, wanted), IsEmpty()) << source;
  }
  EXPECT_THAT(lines("a.append(1)", {.path = ""}), IsEmpty());
  EXPECT_THAT(lines("a.append(1)", {.path = "']"}), IsEmpty());
}

}  // namespace
}  // namespace plateau
