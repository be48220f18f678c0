// SPDX-License-Identifier: Apache-2.0
// A regular expression that a user gave, in the syntax of ECMAScript, to be looked for in names.
//
// std::regex recurses once for each character, so that a name of a hundred thousand, which a
// hostile program may well have, would exhaust the stack: only the first kMostSearched are looked
// at. Its header is the dearest of the standard library and is included by pattern.cc alone.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

class Pattern {
 public:
  static constexpr size_t kMostSearched = 4096;

  enum class Letters { exact, any_case };

  // nullopt if `text` is no regular expression.
  static std::optional<Pattern> of(const std::string& text, Letters letters = Letters::exact);

  [[nodiscard]] bool is_in(std::string_view name) const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;  // Never null.
};

}  // namespace plateau
