// SPDX-License-Identifier: Apache-2.0
#include "import/typed_line.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"
#include "import/slot_name.h"

namespace plateau {
namespace {

constexpr size_t kLongestPrompt = 60;
constexpr size_t kLongestName = 80;

bool is_prompt(std::string_view token) {
  if (token == "$" || token == ">>>") return true;
  // "irb(main):012:0>", "julia>", "C:\srv>"; but no tag, and no arrow.
  return token.size() >= 3 && token.ends_with('>') && token.front() != '<' &&
         is_letter(token.front()) && token.find('<') == std::string_view::npos &&
         !token.ends_with("->") && !token.ends_with("=>");
}

// "worker-1> RSS: 512 MB", "main> rss=512": a figure, and no expression.
bool says_how_much(std::string_view token, std::string_view rest) {
  rest = trim(rest);
  if (!rest.empty() && is_digit(rest.front())) return true;
  const size_t sign = token.find_first_of("=:");
  return sign != std::string_view::npos && sign + 1 < token.size() && is_digit(token[sign + 1]);
}

// What was typed; empty if the line has no prompt.
std::string_view typed_in(std::string_view line) {
  std::string_view rest = trim(line);
  const std::string_view first = next_word(rest);
  if (is_prompt(first)) return trim(rest);
  const std::string_view second = next_word(rest);
  const bool power_shell =
      first == "PS" && second.size() <= kLongestPrompt && second.ends_with('>');
  const bool notebook = first == "In" && second.starts_with('[') && second.ends_with("]:");
  return power_shell || notebook ? trim(rest) : std::string_view();
}

// The number at the beginning of `text`, "1024", "1e6" or "2**20"; moves `text` behind it. 0: none.
double factor_at(std::string_view& text) {
  const size_t end = std::min(text.find_first_not_of("0123456789.e"), text.size());
  const double base = parse_double(text.substr(0, end)).value_or(0);
  text.remove_prefix(end);
  if (!text.starts_with("**")) return base;
  text.remove_prefix(2);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const double power = parse_double(text.substr(0, digits)).value_or(0);
  text.remove_prefix(digits);
  return power <= 40 ? std::pow(base, power) : 0;
}

// What the typed expression is divided by, all factors together; 1 if by nothing.
double divisor_of(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return 1;
  std::string factors(text.substr(slash + 1));
  std::erase(factors, ' ');  // "1024 ** 2"
  double product = 1;
  for (text = factors; !text.empty();) {
    if (!is_digit(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const double factor = factor_at(text);
    // "1MB" of PowerShell has 1024 times 1024 bytes.
    if (factor == 1 && text.starts_with("KB")) product *= 1024;
    if (factor == 1 && text.starts_with("MB")) product *= 1024 * 1024;
    if (factor == 1 && text.starts_with("GB")) product *= 1024.0 * 1024 * 1024;
    if (factor > 1) product *= factor;
  }
  return product;
}

std::string_view unit_left_by(double divisor) {
  struct Unit {
    double bytes;
    std::string_view name;
  };
  static constexpr Unit kUnits[] = {{1e3, " kB"}, {1024, " KiB"},
                                    {1e6, " MB"}, {1024.0 * 1024, " MiB"},
                                    {1e9, " GB"}, {1024.0 * 1024 * 1024, " GiB"}};
  for (const Unit& unit : kUnits) {
    if (divisor == unit.bytes) return unit.name;
  }
  return "";
}

}  // namespace

std::string named_at_a_prompt(std::string_view line) {
  std::string_view rest = typed_in(line);
  while (!rest.empty()) {
    const std::string_view token = next_word(rest);
    const SlotName name = weigh_name(token);
    if (!name.memory || name.weight <= 0) continue;
    if (says_how_much(token, rest)) return {};
    std::string out(token.substr(0, std::min(token.find('/', 1), kLongestName)));
    const size_t slash = token.find('/', 1);
    const std::string_view behind =
        slash == std::string_view::npos ? rest : line.substr(token.data() + slash - line.data());
    // getrusage() counts KiB on Linux.
    const bool in_kib = out.find("maxrss") != std::string::npos;
    const double divisor = divisor_of(behind) * (in_kib ? 1024 : 1);
    return out.append(divisor > 1 ? unit_left_by(divisor) : "");
  }
  return {};
}

size_t behind_answer_mark(std::string_view line) {
  if (line.starts_with("=> ")) return 3;
  // R numbers what it prints: "[1] 61.2", "[1] \"iteration 7\"".
  const bool of_r = line.starts_with("[1] ") && line.size() > 4;
  if (of_r && (line[4] == '"' || is_digit(line[4]))) return 4;
  if (!line.starts_with("Out[")) return 0;
  const size_t end = line.find("]: ");
  return end == std::string_view::npos ? 0 : end + 3;
}

}  // namespace plateau
