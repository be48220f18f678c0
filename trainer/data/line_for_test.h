// SPDX-License-Identifier: Apache-2.0
// What tests of lines share: a line becomes one string that shows its turns and pictures.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainer/data/example_line.h"

namespace plateau::train {

// Every picture is its own reference.
inline Result<PictureSource> as_written(std::string_view reference, size_t number) {
  PictureSource picture{.name = "image " + std::to_string(number)};
  for (const char c : reference) picture.bytes.push_back(static_cast<std::byte>(c));
  return picture;
}

inline Result<Example> parse(std::string line, const DatasetOptions& options = {}) {
  return parse_example_line(std::move(line), options, as_written);
}

// "user[image 0, text What?] assistant[text A cat.]"
inline std::string shape_of(const Example& example) {
  std::string out;
  for (const Message& message : example.messages) {
    constexpr std::string_view kRoles[] = {"system", "user", "assistant"};
    out += std::string(out.empty() ? "" : " ") +
           std::string(kRoles[static_cast<size_t>(message.role)]) + "[";
    for (const Part& part : message.parts) {
      if (!out.ends_with('[')) out += ", ";
      out += part.kind == Part::Kind::image ? "image " + std::to_string(part.image)
                                            : "text " + part.text;
    }
    out += "]";
  }
  for (const PictureSource& picture : example.pictures) {
    out += " <" +
           std::string(reinterpret_cast<const char*>(picture.bytes.data()), picture.bytes.size()) +
           ">";
  }
  return out;
}

inline std::string parsed(std::string line, const DatasetOptions& options = {}) {
  const Result<Example> example = parse(std::move(line), options);
  return example.ok() ? shape_of(example.value()) : "error: " + example.error().message;
}

}  // namespace plateau::train
