// SPDX-License-Identifier: Apache-2.0
// The exports against stored pages, and read back: pprof by a decoder of our own, speedscope by
// what its documented format demands. PLATEAU_UPDATE_GOLDEN=1 rewrites the pages.
#include "profile/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/stored_page_for_test.h"
#include "base/testing/gunzipped.h"
#include "base/version.h"

namespace plateau {
namespace {

using Json = nlohmann::json;

ExportProfile example() {
  const FrameName start{.function = "_start", .module = "python3.11", .offset = 0x1000};
  const FrameName train{
      .kind = FrameKind::python, .function = "train", .file = "/job/train.py", .line = 40};
  const FrameName load{
      .kind = FrameKind::python, .function = "Image.load", .file = "/lib/Image.py", .line = 12};
  const FrameName decode{.function = "decode(unsigned char*)",
                         .file = "decode.cc",
                         .line = 7,
                         .module = "_imaging.so",
                         .offset = 0x2345};
  const FrameName grow{.kind = FrameKind::inlined,
                       .function = "grow<int>(int)",
                       .file = "grow.h",
                       .line = 3,
                       .module = "_imaging.so",
                       .offset = 0x2345};
  const FrameName unnamed{.module = "_imaging.so", .offset = 0x999};
  return {
      .name = "train.py, process 4242",
      .stacks = {{.frames = {start, train, load, decode, grow},
                  .bytes = 3.0e9,
                  .blocks = 150,
                  .growth_bytes = 2.5e9},
                 {.frames = {start, train, unnamed}, .bytes = 4096, .blocks = 1},
                 {.frames = {start, train, unnamed}, .bytes = 4096, .blocks = 1},
                 {.frames = {start, train}, .bytes = 1000.4, .blocks = 2.5, .growth_bytes = -300},
                 {.bytes = 77, .blocks = 1}},
      .modules =
          {{.begin = 0x7f0000000000,
            .end = 0x7f0000010000,
            .bias = 0x7f0000000000,
            .path = "/lib/_imaging.so",
            .build_id = "\x01\xab\xff"},
           {.begin = 0x400000, .end = 0x500000, .bias = 0x400000, .path = "/usr/bin/python3.11"}},
      .interval_bytes = 524288};
}

// A message taken apart: values by field number, in order.
struct Message {
  std::map<uint64_t, std::vector<uint64_t>> numbers;
  std::map<uint64_t, std::vector<std::string>> texts;
  bool whole = true;

  [[nodiscard]] uint64_t number(uint64_t name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0 : found->second.front();
  }
  [[nodiscard]] std::vector<std::string> all(uint64_t name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::vector<std::string>{} : found->second;
  }
};

std::optional<uint64_t> take_varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

Message take_apart(std::string_view bytes) {
  Message message;
  while (!bytes.empty()) {
    const auto key = take_varint(bytes);
    const auto value = take_varint(bytes);
    if (!key || !value) return message.whole = false, message;
    if ((*key & 7) == 0) {
      message.numbers[*key >> 3].push_back(*value);
      continue;
    }
    if ((*key & 7) != 2 || *value > bytes.size()) return message.whole = false, message;
    message.texts[*key >> 3].emplace_back(bytes.substr(0, *value));
    bytes.remove_prefix(*value);
  }
  return message;
}

std::vector<uint64_t> unpacked(std::string_view bytes) {
  std::vector<uint64_t> values;
  while (!bytes.empty()) {
    const auto value = take_varint(bytes);
    if (!value) break;
    values.push_back(*value);
  }
  return values;
}

// The profile as text: every sample with its stack, leaf first.
std::string described(const std::string& bytes) {
  const Message profile = take_apart(bytes);
  EXPECT_TRUE(profile.whole);
  const auto texts = profile.all(6);
  EXPECT_EQ(texts.at(0), "");
  std::map<uint64_t, Message> functions;
  std::map<uint64_t, Message> locations;
  std::map<uint64_t, Message> mappings;
  for (const auto& one : profile.all(5)) functions[take_apart(one).number(1)] = take_apart(one);
  for (const auto& one : profile.all(4)) locations[take_apart(one).number(1)] = take_apart(one);
  for (const auto& one : profile.all(3)) mappings[take_apart(one).number(1)] = take_apart(one);
  std::string page;
  for (const auto& one : profile.all(1)) {
    const Message type = take_apart(one);
    page += "type " + texts.at(type.number(1)) + "/" + texts.at(type.number(2)) + "\n";
  }
  page += "default " + texts.at(profile.number(14)) + "\n";
  page += "comment " + texts.at(profile.number(13)) + "\n";
  page += "period " + std::to_string(profile.number(12)) + "\n";
  for (const auto& [id, mapping] : mappings) {
    page += "mapping " + std::to_string(id) + " " + texts.at(mapping.number(5)) + " build id " +
            texts.at(mapping.number(6)) + " " + std::to_string(mapping.number(2)) + "-" +
            std::to_string(mapping.number(3)) + "\n";
  }
  for (const auto& one : profile.all(2)) {
    const Message sample = take_apart(one);
    page += "sample";
    for (const uint64_t value : unpacked(sample.all(2).at(0))) {
      page += " " + std::to_string(static_cast<int64_t>(value));
    }
    page += "\n";
    for (const uint64_t id : unpacked(sample.all(1).at(0))) {
      const Message& location = locations.at(id);
      page += "  at " + std::to_string(location.number(3)) + " in mapping " +
              std::to_string(location.number(2)) + "\n";
      for (const auto& text : location.all(4)) {
        const Message line = take_apart(text);
        const Message& function = functions.at(line.number(1));
        page += "    " + texts.at(function.number(2)) + " " + texts.at(function.number(4)) + ":" +
                std::to_string(line.number(2)) + "\n";
      }
    }
  }
  return page;
}

TEST(ExportFolded, LooksAsStored) {
  expect_stored_page("export/heap.folded", export_folded(example()));
}

TEST(ExportFolded, SeparatorsInsideNamesCannotSplitAStack) {
  ExportProfile profile;
  profile.stacks = {{.frames = {{.function = "a;b\nc"}, {.function = "d\te"}}, .bytes = 5}};

  EXPECT_EQ(export_folded(profile), "a:b c;d e 5\n");
}

TEST(ExportPprof, LooksAsStoredWhenReadBack) {
  const std::string packed = export_pprof(example());

  EXPECT_EQ(packed.substr(0, 2), "\x1f\x8b");
  expect_stored_page("export/heap.pprof.txt", described(*gunzipped(packed)));
}

TEST(ExportPprof, InlinedCallsShareOneLocation) {
  const std::string page = described(*gunzipped(export_pprof(example())));

  EXPECT_THAT(page, ::testing::HasSubstr("in mapping 2\n    grow<int>(int) grow.h:3\n"
                                         "    decode(unsigned char*) decode.cc:7\n"));
}

TEST(ExportPprof, EmptyProfileIsStillAProfile) {
  const Message profile = take_apart(*gunzipped(export_pprof({})));

  EXPECT_TRUE(profile.whole);
  EXPECT_EQ(profile.all(1).size(), 3u);
  EXPECT_TRUE(profile.all(2).empty());
}

TEST(ExportPprof, BytesThatAreNoTextBecomeText) {
  ExportProfile profile;
  profile.stacks = {{.frames = {{.function = "a\xff"}}, .bytes = 1}};

  EXPECT_THAT(*gunzipped(export_pprof(profile)), ::testing::HasSubstr("a\xef\xbf\xbd"));
}

TEST(ExportSpeedscope, LooksAsStored) {
  // The stored page is of no version.
  std::string text = export_speedscope(example()) + "\n";
  text.replace(text.find(version()), version().size(), "VERSION");
  expect_stored_page("export/heap.speedscope.json", text);
}

// What https://www.speedscope.app/file-format-schema.json asks of a sampled profile.
void expect_valid(const Json& file) {
  EXPECT_EQ(file.at("$schema"), "https://www.speedscope.app/file-format-schema.json");
  const size_t frames = file.at("shared").at("frames").size();
  for (const Json& frame : file.at("shared").at("frames")) {
    EXPECT_TRUE(frame.at("name").is_string());
    EXPECT_TRUE(frame.value("file", Json("")).is_string());
    EXPECT_TRUE(frame.value("line", Json(0)).is_number_integer());
  }
  EXPECT_LT(file.at("activeProfileIndex").get<size_t>(), file.at("profiles").size());
  for (const Json& profile : file.at("profiles")) {
    EXPECT_EQ(profile.at("type"), "sampled");
    EXPECT_TRUE(profile.at("name").is_string());
    EXPECT_EQ(profile.at("unit"), "bytes");
    EXPECT_EQ(profile.at("samples").size(), profile.at("weights").size());
    double total = 0;
    for (const Json& weight : profile.at("weights")) total += weight.get<double>();
    EXPECT_DOUBLE_EQ(profile.at("endValue").get<double>() - profile.at("startValue").get<double>(),
                     total);
    for (const Json& sample : profile.at("samples")) {
      EXPECT_FALSE(sample.empty());
      for (const Json& index : sample) EXPECT_LT(index.get<size_t>(), frames);
    }
  }
}

TEST(ExportSpeedscope, IsWhatTheFileFormatAsksFor) {
  const Json file = Json::parse(export_speedscope(example()));

  expect_valid(file);
  EXPECT_EQ(file.at("profiles").size(), 2u);
  // Root first.
  const Json& sample = file.at("profiles")[0].at("samples")[0];
  EXPECT_EQ(file.at("shared").at("frames")[sample[0].get<size_t>()].at("name"),
            "_start [python3.11]");
  expect_valid(Json::parse(export_speedscope({})));
}

TEST(ExportSpeedscope, AnyBytesInNamesGiveValidJson) {
  ExportProfile profile{.name = "\xff\"\n"};
  profile.stacks = {{.frames = {{.function = "\x80\x01;\\", .file = "\xc3"}}, .bytes = 1}};

  expect_valid(Json::parse(export_speedscope(profile)));
}

}  // namespace
}  // namespace plateau
