// SPDX-License-Identifier: Apache-2.0
#include "import/pickle.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace plateau {
namespace {

using Kind = PickleValue::Kind;

Result<Pickle> read(std::string_view bytes) {
  LineReader input(open_memory(bytes, {}));
  return read_pickle(input);
}

std::string trouble(std::string_view bytes) {
  const Result<Pickle> pickle = read(bytes);
  return pickle ? "" : pickle.error().message;
}

// pickle.dumps({'a': [1, -2, 300, 70000, 2**40, -2**40, 2**70, 1.5, True, None], 'b': (3, 'x')}, 4)
const std::string kSample(
    "\x80\x04\x95N\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00"
    "\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff"
    "\x8a\t\x00\x00\x00\x00\x00\x00\x00\x00@G?\xf8\x00\x00\x00\x00\x00\x00\x88Ne"
    "\x8c\x01"
    "b\x94K\x03\x8c\x01x\x94\x86\x94u.",
    89);

TEST(Pickle, PlainValuesAreWhatPythonWrote) {
  const Result<Pickle> read_back = read(kSample);
  ASSERT_TRUE(read_back.ok()) << read_back.error().message;
  const Pickle& pickle = read_back.value();
  const auto list = pickle.items(pickle.at(pickle.root(), "a"));
  ASSERT_EQ(list.size(), 10u);
  EXPECT_EQ(pickle.integer(list[0]), 1);
  EXPECT_EQ(pickle.integer(list[1]), -2);
  EXPECT_EQ(pickle.integer(list[2]), 300);
  EXPECT_EQ(pickle.integer(list[3]), 70000);
  EXPECT_EQ(pickle.integer(list[4]), int64_t{1} << 40);
  EXPECT_EQ(pickle.integer(list[5]), -(int64_t{1} << 40));
  EXPECT_DOUBLE_EQ(pickle.number(list[6]), 1180591620717411303424.0);
  EXPECT_EQ(pickle.number(list[7]), 1.5);
  EXPECT_EQ(list[8].kind(), Kind::boolean);
  EXPECT_EQ(list[9].kind(), Kind::none);
  const auto tuple = pickle.items(pickle.at(pickle.root(), "b"));
  ASSERT_EQ(tuple.size(), 2u);
  EXPECT_EQ(pickle.text(tuple[1]), "x");
  EXPECT_EQ(pickle.at(pickle.root(), "c").kind(), Kind::none);
}

// What makes pickles dangerous: import os.system and call it.
TEST(Pickle, ACallBecomesAnOpaqueValueAndNothingRuns) {
  const std::string mark = (std::filesystem::temp_directory_path() / "plateau-pickle-ran").string();
  std::filesystem::remove(mark);
  const Result<Pickle> pickle = read("cos\nsystem\n(S'touch " + mark + "'\ntR.");
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  EXPECT_EQ(pickle.value().root().kind(), Kind::opaque);
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(Pickle, BuildNewobjInstAndPersistentIdsHoldNothing) {
  for (const std::string_view bytes : {std::string_view("\x80\x02"
                                                        "cm\nC\n)\x81}U\x01"
                                                        "aK\x01sb."),
                                       std::string_view("(K\x01im\nC\n."),
                                       std::string_view("Pname\n."), std::string_view("K\x01Q.")}) {
    const Result<Pickle> pickle = read(bytes);
    ASSERT_TRUE(pickle.ok()) << pickle.error().message;
    EXPECT_EQ(pickle.value().root().kind(), Kind::opaque);
  }
}

TEST(Pickle, AnOrderedDictIsADict) {
  const Result<Pickle> pickle = read("ccollections\nOrderedDict\n)R(U\x01kK\x05u.");
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  EXPECT_EQ(pickle.value().integer(pickle.value().at(pickle.value().root(), "k")), 5);
}

TEST(Pickle, AListMayHoldItself) {
  const Result<Pickle> pickle = read(std::string_view("]q\0h\0a.", 7));
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  const auto items = pickle.value().items(pickle.value().root());
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0].identity(), pickle.value().root().identity());
}

TEST(Pickle, EveryCutIsAnErrorWithASentence) {
  for (size_t size = 0; size < kSample.size(); ++size) {
    EXPECT_NE(trouble(std::string_view(kSample).substr(0, size)).find("ends too early"),
              std::string::npos)
        << size;
  }
}

TEST(Pickle, BrokenProgramsAreRefused) {
  EXPECT_NE(trouble("0.").find("takes more from its stack"), std::string::npos);
  EXPECT_NE(trouble("K\x01"
                    "e.")
                .find("needs a mark"),
            std::string::npos);
  EXPECT_NE(trouble("h\x05.").find("did not remember"), std::string::npos);
  EXPECT_NE(trouble("K\x01r\xff\xff\xff\xff.").find("no Python does"), std::string::npos);
  EXPECT_NE(trouble("\x7f").find("unknown instruction 0x7f"), std::string::npos);
  EXPECT_NE(trouble("(K\x01"
                    "d.")
                .find("odd number"),
            std::string::npos);
}

TEST(Pickle, AnAnnouncedLengthTakesNoMemory) {
  EXPECT_NE(trouble(std::string_view("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"
                                     "x",
                                     10))
                .find("ends too early"),
            std::string::npos);
}

}  // namespace
}  // namespace plateau
