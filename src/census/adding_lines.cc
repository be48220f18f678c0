// SPDX-License-Identifier: Apache-2.0
#include "census/adding_lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "census/python_source.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 11> kAddingCalls = {
    "append", "extend",     "add",        "insert", "appendleft", "extendleft",
    "update", "setdefault", "put_nowait", "push",   "__setitem__"};

constexpr size_t kMostTokensOfLine = 1000;  // A longer one is data.
constexpr size_t kMostFound = 64;

// The last name of a path and how it is written in a program.
struct Target {
  enum class Kind : uint8_t { variable, attribute, key };
  Kind kind = Kind::variable;
  std::string_view name;
  size_t indexed = 0;  // How many [...] follow: of `table[*]` one.
};

std::optional<Target> target_of(std::string_view path) {
  Target target;
  while (path.ends_with("[*]")) {
    path.remove_suffix(3);
    ++target.indexed;
  }
  if (path.ends_with("']")) {
    const size_t from = path.rfind("['");
    if (from == std::string_view::npos) return std::nullopt;
    target.kind = Target::Kind::key;
    target.name = path.substr(from + 2, path.size() - from - 4);
  } else {
    const size_t dot = path.rfind('.');
    if (dot != std::string_view::npos) target.kind = Target::Kind::attribute;
    target.name = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
  }
  return target.name.empty() ? std::nullopt : std::optional(target);
}

std::string_view last_name(std::string_view qualified) {
  const size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

class Finder {
 public:
  Finder(const PythonSource& source, const GrowingName& wanted, const Target& target)
      : source_(source), wanted_(wanted), target_(target) {}

  std::vector<AddingLine> find() {
    std::vector<AddingLine> in_class;
    std::vector<AddingLine> found;
    for (size_t i = 0; i < source_.lines.size(); ++i) {
      if (source_.lines[i].end - source_.lines[i].first > kMostTokensOfLine) continue;
      if (in_class.size() + found.size() >= kMostFound) break;
      if (!in_scope(source_.block_of(i))) continue;
      const auto adding = look_at(i);
      if (!adding) continue;
      (in_owner(i) ? in_class : found).push_back(*adding);
    }
    return in_class.empty() ? found : in_class;
  }

 private:
  const SourceToken& token(size_t at) const { return source_.tokens[at]; }
  bool is(size_t at, std::string_view text) const {
    return at < end_ && token(at).kind != SourceToken::Kind::text && token(at).text == text;
  }

  // ---- where ----------------------------------------------------------------------------------

  // The innermost function with the name that is wanted, around the block.
  size_t named_around(size_t block, std::string_view name) const {
    while (block != PythonSource::kNoBlock && source_.blocks[block].name != name) {
      block = source_.blocks[block].parent;
    }
    return block;
  }

  bool has_line(const SourceBlock& block, int line) const {
    const size_t last = source_.lines[block.end - 1].end - 1;
    return token(source_.lines[block.first].first).line <= line && line <= token(last).line;
  }

  bool in_scope(size_t block) {
    const auto [known, fresh] = scopes_.try_emplace(block, false);
    if (fresh) known->second = is_scope(block);
    return known->second;
  }

  bool is_scope(size_t block) const {
    if (wanted_.scope == GrowingName::Scope::attribute) return true;
    if (wanted_.scope == GrowingName::Scope::module) return !is_shadowed(block);
    if (wanted_.function == "<module>") return block == PythonSource::kNoBlock;
    const std::string_view name = last_name(wanted_.function);
    if (wanted_.scope == GrowingName::Scope::enclosing) return is_beside(block, name);
    block = named_around(block, name);
    if (block == PythonSource::kNoBlock) return false;
    return wanted_.line == 0 || has_line(source_.blocks[block], wanted_.line);
  }

  // In the function around the one that closed over the variable, which is where it is at home.
  bool is_beside(size_t block, std::string_view name) const {
    for (size_t i = 0; i < source_.blocks.size(); ++i) {
      const SourceBlock& inner = source_.blocks[i];
      if (inner.name != name || (wanted_.line != 0 && !has_line(inner, wanted_.line))) continue;
      const size_t home = inner.parent == PythonSource::kNoBlock ? i : inner.parent;
      for (size_t at = block; at != PythonSource::kNoBlock; at = source_.blocks[at].parent) {
        if (at == home) return true;
      }
    }
    return false;
  }

  // Whether the name is another variable in the function: an argument, or bound and not global.
  bool is_shadowed(size_t block) const {
    if (target_.kind != Target::Kind::variable || block == PythonSource::kNoBlock) return false;
    const SourceBlock& function = source_.blocks[block];
    if (function.is_class) return true;
    bool bound = false;
    for (size_t i = function.first; i < function.end; ++i) {
      const LogicalLine& line = source_.lines[i];
      const bool head = i == function.first;
      const bool global = token(line.first).text == "global";
      for (size_t at = line.first; at < line.end; ++at) {
        if (token(at).kind != SourceToken::Kind::name || token(at).text != target_.name) continue;
        if (global) return false;
        bound =
            bound || head || (at == line.first && at + 1 < line.end && token(at + 1).text == "=");
      }
    }
    return bound;
  }

  bool in_owner(size_t line) const {
    if (wanted_.scope != GrowingName::Scope::attribute || wanted_.owner.empty()) return false;
    const size_t block = named_around(source_.block_of(line), last_name(wanted_.owner));
    return block != PythonSource::kNoBlock && source_.blocks[block].is_class;
  }

  // ---- what -----------------------------------------------------------------------------------

  std::optional<AddingLine> look_at(size_t line) {
    first_ = source_.lines[line].first;
    end_ = source_.lines[line].end;
    line_ = line;
    for (size_t at = first_; at < end_; ++at) {
      const size_t after = match(at);
      if (after == 0) continue;
      if (auto adding = adds(at, after)) return adding;
    }
    return std::nullopt;
  }

  // The token after the target if it begins at `at`, else 0.
  size_t match(size_t at) const {
    const bool dotted = at > first_ && is(at - 1, ".");
    size_t after = at + 1;
    if (target_.kind == Target::Kind::key) {
      const bool fits = is(at, "[") && at + 2 < end_ && is(at + 2, "]") &&
                        token(at + 1).kind == SourceToken::Kind::text &&
                        token(at + 1).text == target_.name;
      if (!fits) return 0;
      after = at + 3;
    } else {
      const bool fits = token(at).kind == SourceToken::Kind::name &&
                        token(at).text == target_.name &&
                        dotted == (target_.kind == Target::Kind::attribute);
      if (!fits) return 0;
    }
    for (size_t i = 0; i < target_.indexed; ++i) {
      if (!is(after, "[")) return 0;
      after = closing(after) + 1;
    }
    return std::min(after, end_);
  }

  // The bracket that closes the one at `at`.
  size_t closing(size_t at) const {
    int depth = 0;
    for (; at < end_; ++at) {
      if (token(at).kind == SourceToken::Kind::text) continue;
      if (is(at, "(") || is(at, "[") || is(at, "{")) ++depth;
      if ((is(at, ")") || is(at, "]") || is(at, "}")) && --depth == 0) return at;
    }
    return end_;
  }

  std::optional<AddingLine> adds(size_t at, size_t after) const {
    const int line = token(at).line;
    if (is(after, ".") && is(after + 2, "(")) {
      if (std::ranges::find(kAddingCalls, token(after + 1).text) == kAddingCalls.end()) return {};
      const size_t close = closing(after + 2);
      return AddingLine{line, made(last_argument(after + 3, close), close, line)};
    }
    if (is(after, "+=") || is(after, "|=")) return AddingLine{line, made(after + 1, end_, line)};
    if (is(after, "[")) {
      const size_t behind = closing(after) + 1;
      if (is(behind, "=")) return AddingLine{line, made(behind + 1, end_, line)};
      return {};
    }
    return rebinds(at, after) ? std::optional(AddingLine{line, line}) : std::nullopt;
  }

  // Left of the first "=" of the line, with itself on the right, or whatever where that will do.
  bool rebinds(size_t at, size_t after) const {
    const bool named = is(after, "=") || is(after, ",") || is(after, ":") || is(after, ")");
    if (!named) return false;
    int depth = 0;
    for (size_t i = first_; i < end_; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth != 0 || !is(i, "=")) continue;
      if (i < at) return false;
      if (wanted_.assigned) return true;
      for (size_t right = i + 1; right < end_; ++right) {
        if (match(right) != 0) return true;
      }
      return false;
    }
    return false;
  }

  // Of setdefault(key, value), insert(0, value) the last one is what is added.
  size_t last_argument(size_t from, size_t end) const {
    int depth = 0;
    size_t last = from;
    for (size_t at = from; at < end; ++at) {
      if (is(at, "(") || is(at, "[") || is(at, "{")) ++depth;
      if (is(at, ")") || is(at, "]") || is(at, "}")) --depth;
      if (depth == 0 && is(at, ",") && at + 1 < end) last = at + 1;
    }
    return last;
  }

  // Where what stands from `from` to `end` was made.
  int made(size_t from, size_t end, int line) const {
    if (from >= end) return 0;
    const bool plain = from + 1 == end && token(from).kind == SourceToken::Kind::name;
    return plain ? bound_before(token(from).text) : std::max(line, token(from).line);
  }

  // The nearest line before this one, of the same function, that binds the name.
  int bound_before(std::string_view name) const {
    const size_t block = source_.block_of(line_);
    const size_t first = block == PythonSource::kNoBlock ? 0 : source_.blocks[block].first + 1;
    for (size_t i = line_; i-- > first;) {
      if (source_.block_of(i) != block) continue;
      const LogicalLine& line = source_.lines[i];
      for (size_t at = line.first; at < line.end; ++at) {
        const bool ours = token(at).kind == SourceToken::Kind::name && token(at).text == name &&
                          (at == line.first || token(at - 1).text != ".");
        if (ours && binds(line, at)) return token(at).line;
      }
    }
    return 0;
  }

  bool binds(const LogicalLine& line, size_t at) const {
    const std::string_view before = at > line.first ? token(at - 1).text : "";
    if (before == "as") return true;
    if (at + 1 < line.end && token(at + 1).text == ":=") return true;
    const bool loop = token(line.first).text == "for" || token(line.first).text == "async";
    int depth = 0;
    for (size_t i = line.first; i < line.end; ++i) {
      const std::string_view text = token(i).text;
      if (token(i).kind == SourceToken::Kind::text) continue;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      if (loop && text == "in" && i > at) return true;
      const bool assigns = depth == 0 && (text == "=" || text == "+=" || text == "-=" ||
                                          text == "*=" || text == "/=");
      if (assigns) return i > at;
    }
    return false;
  }

  const PythonSource& source_;
  const GrowingName& wanted_;
  const Target& target_;
  size_t first_ = 0, end_ = 0;  // Tokens of the line that is looked at.
  size_t line_ = 0;
  std::unordered_map<size_t, bool> scopes_;  // By block.
};

}  // namespace

std::vector<AddingLine> find_adding_lines(std::string_view text, const GrowingName& wanted) {
  const auto target = target_of(wanted.path);
  if (!target) return {};
  const PythonSource source = read_python_source(text);
  return Finder(source, wanted, *target).find();
}

}  // namespace plateau
