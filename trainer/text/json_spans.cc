// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/json_spans.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace plateau::train {
namespace {

class SpanScanner {
 public:
  explicit SpanScanner(std::string_view text) : text_(text) {}

  std::optional<std::vector<JsonSpan>> scan() {
    skip_space();
    if (peek() != '{' && peek() != '[') return std::nullopt;
    while (step()) skip_space();
    if (!is_done_ || at_ != text_.size()) return std::nullopt;
    return std::move(spans_);
  }

 private:
  enum class Expect : uint8_t { value, value_or_end, key, key_or_end, next };

  // NUL where the text has ended: it is no part of JSON's grammar.
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void put(size_t end, JsonClass kind) {
    if (end == at_) return;
    if (!spans_.empty() && spans_.back().kind == kind) {
      spans_.back().end = end;
    } else {
      spans_.push_back({.begin = at_, .end = end, .kind = kind});
    }
    at_ = end;
  }
  void put_structure() { put(at_ + 1, JsonClass::structure); }

  void skip_space() {
    size_t end = at_;
    while (end < text_.size() && is_space(text_[end])) ++end;
    put(end, JsonClass::structure);
  }

  // One token of the grammar; false at the end of the document or where the text is no JSON.
  bool step() {
    switch (expect_) {
      case Expect::value_or_end:
        if (peek() == ']') return close(']');
        return value();
      case Expect::value:
        return value();
      case Expect::key_or_end:
        if (peek() == '}') return close('}');
        return key();
      case Expect::key:
        return key();
      case Expect::next:
        return next();
    }
    return false;
  }

  bool open(char closing, Expect expect) {
    put_structure();
    closings_.push_back(closing);
    expect_ = expect;
    return true;
  }

  bool close(char closing) {
    if (closings_.back() != closing) return false;
    put_structure();
    closings_.pop_back();
    expect_ = Expect::next;
    if (!closings_.empty()) return true;
    skip_space();
    is_done_ = true;
    return false;
  }

  bool next() {
    const char c = peek();
    if (c != ',') return (c == '}' || c == ']') && close(c);
    put_structure();
    expect_ = closings_.back() == '}' ? Expect::key : Expect::value;
    return true;
  }

  bool key() {
    if (!quoted(JsonClass::key)) return false;
    skip_space();
    if (peek() != ':') return false;
    put_structure();
    expect_ = Expect::value;
    return true;
  }

  bool value() {
    const char c = peek();
    if (c == '{') return open('}', Expect::key_or_end);
    if (c == '[') return open(']', Expect::value_or_end);
    expect_ = Expect::next;
    if (c == '"') return quoted(JsonClass::string);
    if (c == '-' || is_digit(c)) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        put(at_ + word.size(), JsonClass::literal);
        return true;
      }
    }
    return false;
  }

  bool quoted(JsonClass kind) {
    if (peek() != '"') return false;
    put_structure();
    size_t end = at_;
    while (end < text_.size() && text_[end] != '"') {
      if (static_cast<unsigned char>(text_[end]) < 0x20) return false;
      const size_t length = text_[end] == '\\' ? escape_length(end) : 1;
      if (length == 0) return false;
      end += length;
    }
    if (end >= text_.size()) return false;
    put(end, kind);
    put_structure();
    return true;
  }

  // Of the escape at `at`; 0 if it is none.
  [[nodiscard]] size_t escape_length(size_t at) const {
    if (at + 1 >= text_.size()) return 0;
    if (text_[at + 1] != 'u') {
      return std::string_view("\"\\/bfnrt").find(text_[at + 1]) != std::string_view::npos ? 2 : 0;
    }
    const std::string_view digits = text_.substr(at + 2, 4);
    const bool is_hex = digits.size() == 4 && std::all_of(digits.begin(), digits.end(), [](char c) {
                          return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'f');
                        });
    return is_hex ? 6 : 0;
  }

  [[nodiscard]] size_t digits_end(size_t at) const {
    while (at < text_.size() && is_digit(text_[at])) ++at;
    return at;
  }

  bool number() {
    size_t end = at_ + (peek() == '-' ? 1 : 0);
    const size_t whole = end;
    end = digits_end(end);
    if (end == whole || (text_[whole] == '0' && end - whole > 1)) return false;
    if (end < text_.size() && text_[end] == '.') {
      const size_t fraction = end + 1;
      end = digits_end(fraction);
      if (end == fraction) return false;
    }
    if (end < text_.size() && ascii_lower(text_[end]) == 'e') {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      const size_t exponent = end;
      end = digits_end(exponent);
      if (end == exponent) return false;
    }
    put(end, JsonClass::number);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  Expect expect_ = Expect::value;
  bool is_done_ = false;
  std::vector<char> closings_;  // Of what is open, outermost first.
  std::vector<JsonSpan> spans_;
};

}  // namespace

std::optional<std::vector<JsonSpan>> json_spans(std::string_view text) {
  return SpanScanner(text).scan();
}

}  // namespace plateau::train
