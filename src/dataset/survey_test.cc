// SPDX-License-Identifier: Apache-2.0
#include "dataset/survey.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "dataset/csv_records.h"
#include "dataset/picture_file.h"
#include "dataset/picture_fit.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string four(uint32_t value) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift);
  return out;
}

std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return four(static_cast<uint32_t>(data.size())) + body + four(static_cast<uint32_t>(sum));
}

std::string png(uint32_t width, uint32_t height) {
  return std::string("\x89PNG\r\n\x1a\n") +
         chunk("IHDR", four(width) + four(height) + std::string("\x08\x02\0\0\0", 5)) +
         chunk("IDAT", "xxxx") + chunk("IEND", "");
}

// Start, frame of 48 x 32, scan with a stuffed byte and a restart, end.
std::string jpeg() {
  return std::string("\xFF\xD8\xFF\xC0\x00\x0B\x08\x00\x20\x00\x30\x01\x01\x11\x00", 15) +
         std::string("\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00", 10) +
         std::string(
             "ab\xFF\x00"
             "cd\xFF\xD0"
             "ef",
             10) +
         "\xFF\xD9";
}

class SurveyTest : public testing::Test {
 protected:
  SurveyTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("survey." + std::to_string(getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~SurveyTest() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return (directory_ / name).string();
  }
  static Survey survey(const std::string& path,
                       const SurveyOptions& options = {.reads_whole_pictures = true}) {
    Result<Survey> found = survey_dataset(path, options);
    EXPECT_TRUE(found.ok()) << (found ? "" : found.error().message);
    return found ? std::move(found.value()) : Survey();
  }
  static size_t count(const Survey& survey, DataProblem problem) {
    return survey.counts.at(static_cast<size_t>(problem));
  }

  std::filesystem::path directory_;
};

TEST(PictureFacts, EachFormatGivesItsSize) {
  EXPECT_EQ(picture_facts(png(640, 480), true).value().width, 640);
  EXPECT_EQ(picture_facts(jpeg(), true).value().height, 32);
  EXPECT_EQ(picture_facts(jpeg(), true).value().width, 48);
  const std::string gif = std::string("GIF89a\x10\x00\x20\x00\x00\x00\x00", 13) + ";";
  EXPECT_EQ(picture_facts(gif, true).value().height, 32);
}

TEST(PictureFacts, WhatIsCutOffIsNoticedAtEveryByte) {
  for (const std::string& whole : {png(8, 8), jpeg()}) {
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_FALSE(picture_facts(std::string_view(whole).substr(0, bytes), true).ok()) << bytes;
    }
  }
  std::string flipped = png(8, 8);
  flipped[flipped.size() - 18] ^= 1;
  EXPECT_EQ(picture_facts(flipped, true).error().message, "a chunk's checksum is wrong");
  EXPECT_FALSE(picture_facts(png(0, 8), false).ok());
  EXPECT_FALSE(picture_facts("hello", true).ok());
}

TEST(PictureCost, IsThatOfQwensPreprocessor) {
  VisionShape vision;
  vision.patch = 14;
  vision.merge = 2;
  vision.is_resized_by_pixels = true;
  const PictureCost plain = picture_cost(vision, {}, 1000, 1000);
  EXPECT_EQ(plain.pixels, 1008 * 1008);
  EXPECT_EQ(plain.patches, 5184);
  EXPECT_EQ(plain.tokens, 1296);
  EXPECT_LE(picture_cost(vision, {}, 10'000, 8'000).pixels, 12'845'056);
  EXPECT_GE(picture_cost(vision, {}, 10, 10).pixels, 3136);
}

TEST(Records, CsvFieldsMayHoldLinesAndQuotes) {
  std::vector<std::string> rows;
  const Result<void> done = each_csv_row("prompt,completion\n\"a\nb\",\"say \"\"hi\"\"\"\nc,d\n",
                                         ',', [&](size_t line, const Result<std::string>& json) {
                                           rows.push_back(std::to_string(line) + json.value());
                                           return true;
                                         });
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(rows, ElementsAre(R"(2{"prompt":"a\nb","completion":"say \"hi\""})",
                                R"(4{"prompt":"c","completion":"d"})"));
  std::string complaint;
  EXPECT_TRUE(each_csv_row("a,b\n1\n3,4\n", ',', [&](size_t line, const Result<std::string>& json) {
                complaint +=
                    std::to_string(line) + (json ? json.value() : ": " + json.error().message);
                return true;
              }).ok());
  EXPECT_EQ(complaint,
            "2: 2 fields are expected, as in the header, found 13{\"a\":\"3\",\"b\":\"4\"}");
  EXPECT_FALSE(each_csv_row("a,b\n\"1,2\n", ',', [](size_t, const Result<std::string>&) {
                 return true;
               }).ok());
}

TEST_F(SurveyTest, FindsEveryKindOfProblem) {
  write("good.png", png(1000, 1000));
  write("cut.png", png(8, 8).substr(0, 40));
  const std::string file = write(
      "train.jsonl",
      R"({"messages": [{"role": "user", "content": "<image>?"}, {"role": "assistant", "content": "yes"}], "images": ["good.png"]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "<image>?"}, {"role": "assistant", "content": "no"}], "images": ["cut.png"]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "<image>?"}, {"role": "assistant", "content": "a"}], "images": ["gone.png"]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "two?"}, {"role": "assistant", "content": "b"}], "images": ["good.png"]})"
      "\n"
      R"({"messages": [{"role": "user", "content": "hm"}, {"role": "assistant", "content": " "}]})"
      "\n"
      "not json\n\n"
      R"({"messages": [{"role": "user", "content": "hm"}, {"role": "assistant", "content": " "}]})");
  const Survey found = survey(file);
  EXPECT_EQ(found.examples, 6u);
  EXPECT_EQ(count(found, DataProblem::unreadable), 1u);
  EXPECT_EQ(count(found, DataProblem::broken_picture), 1u);
  EXPECT_EQ(count(found, DataProblem::missing_picture), 1u);
  EXPECT_EQ(count(found, DataProblem::wrong_count), 1u);
  EXPECT_EQ(count(found, DataProblem::nothing_learned), 2u);
  EXPECT_EQ(found.duplicates, 1u);
  EXPECT_EQ(found.largest_decoded, 3'000'000);
  EXPECT_FALSE(found.is_clean());
  EXPECT_EQ(found.problems[0].where, "train.jsonl line 2");
}

TEST_F(SurveyTest, AMaximumLengthThatEatsTheAnswerIsAProblem) {
  const std::string long_prompt(4000, 'x');
  const std::string file =
      write("a.json", R"([{"prompt": ")" + long_prompt +
                          R"(", "completion": "yes"}, {"prompt": "a", "completion": "b"}])");
  const Survey found = survey(file, {.max_length = 512});
  EXPECT_EQ(found.truncated, 1u);
  EXPECT_EQ(count(found, DataProblem::label_cut_off), 1u);
}

TEST_F(SurveyTest, RefusedFormatsSayHowToConvert) {
  EXPECT_THAT(survey_dataset(write("a.parquet", "PAR1...."), {}).error().message,
              HasSubstr("iter_batches"));
  EXPECT_THAT(survey_dataset(write("b.jsonl", ""), {}).error().message, HasSubstr("empty"));
  EXPECT_THAT(survey_dataset(write("c.jsonl", "\x1f\x8b..."), {}).error().message,
              HasSubstr("compressed"));
  EXPECT_THAT(survey_dataset(write("d.jsonl", "{\"a\": 1}\n"), {}).error().message,
              HasSubstr("not one example"));
  EXPECT_THAT(survey_dataset((directory_ / "none").string(), {}).error().message,
              HasSubstr("No such file"));
}

TEST_F(SurveyTest, PipesAndDevicesHoldNobodyUp) {
  ASSERT_EQ(mkfifo((directory_ / "pipe.jsonl").c_str(), 0600), 0);
  EXPECT_THAT(survey_dataset((directory_ / "pipe.jsonl").string(), {}).error().message,
              HasSubstr("not a file"));
  EXPECT_EQ(look_at_picture("/dev/zero", "", true).state, PictureLook::State::broken);
  EXPECT_EQ(look_at_picture("https://example.org/a.png", "", true).state,
            PictureLook::State::remote);
}

TEST(EpochSteps, AreTrainersOwn) {
  EXPECT_EQ(epoch_steps(663, 2, 8, 1), 42);
  EXPECT_EQ(epoch_steps(10, 4, 1, 2), 2);
  EXPECT_EQ(epoch_steps(0, 4, 1, 2), 0);
}

}  // namespace
}  // namespace plateau
