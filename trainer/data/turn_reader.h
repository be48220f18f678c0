// SPDX-License-Identifier: Apache-2.0
// The turns of a conversation: {"role", "content"} of OpenAI and of everyone after it, {"from",
// "value"} of ShareGPT; content as text, or in parts of type text and image.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainer/data/draft.h"
#include "trainer/data/example_line.h"
#include "trainer/data/line_json.h"

namespace plateau::train {

bool is_among(std::string_view key, std::initializer_list<std::string_view> keys);

class TurnReader : public LineJson {
 public:
  // It outlives the reader.
  explicit TurnReader(const PictureReader& read_picture) : read_picture_(read_picture) {}

  Draft take() { return std::move(draft_); }

 protected:
  // A list of messages, behind those that are there.
  bool read_turns(Value value, const std::string& what);
  // A reference, or {"path": ..., "bytes": ...} as datasets writes pictures; null: nothing.
  bool read_picture_value(Value value, const std::string& what,
                          std::optional<std::string_view>& out);
  bool add_picture(std::string_view reference);
  // Before message `at`, or behind all.
  void add_turn(Message::Role role, std::string_view text, size_t at = ~size_t{0});
  bool refuse_if_set(std::string_view key, Value value, const std::string& why);

  Draft draft_;

 private:
  bool read_message(Value value, const std::string& what);
  bool read_learned(std::string_view key, Value value, const std::string& what);
  bool read_content(Value value, const std::string& what, std::vector<Part>& parts);
  bool read_part(Value value, const std::string& what, std::vector<Part>& parts);
  bool read_role(std::string_view text, const std::string& what, Message& message);

  const PictureReader& read_picture_;
};

}  // namespace plateau::train
