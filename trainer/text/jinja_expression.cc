// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/jinja_expression.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "trainer/text/jinja_operations.h"

namespace plateau::train {
namespace {

constexpr int kDeepestExpression = 60;

struct UnreadExpression {
  std::string what;
};

bool is_jinja_letter(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

// Recursive descent; throws UnreadExpression.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : rest_(text) {}

  JinjaExpression whole() {
    JinjaExpression out = choice();
    skip_space();
    if (!rest_.empty()) throw UnreadExpression{std::string(rest_.substr(0, 30))};
    return out;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && static_cast<unsigned char>(rest_.front()) <= ' ')
      rest_.remove_prefix(1);
  }
  bool take(std::string_view sign) {
    skip_space();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(sign.size());
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && is_jinja_letter(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string name() {
    skip_space();
    size_t end = 0;
    while (end < rest_.size() && is_jinja_letter(rest_[end])) ++end;
    if (end == 0 || is_digit(rest_.front()))
      throw UnreadExpression{std::string(rest_.substr(0, 30))};
    const std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return out;
  }
  void expect(std::string_view sign) {
    if (!take(sign)) throw UnreadExpression{std::string(rest_.substr(0, 30))};
  }

  JinjaExpression choice() {
    if (++depth_ > kDeepestExpression) throw UnreadExpression{"too deep"};
    JinjaExpression value = either();
    if (take_word("if")) {
      const JinjaExpression condition = either();
      const JinjaExpression other = take_word("else") ? choice() : nothing();
      value = [value, condition, other](const JinjaScope& scope) {
        return condition(scope).is_true() ? value(scope) : other(scope);
      };
    }
    --depth_;
    return value;
  }
  static JinjaExpression nothing() {
    return [](const JinjaScope&) { return JinjaValue(); };
  }
  JinjaExpression either() {
    JinjaExpression left = both();
    while (take_word("or")) {
      left = [left, right = both()](const JinjaScope& scope) {
        JinjaValue value = left(scope);
        return value.is_true() ? value : right(scope);
      };
    }
    return left;
  }
  JinjaExpression both() {
    JinjaExpression left = denied();
    while (take_word("and")) {
      left = [left, right = denied()](const JinjaScope& scope) {
        JinjaValue value = left(scope);
        return value.is_true() ? right(scope) : value;
      };
    }
    return left;
  }
  JinjaExpression denied() {
    if (!take_word("not")) return compared();
    if (++depth_ > kDeepestExpression) throw UnreadExpression{"too deep"};
    const JinjaExpression value = denied();
    --depth_;
    return [value](const JinjaScope& scope) { return JinjaValue(!value(scope).is_true()); };
  }
  JinjaExpression compared();
  JinjaExpression sum();
  JinjaExpression tested(JinjaExpression value);
  JinjaExpression with_members();
  JinjaExpression brackets(JinjaExpression value);
  JinjaExpression primary();
  JinjaExpression literal(char quote);
  JinjaExpression call(const std::string& function);

  std::string_view rest_;
  int depth_ = 0;
};

JinjaExpression ExpressionParser::compared() {
  JinjaExpression left = sum();
  while (true) {
    const auto with = [&](auto compare) {
      left = [left, right = sum(), compare](const JinjaScope& scope) {
        return JinjaValue(static_cast<bool>(compare(left(scope), right(scope))));
      };
    };
    const auto order = [](auto less) {
      return [less](const JinjaValue& a, const JinjaValue& b) {
        if (a.as<int64_t>() == nullptr || b.as<int64_t>() == nullptr) {
          throw JinjaFailure{"an order of values that are no numbers"};
        }
        return less(*a.as<int64_t>(), *b.as<int64_t>());
      };
    };
    if (take("==")) {
      with([](const JinjaValue& a, const JinjaValue& b) { return a.equals(b); });
    } else if (take("!=")) {
      with([](const JinjaValue& a, const JinjaValue& b) { return !a.equals(b); });
    } else if (take("<=")) {
      with(order(std::less_equal<>()));
    } else if (take(">=")) {
      with(order(std::greater_equal<>()));
    } else if (take("<")) {
      with(order(std::less<>()));
    } else if (take(">")) {
      with(order(std::greater<>()));
    } else if (take_word("in")) {
      with([](const JinjaValue& a, const JinjaValue& b) { return jinja_contains(b, a); });
    } else if (take_word("not")) {
      if (!take_word("in")) throw UnreadExpression{"not"};
      with([](const JinjaValue& a, const JinjaValue& b) { return !jinja_contains(b, a); });
    } else {
      return left;
    }
  }
}

JinjaExpression ExpressionParser::sum() {
  JinjaExpression left = with_members();
  while (true) {
    if (take("+")) {
      left = [left, right = with_members()](const JinjaScope& scope) {
        return jinja_sum(left(scope), right(scope), 1);
      };
    } else if (take("-")) {
      left = [left, right = with_members()](const JinjaScope& scope) {
        return jinja_sum(left(scope), right(scope), -1);
      };
    } else if (take("~")) {
      left = [left, right = with_members()](const JinjaScope& scope) {
        return JinjaValue(left(scope).text() + right(scope).text());
      };
    } else {
      return left;
    }
  }
}

// Behind "is".
JinjaExpression ExpressionParser::tested(JinjaExpression value) {
  const bool is_denied = take_word("not");
  const std::string test = name();
  constexpr std::string_view kTests[] = {"defined", "undefined", "none",    "string",
                                         "mapping", "number",    "boolean", "true",
                                         "false",   "iterable",  "sequence"};
  if (std::ranges::find(kTests, test) == std::end(kTests)) throw UnreadExpression{"is " + test};
  return [value = std::move(value), test, is_denied](const JinjaScope& scope) {
    return JinjaValue(jinja_passes(value(scope), test) != is_denied);
  };
}

JinjaExpression ExpressionParser::brackets(JinjaExpression value) {
  JinjaExpression from = nothing();
  const bool is_open = take(":");
  if (!is_open) from = choice();
  if (!is_open && !take(":")) {
    expect("]");
    return [value = std::move(value), from](const JinjaScope& scope) {
      return value(scope).member(from(scope));
    };
  }
  JinjaExpression to = nothing();
  if (!take("]")) {
    to = choice();
    expect("]");
  }
  return [value = std::move(value), from, to](const JinjaScope& scope) {
    return jinja_slice(value(scope), from(scope), to(scope));
  };
}

JinjaExpression ExpressionParser::with_members() {
  JinjaExpression value = primary();
  while (true) {
    if (take("[")) {
      value = brackets(std::move(value));
    } else if (take(".")) {
      const std::string key = name();
      if (take("(")) {
        if (key != "strip" && key != "get") throw UnreadExpression{"." + key + "()"};
        const JinjaExpression argument = key == "get" ? choice() : nothing();
        expect(")");
        value = [value, argument, key](const JinjaScope& scope) {
          return key == "get" ? value(scope).member(argument(scope))
                              : jinja_filtered(value(scope), "trim");
        };
      } else {
        value = [value, key](const JinjaScope& scope) { return value(scope).member(key); };
      }
    } else if (take("|")) {
      const std::string filter = name();
      if (filter != "trim" && filter != "length") throw UnreadExpression{"|" + filter};
      value = [value, filter](const JinjaScope& scope) {
        return jinja_filtered(value(scope), filter);
      };
    } else if (take_word("is")) {
      value = tested(std::move(value));
    } else {
      return value;
    }
  }
}

// Behind the opening quote.
JinjaExpression ExpressionParser::literal(char quote) {
  std::string out;
  while (!rest_.empty() && rest_.front() != quote) {
    char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\\' && !rest_.empty()) {
      c = rest_.front();
      rest_.remove_prefix(1);
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
    out += c;
  }
  if (rest_.empty()) throw UnreadExpression{"a text that is not closed"};
  rest_.remove_prefix(1);
  return [out](const JinjaScope&) { return JinjaValue(out); };
}

// namespace(a=1, b='') and raise_exception('...').
JinjaExpression ExpressionParser::call(const std::string& function) {
  if (function == "raise_exception") {
    const JinjaExpression message = choice();
    expect(")");
    return [message](const JinjaScope& scope) -> JinjaValue {
      throw JinjaFailure{message(scope).text()};
    };
  }
  if (function != "namespace") throw UnreadExpression{function + "()"};
  std::vector<std::pair<std::string, JinjaExpression>> members;
  while (!take(")")) {
    if (!members.empty()) expect(",");
    std::string key = name();
    expect("=");
    members.emplace_back(std::move(key), choice());
  }
  return [members](const JinjaScope& scope) {
    auto map = std::make_shared<std::map<std::string, JinjaValue>>();
    for (const auto& [key, value] : members) (*map)[key] = value(scope);
    return JinjaValue(map);
  };
}

JinjaExpression ExpressionParser::primary() {
  if (take("(")) {
    JinjaExpression inner = choice();
    expect(")");
    return inner;
  }
  if (take("'")) return literal('\'');
  if (take("\"")) return literal('"');
  skip_space();
  const bool is_negative = take("-");
  size_t end = 0;
  while (end < rest_.size() && is_digit(rest_[end])) ++end;
  if (end > 0 && end < 16) {
    const int64_t number = parse_int(rest_.substr(0, end)).value_or(0) * (is_negative ? -1 : 1);
    rest_.remove_prefix(end);
    return [number](const JinjaScope&) { return JinjaValue(number); };
  }
  if (is_negative) throw UnreadExpression{"-"};
  const std::string word = name();
  if (take("(")) return call(word);
  if (word == "true" || word == "True") return [](const JinjaScope&) { return JinjaValue(true); };
  if (word == "false" || word == "False")
    return [](const JinjaScope&) { return JinjaValue(false); };
  if (word == "none" || word == "None") return [](const JinjaScope&) { return JinjaValue::none(); };
  return [word](const JinjaScope& scope) {
    const auto found = scope.find(word);
    return found == scope.end() ? JinjaValue() : found->second;
  };
}

}  // namespace

Result<JinjaExpression> parse_jinja_expression(std::string_view text) {
  try {
    return ExpressionParser(text).whole();
  } catch (const UnreadExpression& unread) {
    return Error{Error::Kind::bad_input, unread.what.empty() ? "its end" : unread.what};
  }
}

}  // namespace plateau::train
