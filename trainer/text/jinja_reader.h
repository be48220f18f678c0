// SPDX-License-Identifier: Apache-2.0
// A template's source becomes nodes that can be rendered.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trainer/text/jinja_expression.h"

namespace plateau::train {

struct JinjaNode {
  enum class Kind : uint8_t { text, output, set, loop, branches } kind = Kind::text;
  std::string text;       // Of a text; the name that is set or walks over a list.
  std::string attribute;  // set NAME.ATTRIBUTE = ...
  JinjaExpression value;
  // Conditions with what stands behind each; a loop has one, without a condition.
  std::vector<std::pair<JinjaExpression, std::vector<JinjaNode>>> bodies;
};

using JinjaNodes = std::vector<JinjaNode>;

// An error names what is not read, and its line.
Result<JinjaNodes> read_jinja(std::string_view source);

}  // namespace plateau::train
