// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/json_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace plateau::train {
namespace {

// A letter per byte: s structure, k key, l literal, n number, v value of a string.
std::string classes(std::string_view text) {
  const auto spans = json_spans(text);
  if (!spans) return "none";
  std::string out;
  for (const JsonSpan& span : *spans) {
    out.append(span.end - span.begin, "sklnv"[static_cast<size_t>(span.kind)]);
  }
  return out;
}

TEST(JsonSpans, EveryByteHasAClass) {
  EXPECT_EQ(classes(R"({"a":"b"})"), "ssksssvss");
  EXPECT_EQ(classes(R"( [1, -2.5e3 ,true,null,""] )"), "ssnssnnnnnnssllllsllllsssss");
  EXPECT_EQ(classes("{}"), "ss");
  EXPECT_EQ(classes("[[],{}]\n"), "ssssssss");
}

TEST(JsonSpans, WhatLooksLikeAKeyInAStringIsAString) {
  EXPECT_EQ(classes(R"(["a\": 1"])"), "ssvvvvvvss");
  EXPECT_EQ(classes(R"({"\u00e9":1})"), "sskkkkkkssns");
}

TEST(JsonSpans, OnlyADocumentHasStructure) {
  for (const char* text : {"", "  ", "42", "true", "\"a\"", "Paris", "{\"a\":1} and more",
                           "```json\n{\"a\":1}\n```", "{'a':1}"}) {
    EXPECT_EQ(classes(text), "none") << text;
  }
}

TEST(JsonSpans, BadGrammarHasNone) {
  for (const char* text :
       {"{",     "[",       "[1,]",      "{,}",           "{\"a\"}",  "{\"a\":}",   "{\"a\":1,}",
        "[1 2]", "[01]",    "[1.]",      "[.5]",          "[1e]",     "[-]",        "[+1]",
        "[tru]", "[nulll]", "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\n\"]", "[\"a]",      "[}",
        "{]",    "]",       "[1]]",      "{1:2}",         "[\"\\\"]", "[\"\\u12\"]"}) {
    EXPECT_EQ(classes(text), "none") << text;
  }
}

TEST(JsonSpans, DepthHasNoLimit) {
  const size_t depth = 200000;
  EXPECT_EQ(classes(std::string(depth, '[') + std::string(depth, ']')),
            std::string(2 * depth, 's'));
}

TEST(JsonSpans, SpansFollowEachOtherAndCoverAll) {
  const bool holds = rc::check([] {
    const auto part = rc::gen::element<std::string>("{", "}", "[", "]", "\"k\"", ":", ",", " ", "1",
                                                    "true", "\"\\n\"", "null");
    const auto parts = *rc::gen::container<std::vector<std::string>>(part);
    std::string text = "[";
    for (const std::string& one : parts) text += one;
    text += "]";
    const auto spans = json_spans(text);
    if (!spans) return;
    size_t at = 0;
    for (const JsonSpan& span : *spans) {
      RC_ASSERT(span.begin == at);
      RC_ASSERT(span.end > span.begin);
      at = span.end;
    }
    RC_ASSERT(at == text.size());
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace plateau::train
