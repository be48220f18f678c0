// SPDX-License-Identifier: Apache-2.0
#include "trainer/store/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <csignal>
#include <numeric>

#include <sys/resource.h>

#include "trainer/store/test_files.h"

namespace plateau::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(std::string_view bytes) {
  const auto header = parse_safetensors(bytes_of_text(bytes), "w.safetensors");
  return header.ok() ? "" : header.error().message;
}

std::string error_of(std::string_view json, size_t data_bytes) {
  return error_of(safetensors_bytes(json, data_bytes));
}

constexpr std::string_view kTwo =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2,2],"data_offsets":[4,20]},)"
    R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}   )";

TEST(SafetensorsHeader, TensorsComeInTheOrderOfTheirData) {
  const std::string bytes = safetensors_bytes(kTwo, 20);
  const auto header = parse_safetensors(bytes_of_text(bytes), "w");
  ASSERT_TRUE(header.ok()) << header.error().message;
  ASSERT_EQ(header.value().tensors.size(), 2U);
  const TensorView& a = header.value().tensors[0];
  const TensorView& b = header.value().tensors[1];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.dtype, DType::u8);
  EXPECT_THAT(a.shape, ElementsAre(4));
  EXPECT_THAT(a.bytes, ElementsAre(std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}));
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.elements(), 4);
  EXPECT_EQ(b.bytes.size(), 16U);
  EXPECT_EQ(b.bytes[0], std::byte{4});
  EXPECT_EQ(header.value().metadata.at("format"), "pt");
}

TEST(SafetensorsHeader, ScalarsAndEmptyTensorsAreFine) {
  EXPECT_EQ(error_of(R"({"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                     R"("e":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},)"
                     R"("z":{"dtype":"F32","shape":[3,0],"data_offsets":[8,8]}})",
                     8),
            "");
  EXPECT_EQ(error_of("{}", 0), "");
}

TEST(SafetensorsHeader, EveryTypeHasItsSize) {
  for (const char* spelling : {"BOOL", "U8", "I8", "I16", "U16", "F16", "BF16", "I32", "U32", "F32",
                               "F64", "I64", "U64"}) {
    size_t bytes = 1;
    if (std::string_view(spelling).ends_with("16")) bytes = 2;
    if (std::string_view(spelling).ends_with("32")) bytes = 4;
    if (std::string_view(spelling).ends_with("64")) bytes = 8;
    const std::string json = fmt::format(
        R"({{"t":{{"dtype":"{}","shape":[3],"data_offsets":[0,{}]}}}})", spelling, 3 * bytes);
    const std::string file = safetensors_bytes(json, 3 * bytes);
    const auto header = parse_safetensors(bytes_of_text(file), "w");
    ASSERT_TRUE(header.ok()) << header.error().message;
    EXPECT_EQ(name_of(header.value().tensors[0].dtype), spelling);
    EXPECT_EQ(bytes_of(header.value().tensors[0].dtype), bytes);
  }
}

TEST(SafetensorsHeader, FilesThatAreNotSafetensorsAreToldSo) {
  EXPECT_THAT(error_of("abc"), HasSubstr("w.safetensors: 3 bytes are too few"));
  EXPECT_THAT(error_of("PK\x03\x04 a zip archive"), HasSubstr("no safetensors file"));
  EXPECT_THAT(error_of(std::string(8, '\0')), HasSubstr("does not begin with {"));
  EXPECT_THAT(error_of(std::string("\x09\0\0\0\0\0\0\0{}", 10)), HasSubstr("cut short"));
  EXPECT_THAT(error_of(std::string(8, '\xff') + "{}"), HasSubstr("18446744073709551615 bytes"));
  EXPECT_THAT(error_of("[]", 0), HasSubstr("does not begin with {"));
  EXPECT_THAT(error_of("{\"a\":", 0), HasSubstr("not JSON"));
  EXPECT_THAT(error_of("{\"\xff\":1}", 0), HasSubstr("not JSON"));
}

TEST(SafetensorsHeader, HolesOverlapsAndLeftoversAreErrors) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5),
              HasSubstr("\"a\" begins at byte 1 of the data, expected 0"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
                       7),
              HasSubstr("\"b\" begins at byte 3 of the data, expected 4"));
  EXPECT_THAT(error_of(kTwo, 21), HasSubstr("the tensors fill 20 bytes, the data has 21"));
  EXPECT_THAT(error_of(kTwo, 19), HasSubstr("cut short"));
}

TEST(SafetensorsHeader, ClaimsThatOverflowAreErrors) {
  const auto with = [](std::string_view shape, std::string_view offsets) {
    return error_of(
        fmt::format(R"({{"a":{{"dtype":"F32","shape":{},"data_offsets":{}}}}})", shape, offsets),
        0);
  };
  EXPECT_THAT(with("[4294967296,4294967296]", "[0,0]"), HasSubstr("too large for any file"));
  EXPECT_THAT(with("[0,9223372036854775807,9223372036854775807]", "[0,0]"),
              HasSubstr("too large for any file"));
  EXPECT_THAT(with("[9223372036854775808]", "[0,0]"), HasSubstr("dimension"));
  EXPECT_THAT(with("[-1]", "[0,0]"), HasSubstr("dimension"));
  EXPECT_THAT(with("[1.5]", "[0,0]"), HasSubstr("dimension"));
  EXPECT_THAT(with("[1]", "[4,0]"), HasSubstr("ends before it begins"));
  EXPECT_THAT(with("[1]", "[0,18446744073709551615]"), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(with("[1]", "[0,4]"), HasSubstr("cut short"));
  EXPECT_THAT(with("[1]", "[-4,0]"), HasSubstr("data_offsets"));
  EXPECT_THAT(with("[1]", "[0,4,8]"), HasSubstr("data_offsets"));
  EXPECT_THAT(with("7", "[0,4]"), HasSubstr("shape"));
}

TEST(SafetensorsHeader, OddEntriesAreErrors) {
  EXPECT_THAT(error_of(R"({"a":3})", 0), HasSubstr("not an object"));
  EXPECT_THAT(error_of(R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4), HasSubstr("dtype"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", 4),
              HasSubstr("dtype \"F8_E4M3\" is not supported"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                       R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                       0),
              HasSubstr("\"a\" stands twice"));
  EXPECT_THAT(error_of(R"({"__metadata__":{"a":1}})", 0), HasSubstr("\"a\" is not a string"));
  EXPECT_THAT(error_of(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__"));
}

TEST(SafetensorsFile, WhatIsWrittenIsRead) {
  rc::check([] {
    const ScratchDirectory directory;
    const auto count = *rc::gen::inRange<size_t>(0, 6);
    std::vector<std::vector<uint8_t>> data(count);
    std::vector<TensorView> tensors;
    for (size_t i = 0; i < count; ++i) {
      const auto dtype = static_cast<DType>(*rc::gen::inRange(0, 13));
      std::vector<int64_t> shape(*rc::gen::inRange<size_t>(0, 4));
      for (int64_t& size : shape) size = *rc::gen::inRange<int64_t>(0, 5);
      TensorView view{.name = fmt::format("t\"{}\n\u00e4", i), .dtype = dtype, .shape = shape};
      data[i].resize(static_cast<size_t>(view.elements()) * bytes_of(dtype), 1);
      std::iota(data[i].begin(), data[i].end(), static_cast<uint8_t>(i));
      view.bytes = std::as_bytes(std::span(data[i]));
      tensors.push_back(view);
    }
    const Metadata metadata{{"format", "pt"}, {"a \"b\"", "\t"}};
    const auto path = directory.path() / "w.safetensors";
    RC_ASSERT(write_safetensors(path, tensors, metadata).ok());
    const auto file = SafetensorsFile::open(path);
    RC_ASSERT(file.ok());
    RC_ASSERT(file.value().metadata() == metadata);
    RC_ASSERT(file.value().tensors().size() == count);
    for (const TensorView& tensor : tensors) {
      const TensorView* read = file.value().find(tensor.name);
      RC_ASSERT(read != nullptr && read->dtype == tensor.dtype && read->shape == tensor.shape);
      RC_ASSERT(std::equal(read->bytes.begin(), read->bytes.end(), tensor.bytes.begin(),
                           tensor.bytes.end()));
    }
    RC_ASSERT(directory.entries() == 1U);
  });
}

TEST(SafetensorsFile, DataBeginsAtAMultipleOfEight) {
  const ScratchDirectory directory;
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    const std::vector<double> values{1};
    const auto path = directory.path() / "w.safetensors";
    ASSERT_TRUE(write_safetensors(path, {test_tensor(name, DType::f64, {1}, values)}, {}).ok());
    EXPECT_EQ(std::filesystem::file_size(path) % 8, 0U);
  }
}

TEST(SafetensorsFile, IsFoundByNameAfterAMove) {
  const ScratchDirectory directory;
  const auto path = directory.write("w.safetensors", safetensors_bytes(kTwo, 20));
  auto opened = SafetensorsFile::open(path);
  ASSERT_TRUE(opened.ok());
  const SafetensorsFile file = std::move(opened.value());
  ASSERT_NE(file.find("b"), nullptr);
  EXPECT_EQ(file.find("b")->bytes[15], std::byte{19});
  EXPECT_EQ(file.find("c"), nullptr);
  EXPECT_EQ(file.path(), path);
}

TEST(SafetensorsFile, WhatCannotBeOpenedIsNamed) {
  const ScratchDirectory directory;
  const auto message = [](const std::filesystem::path& path) {
    return SafetensorsFile::open(path).error().message;
  };
  EXPECT_THAT(message(directory.path() / "none"), HasSubstr("none: No such file"));
  EXPECT_THAT(message(directory.path()), HasSubstr("not a file"));
  EXPECT_THAT(message(directory.write("empty", "")), HasSubstr("an empty file"));
}

TEST(SafetensorsWriter, ChecksWhatItIsGiven) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "w.safetensors";
  const std::vector<uint8_t> bytes(4);
  {
    auto writer =
        SafetensorsWriter::create(path, {{"a", DType::u8, {4}}, {"b", DType::u8, {4}}}, {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer.value().add(std::as_bytes(std::span(bytes))).ok());
    EXPECT_THAT(writer.value().finish().error().message, HasSubstr("1 tensors of 2"));
    EXPECT_EQ(directory.entries(), 0U);
  }
  {
    auto writer = SafetensorsWriter::create(path, {{"a", DType::u8, {5}}}, {});
    EXPECT_THAT(writer.value().add(std::as_bytes(std::span(bytes))).error().message,
                HasSubstr("\"a\" has 4 bytes, announced were 5"));
    EXPECT_FALSE(writer.value().finish().ok());
  }
  EXPECT_FALSE(SafetensorsWriter::create(path, {{"a", DType::u8, {-1}}}, {}).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path, {{"a", DType::u8, {1}}, {"a", DType::u8, {1}}}, {}).ok());
  EXPECT_FALSE(SafetensorsWriter::create(path, {{"__metadata__", DType::u8, {1}}}, {}).ok());
  EXPECT_FALSE(SafetensorsWriter::create(path, {{"\xff", DType::u8, {1}}}, {}).ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(path, {{"a", DType::f64, {1LL << 40, 1LL << 30}}}, {}).ok());
  EXPECT_THAT(SafetensorsWriter::create("/nonexistent/w", {}, {}).error().message,
              HasSubstr("/nonexistent/w: cannot be written"));
  EXPECT_EQ(directory.entries(), 0U);
}

TEST(SafetensorsWriter, UnfinishedLeavesTheOldFileAndNothingElse) {
  const ScratchDirectory directory;
  const auto path = directory.write("w.safetensors", "old");
  {
    auto writer = SafetensorsWriter::create(path, {{"a", DType::u8, {4}}}, {});
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(directory.entries(), 2U);
  }
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
}

// A limit on the size of files stands in for a full disk: the same system calls fail.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(SafetensorsWriter, AFullDiskIsKnownBeforeTheFirstByteAndLeavesNothing) {
  const ScratchDirectory directory;
  const auto path = directory.write("w.safetensors", "old");
  const FileSizeLimit limit(4096);
  const auto writer = SafetensorsWriter::create(path, {{"a", DType::u8, {100000}}}, {});
  ASSERT_FALSE(writer.ok());
  EXPECT_THAT(writer.error().message, HasSubstr("w.safetensors: "));
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
}

TEST(SafetensorsWriter, ADiskThatFillsMeanwhileIsAnErrorAndLeavesTheOldFile) {
  const ScratchDirectory directory;
  const auto path = directory.write("w.safetensors", "old");
  auto writer = SafetensorsWriter::create(path, {{"a", DType::u8, {100000}}}, {});
  ASSERT_TRUE(writer.ok());
  const std::vector<uint8_t> bytes(100000);
  const FileSizeLimit limit(4096);
  const auto added = writer.value().add(std::as_bytes(std::span(bytes)));
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().message, HasSubstr("w.safetensors: writing failed: File too large"));
  EXPECT_EQ(writer.value().finish().error().message, added.error().message);
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_EQ(std::filesystem::file_size(path), 3U);
}

TEST(SafetensorsWriter, ANameThatIsADirectoryIsAnError) {
  const ScratchDirectory directory;
  const auto path = directory.path() / "taken";
  std::filesystem::create_directory(path);
  EXPECT_THAT(write_safetensors(path, {}, {}).error().message, HasSubstr("cannot take its name"));
  EXPECT_EQ(directory.entries(), 1U);
}

}  // namespace
}  // namespace plateau::train
