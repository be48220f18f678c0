// SPDX-License-Identifier: Apache-2.0
#include "census/python_source.h"

#include <algorithm>
#include <array>

namespace plateau {
namespace {

constexpr size_t kMostTokens = 2'000'000;
constexpr size_t kTabStop = 8;

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Scanner {
 public:
  Scanner(std::string_view text, PythonSource& source) : text_(text), source_(source) {}

  void scan() {
    indent_ = read_indent();
    while (at_ < text_.size() && source_.tokens.size() < kMostTokens) next();
    end_line();
  }

 private:
  [[nodiscard]] char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  size_t read_indent() {
    size_t indent = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at_) {
      indent = peek() == '\t' ? (indent / kTabStop + 1) * kTabStop : indent + 1;
    }
    return indent;
  }

  void next() {
    const char c = peek();
    if (c == '\n') return new_line();
    if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
      ++line_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++at_;
    } else if (c == '"' || c == '\'') {
      string();
    } else if (begins_name(c)) {
      name();
    } else if (is_digit(c)) {
      const size_t from = at_;
      while (begins_name(peek()) || is_digit(peek()) || peek() == '.') ++at_;
      add(SourceToken::Kind::other, text_.substr(from, at_ - from));
    } else {
      sign();
    }
  }

  void new_line() {
    ++at_;
    ++line_;
    if (depth_ > 0) return;
    end_line();
    indent_ = read_indent();
  }

  void name() {
    const size_t from = at_;
    while (begins_name(peek()) || is_digit(peek())) ++at_;
    const std::string_view text = text_.substr(from, at_ - from);
    const bool prefix = text.size() <= 2 && text.find_first_not_of("rRbBuUfFtT") == text.npos;
    if (prefix && (peek() == '"' || peek() == '\'')) return string();
    add(SourceToken::Kind::name, text);
  }

  void string() {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const int line = line_;
    at_ += triple ? 3 : 1;
    const size_t from = at_;
    while (at_ < text_.size()) {
      if (peek() == '\\') {
        line_ += peek(1) == '\n';
        at_ = std::min(at_ + 2, text_.size());
        continue;
      }
      if (peek() == '\n' && !triple) break;  // It was none; the line ends here all the same.
      if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
      line_ += peek() == '\n';
      ++at_;
    }
    add(SourceToken::Kind::text, text_.substr(from, at_ - from), line);
    if (peek() == quote) at_ = std::min(at_ + (triple ? 3 : 1), text_.size());
  }

  void sign() {
    constexpr std::array<std::string_view, 22> kLong = {
        "**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", ":=", "+=",
        "-=",  "*=",  "/=",  "|=",  "&=",  "^=", "%=", "@=", "->", "**", "//"};
    const std::string_view rest = text_.substr(at_);
    size_t bytes = 1;
    for (const std::string_view each : kLong) {
      if (rest.starts_with(each)) {
        bytes = each.size();
        break;
      }
    }
    const char c = rest.front();
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
    add(SourceToken::Kind::other, rest.substr(0, bytes));
    at_ += bytes;
    if (c == ';' && depth_ == 0) end_line();
  }

  void add(SourceToken::Kind kind, std::string_view text, int line = 0) {
    source_.tokens.push_back({kind, text, line > 0 ? line : line_});
  }

  void end_line() {
    if (first_ < source_.tokens.size()) {
      source_.lines.push_back({first_, source_.tokens.size(), indent_});
    }
    first_ = source_.tokens.size();
  }

  std::string_view text_;
  PythonSource& source_;
  size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  size_t indent_ = 0;
  size_t first_ = 0;  // Token of the logical line.
};

void find_blocks(PythonSource& source) {
  std::vector<size_t> open;
  for (size_t i = 0; i < source.lines.size(); ++i) {
    const LogicalLine& line = source.lines[i];
    while (!open.empty() && line.indent <= source.lines[source.blocks[open.back()].first].indent) {
      // The rest of a one-line body (`def f(): a; b`) has the indent of its `def`.
      const size_t head = source.lines[source.blocks[open.back()].first].first;
      if (source.tokens[head].line == source.tokens[line.first].line) break;
      source.blocks[open.back()].end = i;
      open.pop_back();
    }
    size_t at = line.first;
    if (at + 2 < line.end && source.tokens[at].text == "async") ++at;
    const std::string_view word = source.tokens[at].text;
    const bool opens = source.tokens[at].kind == SourceToken::Kind::name &&
                       (word == "def" || word == "class") && at + 1 < line.end;
    if (!opens) continue;
    const size_t parent = open.empty() ? PythonSource::kNoBlock : open.back();
    open.push_back(source.blocks.size());
    source.blocks.push_back(
        {source.tokens[at + 1].text, word == "class", i, source.lines.size(), parent});
  }
}

}  // namespace

size_t PythonSource::block_of(size_t line) const {
  const auto after = std::ranges::upper_bound(blocks, line, {}, &SourceBlock::first);
  for (auto at = after; at != blocks.begin();) {
    --at;
    size_t block = static_cast<size_t>(at - blocks.begin());
    while (block != kNoBlock && line >= blocks[block].end) block = blocks[block].parent;
    return block;
  }
  return kNoBlock;
}

PythonSource read_python_source(std::string_view text) {
  PythonSource source;
  Scanner(text, source).scan();
  find_blocks(source);
  return source;
}

}  // namespace plateau
