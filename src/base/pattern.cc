// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.h"

#include <regex>

namespace plateau {

struct Pattern::Compiled {
  std::regex regex;
};

std::optional<Pattern> Pattern::of(const std::string& text, Letters letters) {
  auto flags = std::regex::ECMAScript;
  if (letters == Letters::any_case) flags |= std::regex::icase;
  try {
    return Pattern(std::make_shared<const Compiled>(Compiled{std::regex(text, flags)}));
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

bool Pattern::is_in(std::string_view name) const {
  name = name.substr(0, kMostSearched);
  try {
    return std::regex_search(name.begin(), name.end(), compiled_->regex);
  } catch (const std::regex_error&) {
    return false;  // Too much to try: "(a*)*b" and its like.
  }
}

}  // namespace plateau
