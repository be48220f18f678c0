// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/jinja_reader.h"

#include <algorithm>

#include "base/text.h"

namespace plateau::train {
namespace {

constexpr int kDeepestTag = 40;

bool is_template_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct UnreadTag {
  std::string message;
};

struct TemplateTag {
  char kind = 0;  // '{', '%', '#', or 0: the end of the source.
  std::string_view inside;
};

// Cuts the source into texts and tags, and trims what stands between them.
class TemplateCutter {
 public:
  explicit TemplateCutter(std::string_view source) : source_(source) {
    if (source_.ends_with('\n')) source_.remove_suffix(1);
  }

  // The text up to the next tag, and the tag.
  std::pair<std::string, TemplateTag> next() {
    const size_t begin = at_;
    const size_t open = find_open();
    TemplateTag tag;
    size_t end = open;
    if (open < source_.size()) {
      tag.kind = source_[open + 1];
      size_t inside = open + 2;
      const bool strips = inside < source_.size() && source_[inside] == '-';
      if (strips) ++inside;
      if (strips) {
        while (end > begin && is_template_space(source_[end - 1])) --end;
      } else if (tag.kind != '{') {
        end = line_begin(begin, open);
      }
      close(tag, inside);
    } else {
      at_ = open;
    }
    return {std::string(source_.substr(begin, end - begin)), tag};
  }
  [[nodiscard]] size_t line() const {
    return 1 + static_cast<size_t>(std::ranges::count(source_.substr(0, at_), '\n'));
  }

 private:
  [[nodiscard]] size_t find_open() const {
    for (size_t i = at_; i + 1 < source_.size(); ++i) {
      const char second = source_[i + 1];
      if (source_[i] == '{' && (second == '{' || second == '%' || second == '#')) return i;
    }
    return source_.size();
  }
  // Where the spaces in front of a tag begin that is the first on its line.
  [[nodiscard]] size_t line_begin(size_t begin, size_t open) const {
    size_t at = open;
    while (at > begin && (source_[at - 1] == ' ' || source_[at - 1] == '\t')) --at;
    return at == 0 || source_[at - 1] == '\n' ? at : open;
  }
  void close(TemplateTag& tag, size_t inside) {
    const std::string_view sign = tag.kind == '{' ? "}}" : tag.kind == '%' ? "%}" : "#}";
    char quote = 0;
    size_t end = inside;
    for (; end < source_.size(); ++end) {
      const char c = source_[end];
      if (quote != 0) {
        if (c == '\\') ++end;
        if (c == quote) quote = 0;
      } else if (tag.kind != '#' && (c == '\'' || c == '"')) {
        quote = c;
      } else if (source_.substr(end).starts_with(sign)) {
        break;
      }
    }
    if (end >= source_.size()) throw UnreadTag{"a tag that is not closed"};
    at_ = end + 2;
    const bool strips = end > inside && source_[end - 1] == '-';
    tag.inside = trim(source_.substr(inside, end - (strips ? 1 : 0) - inside));
    if (strips) {
      while (at_ < source_.size() && is_template_space(source_[at_])) ++at_;
    } else if (tag.kind != '{' && at_ < source_.size() && source_[at_] == '\n') {
      ++at_;
    }
  }

  std::string_view source_;
  size_t at_ = 0;
};

class TemplateReader {
 public:
  explicit TemplateReader(std::string_view source) : cutter_(source) {}

  JinjaNodes all() {
    JinjaNodes out;
    if (!body(out).empty()) throw UnreadTag{"an end without its begin"};
    return out;
  }
  [[nodiscard]] size_t line() const { return cutter_.line(); }

 private:
  // Up to a tag that closes or continues: that tag, or empty at the end of the source.
  std::string body(JinjaNodes& out) {
    if (++depth_ > kDeepestTag) throw UnreadTag{"too deep"};
    while (true) {
      auto [text, tag] = cutter_.next();
      if (!text.empty()) out.push_back({.kind = JinjaNode::Kind::text, .text = std::move(text)});
      if (tag.kind == 0) break;
      if (tag.kind == '#') continue;
      if (tag.kind == '{') {
        out.push_back({.kind = JinjaNode::Kind::output, .value = expression(tag.inside)});
        continue;
      }
      const std::string inside(tag.inside);
      const std::string word = inside.substr(0, inside.find_first_of(" \t\n("));
      // Marks for a mask of the answer, which no text belongs to.
      if (word == "generation" || word == "endgeneration") continue;
      if (word.starts_with("end") || word == "elif" || word == "else") {
        --depth_;
        return inside;
      }
      out.push_back(statement(word, inside.substr(word.size())));
    }
    --depth_;
    return "";
  }

  static JinjaExpression expression(std::string_view text) {
    Result<JinjaExpression> parsed = parse_jinja_expression(text);
    if (!parsed) throw UnreadTag{parsed.error().message};
    return std::move(parsed.value());
  }

  JinjaNode statement(const std::string& word, const std::string& rest) {
    if (word == "set") return assignment(rest);
    if (word == "for") return loop(rest);
    if (word == "if") return branches(rest);
    throw UnreadTag{"{% " + word + " %}"};
  }

  static JinjaNode assignment(const std::string& rest) {
    const size_t equals = rest.find('=');
    if (equals == std::string::npos) throw UnreadTag{"{% set %} without ="};
    const std::string target(trim(std::string_view(rest).substr(0, equals)));
    const size_t dot = target.find('.');
    JinjaNode node{.kind = JinjaNode::Kind::set, .text = target.substr(0, dot)};
    if (dot != std::string::npos) node.attribute = target.substr(dot + 1);
    if (target.find_first_of(", ([") != std::string::npos) throw UnreadTag{"set " + target};
    node.value = expression(std::string_view(rest).substr(equals + 1));
    return node;
  }

  JinjaNode loop(const std::string& rest) {
    const size_t in = rest.find(" in ");
    if (in == std::string::npos) throw UnreadTag{"{% for %} without in"};
    JinjaNode node{.kind = JinjaNode::Kind::loop, .text = std::string(trim(rest.substr(0, in)))};
    if (node.text.find_first_of(", (") != std::string::npos) throw UnreadTag{"for " + node.text};
    node.value = expression(std::string_view(rest).substr(in + 4));
    node.bodies.emplace_back();
    if (body(node.bodies.back().second) != "endfor") throw UnreadTag{"a loop without its end"};
    return node;
  }

  JinjaNode branches(const std::string& first) {
    JinjaNode node{.kind = JinjaNode::Kind::branches};
    node.bodies.emplace_back(expression(first), JinjaNodes());
    while (true) {
      const std::string end = body(node.bodies.back().second);
      if (end == "endif") return node;
      if (end == "else") {
        node.bodies.emplace_back([](const JinjaScope&) { return JinjaValue(true); }, JinjaNodes());
      } else if (end.starts_with("elif")) {
        node.bodies.emplace_back(expression(std::string_view(end).substr(4)), JinjaNodes());
      } else {
        throw UnreadTag{"{% if %} without its end"};
      }
    }
  }

  TemplateCutter cutter_;
  int depth_ = 0;
};

}  // namespace

Result<JinjaNodes> read_jinja(std::string_view source) {
  TemplateReader reader(source);
  try {
    return reader.all();
  } catch (const UnreadTag& unread) {
    return Error{Error::Kind::bad_input,
                 "line " + std::to_string(reader.line()) + ": not understood: " + unread.message};
  }
}

}  // namespace plateau::train
