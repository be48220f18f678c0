// SPDX-License-Identifier: Apache-2.0
#include "import/table_words.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "base/units.h"

namespace plateau {

void split_words(std::string_view line, size_t limit, std::vector<std::string_view>& words) {
  words.clear();
  std::string_view rest = line;
  while (words.size() + 1 < limit) {
    const std::string_view word = next_word(rest);
    if (word.empty()) return;
    words.push_back(word);
  }
  if (!trim(rest).empty()) words.push_back(trim(rest));
}

std::optional<Stamp> take_leading_stamp(std::string_view& line) {
  std::string_view rest = line;
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == '[')) rest.remove_prefix(1);
  auto stamp = parse_stamp(rest);
  if (!stamp) {
    std::string_view ahead = rest;
    const std::string_view word = next_word(ahead);
    const auto number = word.size() >= 10 ? parse_double(word) : std::nullopt;
    const auto seconds = number ? epoch_seconds(*number) : std::nullopt;
    if (!seconds) return std::nullopt;
    stamp = Stamp{Stamp::Kind::epoch, *seconds, word.size()};
  }
  rest.remove_prefix(std::min(rest.size(), stamp->length));
  while (!rest.empty() && (rest.front() == ']' || rest.front() == ' ' || rest.front() == ',')) {
    rest.remove_prefix(1);
  }
  if (rest.starts_with("- ")) rest.remove_prefix(2);
  line = rest;
  return stamp;
}

std::optional<double> table_amount_mb(std::string_view word, double bare_unit_mb) {
  if (word.find(',') != std::string_view::npos) {
    // A decimal comma of the locale: "1,5Gi".
    std::string dotted(word.substr(0, 40));
    std::replace(dotted.begin(), dotted.end(), ',', '.');
    return parse_memory_mb(dotted, bare_unit_mb);
  }
  return parse_memory_mb(word, bare_unit_mb);
}

}  // namespace plateau
