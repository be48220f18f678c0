// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/draft.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace plateau::train {
namespace {

constexpr std::string_view kMark = "<image>";

Error bad(std::string what) {
  return {Error::Kind::bad_input, std::move(what)};
}

std::string nth_message(size_t index) {
  return "message " + std::to_string(index + 1);
}

Part text_part(std::string_view text) {
  return {.kind = Part::Kind::text, .text = std::string(text)};
}

// "a <image> b" into three parts.
void split_at_marks(const std::string& text, std::vector<Part>& out) {
  std::string_view rest = text;
  for (size_t at = rest.find(kMark); at != std::string_view::npos; at = rest.find(kMark)) {
    if (at > 0) out.push_back(text_part(rest.substr(0, at)));
    out.push_back({.kind = Part::Kind::image, .image = kBeside});
    rest.remove_prefix(at + kMark.size());
  }
  if (!rest.empty() || out.empty()) out.push_back(text_part(rest));
}

// Marks of other programs, which here would be learned as letters.
std::optional<Error> foreign_mark(std::string_view text, size_t message) {
  for (const std::string_view mark : {"<|image_pad|>", "<|vision_start|>", "<|video_pad|>"}) {
    if (text.find(mark) == std::string_view::npos) continue;
    return bad(nth_message(message) + ": the text has " + std::string(mark) +
               ", which the chat template adds; write <image> where a picture belongs");
  }
  const size_t open = text.find("<img>");
  if (open != std::string_view::npos && text.find("</img>", open) != std::string_view::npos) {
    return bad(nth_message(message) +
               ": the text has <img>...</img>, which is not read; write <image> and name the "
               "picture in \"images\"");
  }
  return std::nullopt;
}

// Text is cut where it says <image>. An answer may speak of <image> if no picture stands beside.
std::optional<Error> cut_texts(Draft& draft) {
  for (size_t i = 0; i < draft.messages.size(); ++i) {
    Message& message = draft.messages[i];
    const bool is_answer = message.role == Message::Role::assistant;
    std::vector<Part> parts;
    for (Part& part : message.parts) {
      const bool is_text = part.kind == Part::Kind::text;
      if (is_text && !is_answer) {
        if (auto wrong = foreign_mark(part.text, i)) return wrong;
      }
      if (is_text && (!is_answer || !draft.beside.empty())) {
        std::vector<Part> cut;
        split_at_marks(part.text, cut);
        std::ranges::move(cut, std::back_inserter(parts));
      } else {
        parts.push_back(std::move(part));
      }
    }
    message.parts = std::move(parts);
  }
  return std::nullopt;
}

size_t places_for_beside(const Draft& draft) {
  size_t count = 0;
  for (const Message& message : draft.messages) {
    count += static_cast<size_t>(std::ranges::count_if(message.parts, [](const Part& part) {
      return part.kind == Part::Kind::image && part.image == kBeside;
    }));
  }
  return count;
}

std::string pictures_in_words(size_t count) {
  return count == 1 ? "1 picture" : std::to_string(count) + " pictures";
}

std::optional<Error> give_places(Draft& draft) {
  const size_t places = places_for_beside(draft);
  const size_t beside = draft.beside.size();
  if (places == beside) return std::nullopt;
  if (places > 0) {
    const std::string where = draft.beside_field.empty() ? "no field with pictures"
                                                         : "\"" + draft.beside_field + "\" has " +
                                                               pictures_in_words(beside);
    return bad("the text has a place (<image>, or a part of type image) for " +
               pictures_in_words(places) + ", and " +
               (beside == 0 ? "the line has no picture for it: \"images\" is expected beside"
                            : where + ": as many are expected"));
  }
  if (draft.pictures.size() > beside) {
    return bad("\"" + draft.beside_field + "\" has " + pictures_in_words(beside) +
               ", and the messages name theirs themselves: one of the two is expected");
  }
  const auto first = std::ranges::find(draft.messages, Message::Role::user, &Message::role);
  if (first == draft.messages.end()) {
    return bad("\"" + draft.beside_field + "\" has " + pictures_in_words(beside) +
               ", and there is no message of the user to put it in");
  }
  const std::vector<Part> added(beside, {.kind = Part::Kind::image, .image = kBeside});
  first->parts.insert(first->parts.begin(), added.begin(), added.end());
  return std::nullopt;
}

// Each answer must have something to learn, and there must be one.
std::optional<Error> wrong_turns(const std::vector<Message>& messages) {
  bool has_answer = false;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != Message::Role::assistant) continue;
    has_answer = true;
    bool is_empty = true;
    for (const Part& part : messages[i].parts) {
      if (part.kind == Part::Kind::image) return bad(nth_message(i) + ": a picture in an answer");
      if (!trim(part.text).empty()) is_empty = false;
    }
    if (is_empty) return bad(nth_message(i) + ": the answer is empty");
  }
  if (!has_answer) return bad("no message of the assistant: nothing to learn");
  return std::nullopt;
}

}  // namespace

Result<Example> finish_example(Draft draft) {
  if (auto wrong = cut_texts(draft)) return *wrong;
  if (auto wrong = give_places(draft)) return *wrong;
  if (auto wrong = wrong_turns(draft.messages)) return *wrong;
  Example out;
  size_t next_beside = 0;
  for (Message& message : draft.messages) {
    for (Part& part : message.parts) {
      if (part.kind != Part::Kind::image) continue;
      const size_t from = part.image == kBeside ? draft.beside[next_beside++] : part.image;
      part.image = out.pictures.size();
      out.pictures.push_back(std::move(draft.pictures[from]));
    }
  }
  out.messages = std::move(draft.messages);
  return out;
}

}  // namespace plateau::train
