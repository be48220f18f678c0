// SPDX-License-Identifier: Apache-2.0
// The forms that others document: ShareGPT, LLaVA, LLaMA-Factory, ms-swift, TRL, Unsloth, axolotl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trainer/data/line_for_test.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

TEST(DatasetForms, PicturesBesideTheMessagesGoWhereTheTextSaysImage) {
  // LLaMA-Factory and ms-swift.
  EXPECT_EQ(parsed(R"({"messages": [
      {"role": "user", "content": "<image>Who is it, and <image>who here?"},
      {"role": "assistant", "content": "Ann."}], "images": ["a.png", "b.png"]})"),
            "user[image 0, text Who is it, and , image 1, text who here?] assistant[text Ann.] "
            "<a.png> <b.png>");
  // The field may come first.
  EXPECT_EQ(parsed(R"({"images": ["a.png"], "messages": [
      {"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Ann."},
      {"role": "user", "content": "And <image>"}, {"role": "assistant", "content": "Bob."}]})"),
            "user[text Who?] assistant[text Ann.] user[text And , image 0] assistant[text Bob.] "
            "<a.png>");
}

TEST(DatasetForms, WithoutAMarkPicturesGoBeforeTheFirstQuestion) {
  EXPECT_EQ(parsed(R"({"images": ["a", "b"], "messages": [
      {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"},
      {"role": "assistant", "content": "Ann."}]})"),
            "system[text Be brief.] user[image 0, image 1, text Who?] assistant[text Ann.] "
            "<a> <b>");
}

TEST(DatasetForms, ShareGptAndLlava) {
  EXPECT_EQ(parsed(R"({"id": "7", "image": "coco/7.jpg", "conversations": [
      {"from": "human", "value": "<image>\nWhat?"}, {"from": "gpt", "value": "A bus."}]})"),
            "user[image 0, text \nWhat?] assistant[text A bus.] <coco/7.jpg>");
  EXPECT_EQ(parsed(R"({"system": "Be brief.", "tools": "", "conversations": [
      {"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]})"),
            "system[text Be brief.] user[text Hi] assistant[text Ho]");
}

TEST(DatasetForms, LlamaFactoryAlpaca) {
  EXPECT_EQ(parsed(R"({"instruction": "<image>Translate.", "input": "le chat", "output": "the cat",
                       "system": "S", "history": [["q", "a"]], "images": ["a"]})"),
            "system[text S] user[text q] assistant[text a] user[image 0, text Translate.\nle chat] "
            "assistant[text the cat] <a>");
}

TEST(DatasetForms, MsSwiftQuery) {
  EXPECT_EQ(parsed(R"({"query": "<image>What?", "response": "A cat.", "images": ["a"]})"),
            "user[image 0, text What?] assistant[text A cat.] <a>");
  EXPECT_EQ(parsed(R"({"messages": [{"role": "user", "content": "<image>?"},
      {"role": "assistant", "content": "x", "loss": true}],
      "images": [{"bytes": null, "path": "a"}], "videos": []})"),
            "user[image 0, text ?] assistant[text x] <a>");
}

TEST(DatasetForms, TrlPartsThatNameNoPictureTakeThoseBeside) {
  EXPECT_EQ(parsed(R"({"images": ["a", "b"], "messages": [
      {"role": "user", "content": [{"type": "image", "text": null}, {"type": "text", "text": "or"},
                                   {"type": "image"}]},
      {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]})"),
            "user[image 0, text or, image 1] assistant[text a] <a> <b>");
  EXPECT_EQ(parsed(R"({"images": ["a"], "prompt": [{"role": "user", "content": "What?"}],
                       "completion": [{"role": "assistant", "content": "A cat."}]})"),
            "user[image 0, text What?] assistant[text A cat.] <a>");
  EXPECT_EQ(parsed(R"({"prompt": "2 + 2 =", "completion": " 4"})"),
            "user[text 2 + 2 =] assistant[text  4]");
}

TEST(DatasetForms, AxolotlAndUnslothPartsNameTheirPictures) {
  EXPECT_EQ(parsed(R"({"messages": [{"role": "user", "content": [
      {"type": "image", "path": "a"}, {"type": "image", "base64": "b"}, {"type": "image", "url": "c"},
      {"type": "image", "image": {"bytes": "d", "path": null}}, {"type": "text", "text": "?"}]},
      {"role": "assistant", "content": [{"type": "text", "text": "!"}]}]})"),
            "user[image 0, image 1, image 2, image 3, text ?] assistant[text !] <a> <b> <c> <d>");
}

TEST(DatasetForms, PicturesBesideMessagesWinOverTheFieldsOfTheSimpleForm) {
  EXPECT_EQ(parsed(R"({"text": "x", "image": "a", "response": "y", "messages": [
      {"role": "user", "content": "q"}, {"role": "assistant", "content": "z"}]})"),
            "user[image 0, text q] assistant[text z] <a>");
}

TEST(DatasetForms, AnAnswerMaySpeakOfImageWhereNoPictureStandsBeside) {
  EXPECT_EQ(parsed(R"({"messages": [{"role": "user", "content": "Which tag?"},
                                    {"role": "assistant", "content": "<image>"}]})"),
            "user[text Which tag?] assistant[text <image>]");
}

TEST(DatasetForms, ATextWhosePicturesWouldBeIgnoredIsRefused) {
  const std::string turns =
      R"("messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}])";
  const auto asked = [](const std::string& question, const std::string& more = "") {
    return R"({"messages": [{"role": "user", "content": ")" + question +
           R"("}, {"role": "assistant", "content": "A"}])" + more + "}";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {asked("<image>?"), R"(for 1 picture, and the line has no picture for it: "images" is)"},
      {asked("<image><image>?", R"(, "images": ["a"])"),
       R"(for 2 pictures, and "images" has 1 picture: as many are expected)"},
      {asked("<image>?", R"(, "images": ["a", "b"])"), R"("images" has 2 pictures)"},
      {asked("<|vision_start|><|image_pad|><|vision_end|>?", R"(, "images": ["a"])"),
       "the text has <|image_pad|>, which the chat template adds; write <image>"},
      {asked("<img>a.png</img>?"), "<img>...</img>, which is not read"},
      {"{" + turns + R"(, "photo": "cats/7.JPG"})",
       R"("photo" looks like a picture and is not read; "image" or "images" is expected, or )"
       "--image-field photo"},
      {"{" + turns + R"(, "videos": ["a.mp4"]})", R"("videos": only text and pictures)"},
      {"{" + turns + R"(, "image": "a", "images": ["b"]})",
       R"(pictures stand in "image" and in "images")"},
      {"{" + turns + R"(, "images": [null]})", R"("images": a picture is expected, found null)"},
      {R"({"images": ["a"], "messages": [{"role": "user", "content": [
          {"type": "image", "image": "a"}]}, {"role": "assistant", "content": "A"}]})",
       R"("images" has 1 picture, and the messages name theirs themselves)"},
      {R"({"images": ["a"], "messages": [{"role": "assistant", "content": "A"}]})",
       "there is no message of the user to put it in"},
      {R"({"images": ["a"], "messages": [{"role": "user", "content": "Q"},
          {"role": "assistant", "content": "<image>"}]})",
       "message 2: a picture in an answer"},
      {R"({"text": "<image><image>", "image": "a", "response": "c"})",
       R"(for 2 pictures, and "image" has 1 picture)"},
  };
  for (const auto& [line, expected] : cases) {
    EXPECT_THAT(parsed(line), testing::StartsWith("error: ")) << line;
    EXPECT_THAT(parsed(line), HasSubstr(expected)) << line;
  }
}

TEST(DatasetForms, WhatWouldBeTrainedDifferentlyIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"messages": [{"role": "user", "content": "Q"}], "tools": [{"name": "t"}]})",
       R"("tools": calls of tools are not supported)"},
      {R"({"messages": [{"role": "tool", "content": "Q"}]})", R"(role "tool"; system, user or)"},
      {R"({"conversations": [{"from": "function_call", "value": "Q"}]})",
       R"(role "function_call")"},
      {R"({"messages": [{"role": "assistant", "content": "A", "loss": false}]})",
       R"(message 1: "loss" is off; every answer is learned here)"},
      {R"({"messages": [{"role": "assistant", "content": "A", "weight": 0}]})",
       R"("weight" is off)"},
      {R"({"messages": [{"role": "assistant", "content": "A"}], "rejected_response": "B"})",
       R"("rejected_response": pairs of a better and a worse answer are not supported)"},
      {R"({"system": "a", "messages": [{"role": "system", "content": "b"},
           {"role": "assistant", "content": "A"}]})",
       R"("system" stands beside the messages and among them)"},
      {R"({"instruction": "a", "output": "b", "history": [["q"]]})",
       R"("history" 1: a question and an answer are expected)"},
      {R"({"query": "a", "prompt": "b", "response": "c"})", R"("prompt" stands twice)"},
  };
  for (const auto& [line, expected] : cases) {
    EXPECT_THAT(parsed(line), HasSubstr(expected)) << line;
  }
}

}  // namespace
}  // namespace plateau::train
