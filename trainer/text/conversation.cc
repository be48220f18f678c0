// SPDX-License-Identifier: Apache-2.0
// Ids are those that Hugging Face gives for the whole text of the template, so what stands between
// two special tokens is encoded in one go: a role, its line end and the words after it. It makes a
// difference where the words begin with a line end, because "\n\n" is one token. Such a token
// belongs to the header as much as to the words, and is not learned.
#include "trainer/text/conversation.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "trainer/text/selective_loss.h"

namespace plateau::train {
namespace {

constexpr std::string_view kImStart = "<|im_start|>";
constexpr std::string_view kImEnd = "<|im_end|>";
constexpr std::string_view kVisionStart = "<|vision_start|>";
constexpr std::string_view kVisionEnd = "<|vision_end|>";
constexpr std::string_view kImagePad = "<|image_pad|>";
constexpr std::string_view kDefaultSystem = "You are a helpful assistant.";

std::string_view role_name(Message::Role role) {
  switch (role) {
    case Message::Role::system:
      return "system";
    case Message::Role::user:
      return "user";
    case Message::Role::assistant:
      return "assistant";
  }
  return "user";
}

Error bad_conversation(std::string message) {
  return {Error::Kind::bad_input, std::move(message)};
}

bool lacks_system(std::span<const Message> messages) {
  return !messages.empty() && messages.front().role != Message::Role::system;
}

// Image k is named by the k-th image part: pixels are handed to the model in that order.
std::optional<Error> wrong_images(std::span<const Message> messages,
                                  std::span<const int64_t> image_tokens) {
  size_t named = 0;
  for (const Message& message : messages) {
    for (const Part& part : message.parts) {
      if (part.kind != Part::Kind::image) continue;
      if (part.image >= image_tokens.size()) {
        return bad_conversation(fmt::format("a message names image {}, and there are {}",
                                            part.image + 1, image_tokens.size()));
      }
      if (part.image != named) {
        return bad_conversation(
            fmt::format("image {} is named where image {} is due: each must be "
                        "named once, in order",
                        part.image + 1, named + 1));
      }
      if (image_tokens[part.image] < 1) {
        return bad_conversation(fmt::format("image {} has no tokens", part.image + 1));
      }
      ++named;
    }
  }
  if (named == image_tokens.size()) return std::nullopt;
  return bad_conversation(
      fmt::format("no message names image {} of {}", named + 1, image_tokens.size()));
}

class ConversationEncoder {
 public:
  ConversationEncoder(const Tokenizer& tokenizer, std::span<const int64_t> image_tokens,
                      LossLevel level)
      : tokenizer_(tokenizer), image_tokens_(image_tokens), level_(level) {}

  // Looks the template's own tokens up; an error if the tokenizer lacks one.
  std::optional<Error> prepare() {
    const std::pair<std::string_view, int64_t*> wanted[] = {{kImStart, &im_start_},
                                                            {kImEnd, &im_end_},
                                                            {kVisionStart, &vision_start_},
                                                            {kVisionEnd, &vision_end_},
                                                            {kImagePad, &image_pad_}};
    for (const auto& [name, id] : wanted) {
      const std::optional<int64_t> found = tokenizer_.id_of(name);
      if (!found) return bad_conversation(fmt::format("the tokenizer has no token {}", name));
      *id = *found;
    }
    return std::nullopt;
  }

  void add(Message::Role role, std::span<const Part> parts) {
    const bool is_learned = role == Message::Role::assistant;
    push(im_start_);
    std::string pending = fmt::format("{}\n", role_name(role));
    size_t words_begin = pending.size();
    for (const Part& part : parts) {
      if (part.kind == Part::Kind::text) {
        pending += part.text;
        continue;
      }
      push_text(pending, words_begin, is_learned);
      pending.clear();
      words_begin = 0;
      push_image(image_tokens_[part.image]);
    }
    push_text(pending, words_begin, is_learned);
    push(im_end_, is_learned);
    push_text("\n", 0, false);
  }

  void open_answer() {
    push(im_start_);
    push_text("assistant\n", 0, false);
  }

  EncodedExample take() { return std::move(out_); }

 private:
  void push(int64_t id, bool is_learned = false) {
    out_.ids.push_back(id);
    out_.labels.push_back(is_learned ? id : kNoLabel);
    if (is_learned) ++out_.labelled;
  }

  void push_image(int64_t tokens) {
    push(vision_start_);
    for (int64_t i = 0; i < tokens; ++i) push(image_pad_);
    push(vision_end_);
  }

  void push_text(std::string_view text, size_t words_begin, bool is_learned) {
    const Tokenizer::Encoded encoded = tokenizer_.encode_with_ranges(text, SpecialTokens::text);
    const std::vector<bool> left_out =
        tokens_left_out(encoded, words_begin, is_learned ? level_ : LossLevel::all);
    for (size_t i = 0; i < encoded.tokens.size(); ++i) {
      const Token& token = encoded.tokens[i];
      push(token.id, is_learned && token.begin >= words_begin && !left_out[i]);
    }
  }

  const Tokenizer& tokenizer_;
  std::span<const int64_t> image_tokens_;
  LossLevel level_;
  EncodedExample out_;
  int64_t im_start_ = 0;
  int64_t im_end_ = 0;
  int64_t vision_start_ = 0;
  int64_t vision_end_ = 0;
  int64_t image_pad_ = 0;
};

}  // namespace

Result<EncodedExample> encode_conversation(const Tokenizer& tokenizer,
                                           std::span<const Message> messages,
                                           std::span<const int64_t> image_tokens, LossLevel level,
                                           bool is_generation) {
  if (messages.empty()) return bad_conversation("a conversation without messages");
  if (auto error = wrong_images(messages, image_tokens)) return *error;
  ConversationEncoder encoder(tokenizer, image_tokens, level);
  if (auto error = encoder.prepare()) return *error;
  if (lacks_system(messages)) {
    const Part words = {.text = std::string(kDefaultSystem)};
    encoder.add(Message::Role::system, {&words, 1});
  }
  for (const Message& message : messages) encoder.add(message.role, message.parts);
  if (is_generation) encoder.open_answer();
  return encoder.take();
}

std::string conversation_text(std::span<const Message> messages, bool is_generation) {
  std::string out;
  const auto begin_turn = [&out](std::string_view role) {
    out += fmt::format("{}{}\n", kImStart, role);
  };
  const auto end_turn = [&out] { out += fmt::format("{}\n", kImEnd); };
  if (lacks_system(messages)) {
    begin_turn("system");
    out += kDefaultSystem;
    end_turn();
  }
  for (const Message& message : messages) {
    begin_turn(role_name(message.role));
    for (const Part& part : message.parts) {
      if (part.kind == Part::Kind::text) {
        out += part.text;
      } else {
        out += fmt::format("{}{}{}", kVisionStart, kImagePad, kVisionEnd);
      }
    }
    end_turn();
  }
  if (is_generation) begin_turn("assistant");
  return out;
}

}  // namespace plateau::train
