// SPDX-License-Identifier: Apache-2.0
// Walks the words of a text as a shell would part them, and hides values that follow a secret name.
#include "base/redact.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int kMostNesting = 4;  // sh -c 'ssh host "…"'

// What may stand between "Authorization:" and the secret.
constexpr std::array kSchemes = {"bearer", "basic", "token", "digest", "negotiate", "apikey"};

bool is_name_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
}

bool is_quote(char c) {
  return c == '\'' || c == '"';
}

constexpr std::string_view kClosing = ",;}])";

// Where the quoted part that begins at `at` ends, behind its quote; 0 if it does not end. A quote
// of the same kind inside is written '\'' as shell_words() does it.
size_t quoted_end(std::string_view text, size_t at) {
  const char quote = text[at];
  size_t end = at + 1;
  while (true) {
    end = text.find(quote, end);
    if (end == std::string_view::npos) return 0;
    if (!text.substr(end).starts_with("'\\''")) return end + 1;
    end += 4;
  }
}

// The word that begins at `at`: up to a blank that is in no quotes and has no backslash before it.
// Quotes count at its start and behind = : , { [ ( only, so that "don't" opens none.
size_t word_end(std::string_view text, size_t at) {
  const size_t begin = at;
  const auto goes_on = [&] {
    return !is_space(text[at]) || (text[at] == ' ' && at > begin + 1 && text[at - 1] == '\\');
  };
  while (at < text.size() && goes_on()) {
    const bool opens =
        is_quote(text[at]) &&
        (at == begin || std::string_view("=:,{[('\"").find(text[at - 1]) != std::string_view::npos);
    const size_t end = opens ? quoted_end(text, at) : 0;
    at = end > 0 ? end : at + 1;
  }
  return at;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find(from, at), text.size());
    out += text.substr(at, next - at);
    if (next < text.size()) out += to;
    at = next < text.size() ? next + from.size() : next;
  }
  return out;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The name at the end of "os.environ['HF_TOKEN']", "x(password", "{\"token\"": without what closes
// it.
std::string_view name_at_end(std::string_view word) {
  if (word.ends_with("']") || word.ends_with("\"]")) word.remove_suffix(1);
  if (!word.empty() && is_quote(word.back())) word.remove_suffix(1);
  if (word.ends_with('\\')) word.remove_suffix(1);
  size_t begin = word.size();
  while (begin > 0 && is_name_char(word[begin - 1])) --begin;
  return word.substr(begin);
}

// What the word before makes of this one.
struct Expected {
  SecretName value = SecretName::none;  // The value of a name.
  bool user = false;                    // user:password, as for curl.
  bool bearer = false;                  // What follows "Bearer".
};

class Redactor {
 public:
  explicit Redactor(int nesting) : nesting_(nesting) {}

  std::string text(std::string_view text) {
    std::string out;
    size_t at = 0;
    while (at < text.size()) {
      const size_t end = word_end(text, at);
      if (end > at) out += word(text.substr(at, end - at));
      at = end;
      while (at < text.size() && is_space(text[at])) out += text[at++];
    }
    return out;
  }

 private:
  std::string word(std::string_view raw) {
    const bool quoted =
        raw.size() >= 2 && is_quote(raw.front()) && quoted_end(raw, 0) == raw.size();
    const std::string_view inner = quoted ? raw.substr(1, raw.size() - 2) : raw;
    const Expected was = expected_;
    expected_ = {};
    if (std::string hidden = expected_value(inner, quoted, was); !hidden.empty()) return hidden;
    expect_after(inner);
    if (!quoted) return pairs(inner);
    // As the program is given it: shell_words() writes a quote inside as '\''.
    const bool single = raw.front() == '\'';
    const std::string given = single ? replaced(inner, "'\\''", "'") : std::string(inner);
    const bool several = nesting_ > 0 && given.find_first_of(" \t\n") != std::string::npos;
    const std::string clean = several ? Redactor(nesting_ - 1).text(given) : pairs(given);
    return raw.front() + (single ? replaced(clean, "'", "'\\''") : clean) + raw.back();
  }

  // The word as it is to stand if it is a value that was announced; "" if it is none.
  std::string expected_value(std::string_view inner, bool quoted, const Expected& was) {
    if (was.user) {
      if (const size_t user = user_part(inner)) {
        return std::string(inner.substr(0, user)) + std::string(kRedacted);
      }
    }
    // {"token": {"value": "x"}}
    if (was.value != SecretName::none && inner.starts_with('{') && inner.ends_with(':')) {
      expected_.value = was.value;
      return std::string(inner);
    }
    const bool token = was.bearer && inner.size() >= 8 &&
                       (inner.size() >= 20 || std::any_of(inner.begin(), inner.end(), is_digit));
    const bool scheme = std::any_of(kSchemes.begin(), kSchemes.end(), [inner](const char* each) {
      return equal_ignoring_case(inner, each);
    });
    if (was.value != SecretName::none && scheme) {
      expected_.value = SecretName::certain;
      return std::string(inner);
    }
    // Another option means that the name was a flag.
    const bool option =
        !quoted && inner.size() > 1 && inner[0] == '-' && (inner[1] == '-' || is_letter(inner[1]));
    if (token || (!option && is_secret_value(was.value, trimmed_of_marks(inner)))) {
      const size_t tail = inner.find_last_not_of(kClosing) + 1;
      return std::string(kRedacted) + std::string(was.value == SecretName::none || quoted
                                                      ? std::string_view()
                                                      : inner.substr(std::max<size_t>(tail, 1)));
    }
    return "";
  }

  // In "user:password" how much stands before the password; 0 if it is nothing of the kind.
  static size_t user_part(std::string_view text) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon + 1 >= text.size()) return 0;
    const std::string_view rest = text.substr(colon + 1);
    const bool harmless = parse_double(rest) || rest.starts_with("//") || rest.starts_with('$');
    return harmless || rest == kRedacted ? 0 : colon + 1;
  }

  static std::string_view trimmed_of_marks(std::string_view word) {
    if (word.find(kRedacted) != std::string_view::npos) return kRedacted;
    while (!word.empty() && is_quote(word.front())) word.remove_prefix(1);
    while (!word.empty() &&
           (is_quote(word.back()) || kClosing.find(word.back()) != std::string_view::npos)) {
      word.remove_suffix(1);
    }
    return word;
  }

  void expect_after(std::string_view word) {
    const OptionValue option = option_value(program_, word);
    if (const std::string_view program = base_name(word); has_secret_options(program)) {
      program_ = program;
    }
    expected_.user = option == OptionValue::user_and_secret;
    if (option == OptionValue::secret) expected_.value = SecretName::certain;
    if (equal_ignoring_case(word, "bearer")) expected_.bearer = true;
    const bool is_flag =
        word.starts_with('-') && std::all_of(word.begin(), word.end(), is_name_char);
    if (is_flag && word.size() > 2) {
      expected_.value = std::max(expected_.value, secret_name(word));
    }
    is_login_ = option == OptionValue::key || (is_login_ && word.starts_with('-'));
    if (is_login_) expected_.value = std::max(expected_.value, SecretName::likely_random);
    // "password: x", "api_key": "x", and with blanks around: password = x.
    if (word.size() > 1 && word.back() == ':') {
      expected_.value = secret_name(name_at_end(word.substr(0, word.size() - 1)));
    }
    if (word == "=") expected_.value = last_name_;
    expect_after_variable(word);
    last_name_ = is_flag ? SecretName::none : secret_name(name_at_end(word));
  }

  // setenv HF_TOKEN x, set -x HF_TOKEN x, configure set secret_key x, putenv('HF_TOKEN', 'x').
  void expect_after_variable(std::string_view word) {
    const bool argument = word.ends_with("',") || word.ends_with("\",");
    const std::string_view name = name_at_end(argument ? word.substr(0, word.size() - 1) : word);
    const bool set_before = is_set_ || (argument && is_variable_name(name));
    const bool bare = argument || name == word;
    if (bare && !word.starts_with('-') && (set_before || is_variable_name(name))) {
      const SecretName kind = secret_name(name);
      const bool named = kind >= (set_before ? SecretName::likely_random : SecretName::likely);
      if (named) expected_.value = set_before ? kind : SecretName::likely_random;
    }
    is_set_ = word == "set" || word == "setenv" || (is_set_ && word.starts_with('-'));
  }

  // name=value and name:value inside one word, and shapes.
  std::string pairs(std::string_view word) const {
    const GluedOption glued = glued_option(program_, word);
    const bool user = glued.value == OptionValue::user_and_secret;
    const size_t before = user ? user_part(word.substr(glued.size)) : 0;
    if (glued.value == OptionValue::secret || before > 0) {
      return std::string(word.substr(0, glued.size + before)) + std::string(kRedacted);
    }
    std::string out;
    size_t done = 0;
    for (size_t at = 1; at < word.size(); ++at) {
      const bool argument = word[at] == ',' && is_quote(word[at - 1]);
      if (word[at] != '=' && word[at] != ':' && !argument) continue;
      const Value value = value_after(word, done, at);
      if (value.size == 0) continue;
      out += redact_shapes(word.substr(done, value.begin - done));
      out += kRedacted;
      done = value.begin + value.size;
      at = done - 1;
    }
    return out + redact_shapes(word.substr(done));
  }

  struct Value {
    size_t begin = 0;
    size_t size = 0;
  };

  // The secret that the name before the sign at `at` announces; none: size 0.
  static Value value_after(std::string_view word, size_t from, size_t at) {
    if (word.substr(at).starts_with("://")) return {};
    const bool name_quoted = at > from && is_quote(word[at - 1]);
    const std::string_view name = name_at_end(word.substr(from, at - from));
    const bool in_query = word.substr(0, at).find('?') != std::string_view::npos;
    SecretName kind = secret_name(name);
    // putenv('HF_TOKEN','x'), but ["token","text"]
    if (word[at] == ',' && !is_variable_name(name)) return {};
    const bool opens = in_query && (name == "sig" || name == "auth" || name.ends_with("ignature"));
    if (opens) kind = SecretName::certain;
    if (kind == SecretName::none) return {};
    size_t begin = at + 1;
    size_t end = word.size();
    const bool escaped = word.substr(begin).starts_with("\\\"");
    if (escaped) ++begin;
    if (begin < word.size() && is_quote(word[begin])) {
      const size_t close = word.find(word[begin], begin + 1);
      ++begin;
      if (close != std::string_view::npos) end = close - (escaped && close > begin ? 1 : 0);
    } else if (in_query) {
      end = std::min(word.find_first_of("&#;", begin), word.size());
    } else if (name_quoted) {
      end = std::min(word.find_first_of(",}]", begin), word.size());
    }
    const std::string_view value = word.substr(begin, end - begin);
    return is_secret_value(kind, value) ? Value{begin, value.size()} : Value{};
  }

  int nesting_;
  Expected expected_;
  SecretName last_name_ = SecretName::none;  // Of the word before, if that is a bare name.
  bool is_set_ = false;                      // The word before was "set" or the like.
  bool is_login_ = false;                    // "wandb login", and options since.
  std::string_view program_;                 // The last one whose own options are known.
};

}  // namespace

std::string redacted(std::string_view text) {
  return Redactor(kMostNesting).text(redact_private_keys(text));
}

}  // namespace plateau
