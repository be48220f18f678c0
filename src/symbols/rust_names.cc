// SPDX-License-Identifier: Apache-2.0
#include "symbols/rust_names.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace plateau {
namespace {

constexpr int kDeepest = 100;
constexpr size_t kLongest = 4000;

std::string_view basic_type(char letter) {
  constexpr std::array<std::string_view, 26> kNames = {
      "i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
      "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
      "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
  return letter >= 'a' && letter <= 'z' ? kNames[static_cast<size_t>(letter - 'a')] : "";
}

// Reads a symbol from left to right and writes its name. After a fault nothing more is read.
class V0Reader {
 public:
  explicit V0Reader(std::string_view text) : text_(text) {}

  std::optional<std::string> name() {
    path(true);
    return ok_ && !out_.empty() && out_.size() < kLongest ? std::optional(out_) : std::nullopt;
  }

 private:
  class Level {
   public:
    explicit Level(V0Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > kDeepest || reader_.out_.size() > kLongest) reader_.ok_ = false;
    }
    ~Level() { --reader_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    V0Reader& reader_;
  };

  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() {
    if (at_ >= text_.size()) {
      ok_ = false;
      return '\0';
    }
    return text_[at_++];
  }
  bool skip(char letter) {
    if (peek() != letter) return false;
    ++at_;
    return true;
  }
  void say(std::string_view text) {
    if (ok_) out_ += text;
  }

  // "_" is 0, "0_" is 1.
  uint64_t base62() {
    if (skip('_')) return 0;
    uint64_t value = 0;
    while (ok_ && !skip('_')) {
      const char c = next();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 10
                        : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                               : -1;
      if (digit < 0) ok_ = false;  // Hashes may wrap around; places are checked by who asks.
      value = value * 62 + static_cast<uint64_t>(digit < 0 ? 0 : digit);
    }
    return value + 1;
  }
  uint64_t disambiguator() { return skip('s') ? base62() + 1 : 0; }

  std::string_view identifier() {
    skip('u');  // Punycode is shown as it is.
    size_t bytes = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), bytes);
    if (error != std::errc()) {
      ok_ = false;
      return "";
    }
    at_ += static_cast<size_t>(end - begin);
    skip('_');
    if (bytes > text_.size() - at_) {
      ok_ = false;
      return "";
    }
    at_ += bytes;
    return text_.substr(at_ - bytes, bytes);
  }

  // Reads what was written before, from the place that is named.
  template <class Read>
  void backref(Read read) {
    const size_t here = at_ - 1;
    const uint64_t place = base62();
    if (!ok_ || place >= here) {
      ok_ = false;
      return;
    }
    const size_t after = std::exchange(at_, static_cast<size_t>(place));
    read();
    at_ = after;
  }

  void path(bool value) {
    const Level level(*this);
    if (!ok_) return;
    switch (const char tag = next()) {
      case 'C':
        disambiguator();
        say(identifier());
        return;
      case 'M':
      case 'X':
      case 'Y':
        implementation(tag);
        return;
      case 'N':
        nested(value);
        return;
      case 'I':
        path(value);
        say(value ? "::<" : "<");
        list([this] { generic_argument(); });
        say(">");
        return;
      case 'B':
        backref([this, value] { path(value); });
        return;
      default:
        ok_ = false;
    }
  }

  void implementation(char tag) {
    if (tag != 'Y') {
      // Where it stands is not part of the name.
      disambiguator();
      const std::string before = out_;
      path(false);
      out_ = before;
    }
    say("<");
    type();
    if (tag != 'M') {
      say(" as ");
      path(false);
    }
    say(">");
  }

  void nested(bool value) {
    const char space = next();
    path(value);
    const uint64_t number = disambiguator();
    const std::string_view name = identifier();
    if (space >= 'A' && space <= 'Z') {
      say(space == 'C' ? "::{closure" : space == 'S' ? "::{shim" : "::{");
      if (!name.empty()) say(":");
      say(name);
      say("#" + std::to_string(number) + "}");
    } else if (!name.empty()) {
      say("::");
      say(name);
    }
  }

  template <class Read>
  void list(Read read) {
    for (bool first = true; ok_ && !skip('E'); first = false) {
      if (!first) say(", ");
      read();
    }
  }

  void generic_argument() {
    if (skip('L')) {
      base62();
      say("'_");
    } else if (skip('K')) {
      constant();
    } else {
      type();
    }
  }

  void constant() {
    const Level level(*this);
    if (!ok_) return;
    if (skip('B')) return backref([this] { constant(); });
    if (skip('p')) return say("_");
    const char kind = next();
    if (basic_type(kind).empty()) ok_ = false;
    if (skip('n')) say("-");
    std::string digits;
    while (ok_ && !skip('_')) digits += next();
    uint64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    if (kind == 'b' && whole) return say(number != 0 ? "true" : "false");
    say(whole ? std::to_string(number) : "0x" + digits);
  }

  void lifetime() {
    if (skip('L')) base62();
  }

  void type() {
    const Level level(*this);
    if (!ok_) return;
    const char tag = peek();
    if (const std::string_view basic = basic_type(tag); !basic.empty()) {
      ++at_;
      return say(basic);
    }
    switch (tag) {
      case 'A':
      case 'S':
        return array(next());
      case 'T':
        ++at_;
        say("(");
        list([this] { type(); });
        return say(")");
      case 'R':
      case 'Q':
        ++at_;
        lifetime();
        say(tag == 'R' ? "&" : "&mut ");
        return type();
      case 'P':
      case 'O':
        ++at_;
        say(tag == 'P' ? "*const " : "*mut ");
        return type();
      case 'F':
        ++at_;
        return function();
      case 'D':
        ++at_;
        return trait_object();
      case 'B':
        ++at_;
        return backref([this] { type(); });
      default:
        return path(false);
    }
  }

  void array(char tag) {
    say("[");
    type();
    if (tag == 'A') {
      say("; ");
      constant();
    }
    say("]");
  }

  void function() {
    if (skip('G')) base62();
    if (skip('U')) say("unsafe ");
    if (skip('K') && !skip('C')) identifier();
    say("fn(");
    list([this] { type(); });
    say(")");
    if (skip('u')) return;
    say(" -> ");
    type();
  }

  void trait_object() {
    if (skip('G')) base62();
    say("dyn ");
    for (bool first = true; ok_ && !skip('E'); first = false) {
      if (!first) say(" + ");
      path(false);
      while (ok_ && skip('p')) {
        identifier();
        const std::string before = out_;
        type();
        out_ = before;
      }
    }
    lifetime();
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
  std::string out_;
};

bool is_hash(std::string_view text) {
  return text.size() == 17 && text[0] == 'h' &&
         text.find_first_not_of("0123456789abcdef", 1) == std::string_view::npos;
}

// What stands between two dollar signs.
std::optional<std::string> escaped(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCodes = {{{"SP", "@"},
                                                                                    {"BP", "*"},
                                                                                    {"RF", "&"},
                                                                                    {"LT", "<"},
                                                                                    {"GT", ">"},
                                                                                    {"LP", "("},
                                                                                    {"RP", ")"},
                                                                                    {"C", ","}}};
  for (const auto& [name, meaning] : kCodes) {
    if (code == name) return std::string(meaning);
  }
  unsigned letter = 0;
  if (!code.starts_with('u')) return std::nullopt;
  const auto read = std::from_chars(code.data() + 1, code.data() + code.size(), letter, 16);
  if (read.ptr != code.data() + code.size() || letter < 0x20 || letter > 0x7e) return std::nullopt;
  return std::string(1, static_cast<char>(letter));
}

}  // namespace

std::optional<std::string> rust_v0_name(std::string_view symbol) {
  if (!symbol.starts_with("_R") || symbol.size() < 4) return std::nullopt;
  // A suffix of the compiler's ("." and more) is no part of the name.
  return V0Reader(symbol.substr(2, symbol.find('.') - 2)).name();
}

std::string rust_legacy_name(std::string text) {
  const size_t last = text.rfind("::");
  if (last == std::string::npos || !is_hash(std::string_view(text).substr(last + 2))) return text;
  std::string name;
  for (size_t i = 0; i < last;) {
    const size_t end = text[i] == '$' ? text.find('$', i + 1) : std::string::npos;
    const auto meaning = end < last ? escaped(std::string_view(text).substr(i + 1, end - i - 1))
                                    : std::optional<std::string>();
    if (meaning) {
      // An underscore before an escape only keeps the name from beginning with it.
      if (name.ends_with("::_") || name == "_") name.pop_back();
      name += *meaning;
      i = end + 1;
    } else if (text.compare(i, 2, "..") == 0 && i + 1 < last) {
      name += "::";
      i += 2;
    } else {
      name += text[i++];
    }
  }
  return name;
}

}  // namespace plateau
