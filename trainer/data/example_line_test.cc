// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/example_line.h"

#include <string>

#include "trainer/data/line_for_test.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

TEST(ExampleLine, SimpleFormIsAQuestionWithItsPictureAndAnAnswer) {
  constexpr auto kExpected = "user[image 0, text What?] assistant[text A cat.] <cat.png>";
  EXPECT_EQ(parsed(R"({"text": "What?", "image": "cat.png", "response": "A cat."})"), kExpected);
  EXPECT_EQ(parsed(R"({"output": "A cat.", "id": 7, "image": "cat.png", "text": "What?"})"),
            kExpected);
  EXPECT_EQ(parsed(R"({"text":"What?","image":"cat.png","response":"A cat.","output":"no"})"),
            kExpected);
}

TEST(ExampleLine, FieldNamesMayBeChosen) {
  const DatasetOptions options{.text_field = "question", .image_field = "photo"};
  EXPECT_EQ(parsed(R"({"question": "What?", "photo": "a", "response": "b"})", options),
            "user[image 0, text What?] assistant[text b] <a>");
  EXPECT_EQ(parsed(R"({"text": "What?", "image": "a", "response": "b"})", options),
            R"(error: no field "question", "messages", "conversations", "instruction", "query" or )"
            R"("prompt")");
}

TEST(ExampleLine, SimpleFormTakesSeveralPicturesOrNone) {
  EXPECT_EQ(parsed(R"({"text": "What?", "image": ["a", "b"], "response": "c"})"),
            "user[image 0, image 1, text What?] assistant[text c] <a> <b>");
  EXPECT_EQ(parsed(R"({"text": "What?", "image": null, "response": "c"})"),
            "user[text What?] assistant[text c]");
}

TEST(ExampleLine, MessagesKeepAllTurnsAndPicturesInTheirOrder) {
  EXPECT_EQ(parsed(R"({"messages": [
      {"role": "system", "content": "Be brief."},
      {"role": "user", "content": [{"type": "text", "text": "Compare "},
                                   {"type": "image", "image": "a.png"},
                                   {"type": "text", "text": " with "},
                                   {"type": "image_url", "image_url": {"url": "b.png"}}]},
      {"role": "assistant", "content": [{"type": "text", "text": "Same."}]},
      {"content": [{"image_url": "c.png", "type": "image_url"}], "role": "user"},
      {"role": "assistant", "content": "Other."}]})"),
            "system[text Be brief.] user[text Compare , image 0, text  with , image 1] "
            "assistant[text Same.] user[image 2] assistant[text Other.] <a.png> <b.png> <c.png>");
}

TEST(ExampleLine, FieldsThatAreNullCountAsLeftOut) {
  EXPECT_EQ(parsed(R"({"messages": [
      {"role": "user", "content": [{"type": "text", "text": "Hi", "image": null, "image_url": null},
                                   {"type": "image", "text": null, "image": "a"}]},
      {"role": "assistant", "content": "Ho"}]})"),
            "user[text Hi, image 0] assistant[text Ho] <a>");
}

TEST(ExampleLine, EscapesAreRead) {
  EXPECT_EQ(parsed(R"({"te\u0078t": "\u00e9\n\"", "image": "a\/b", "response": "\ud83d\ude00"})"),
            "user[image 0, text \u00e9\n\"] assistant[text \U0001F600] <a/b>");
}

TEST(ExampleLine, ErrorsSayWhatWasExpected) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"hello", "not JSON"},
      {R"({"text": "a)", "not JSON"},
      {"null", "found null"},
      {R"({"text": "a", "image": nope, "response": "c"})", "not JSON"},
      {R"({"text": "a" "image": 1})", "not JSON"},
      {R"({"text": "a", "image": "b", "response": "c"} {})", "something follows the object"},
      {R"({"text": "a", "image": "b", "response": "\ud800"})", "not JSON"},
      {"{\"text\": \"\xFF\", \"image\": \"b\", \"response\": \"c\"}", "not valid UTF-8"},
      {"[1]", "an object {...} is expected in every line, found a list"},
      {R"("text")", "found a string"},
      {R"({})", R"(no field "text", "messages")"},
      {R"({"text": "a", "response": "c"})", R"(no field "image"; write null)"},
      {R"({"text": "a", "image": "b"})", R"(no field "response")"},
      {R"({"text": 5, "image": "b", "response": "c"})",
       R"("text": a string is expected, found a number)"},
      {R"({"text": "a", "image": 7, "response": "c"})",
       R"("image": a picture or a list of them is expected, found a number)"},
      {R"({"text": "a", "image": "b", "image": "b", "response": "c"})", R"("image" stands twice)"},
      {R"({"text": "a", "image": "b", "response": {"x": 1}})",
       R"("response": a string is expected, found an object)"},
      {R"({"text": "a", "image": "b", "response": " \n"})", "the answer is empty"},
      {R"({"text": "", "image": null, "response": "c"})", "the question is empty"},
      {R"({"text": "a", "text": "b", "image": "b", "response": "c"})", R"("text" stands twice)"},
      {R"({"messages": {}})", R"("messages": a list is expected, found an object)"},
      {R"({"messages": []})", "no message of the assistant"},
      {R"({"messages": [{"role": "user", "content": "a"}]})", "no message of the assistant"},
      {R"({"messages": ["a"]})", "message 1: an object is expected, found a string"},
      {R"({"messages": [{"role": "bot", "content": "a"}]})",
       R"(message 1: role "bot"; system, user or assistant is expected)"},
      {R"({"messages": [{"content": "a"}]})", R"(message 1: no "role")"},
      {R"({"messages": [{"role": "user"}]})", R"(message 1: no "content")"},
      {R"({"messages": [{"role": "user", "content": 1}]})",
       R"(message 1: "content": a string or a list of parts is expected, found a number)"},
      {R"({"messages": [{"role": "user", "content": [{"text": "a"}]}]})",
       R"(message 1, part 1: no "type")"},
      {R"({"messages": [{"role": "user", "content": [{"type": "video", "video": "a"}]}]})",
       R"(message 1, part 1: type "video"; text, image or image_url is expected)"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image"}]}]})",
       "a place (<image>, or a part of type image) for 1 picture, and the line has no picture"},
      {R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": ""}]})",
       "message 2: the answer is empty"},
      {R"({"messages": [{"role": "assistant", "content": [{"type": "image", "image": "a"}]}]})",
       "message 1: a picture in an answer"},
  };
  for (const auto& [line, expected] : cases) {
    const Result<Example> example = parse(line);
    ASSERT_FALSE(example.ok()) << line;
    EXPECT_THAT(example.error().message, HasSubstr(expected)) << line;
  }
}

TEST(ExampleLine, APicturesOwnErrorIsTheLines) {
  const auto refuse = [](std::string_view, size_t) -> Result<PictureSource> {
    return Error{Error::Kind::not_found, "image 1: no file"};
  };
  const Result<Example> example =
      parse_example_line(R"({"text": "a", "image": "b", "response": "c"})", {}, refuse);
  ASSERT_FALSE(example.ok());
  EXPECT_EQ(example.error().message, "image 1: no file");
}

TEST(ExampleLine, APictureOfManyMegabytesIsRead) {
  const std::string image(9'000'000, 'A');
  const Result<Example> example =
      parse(R"({"text": "a", "image": ")" + image + R"(", "response": "c"})");
  ASSERT_TRUE(example.ok());
  EXPECT_EQ(example.value().pictures.at(0).bytes.size(), image.size());
}

}  // namespace
}  // namespace plateau::train
