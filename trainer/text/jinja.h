// SPDX-License-Identifier: Apache-2.0
// Chat templates as models publish them: the part of Jinja that those of vision-language models
// use.
//
// set, for, if, elif, else, comments, {{ }}, white-space control, and transformers' own
// {% generation %} marks; white space is trimmed as transformers sets Jinja up (trim_blocks,
// lstrip_blocks). Macros, imports, calls of methods and most filters are not read: an error names
// the first. tests/stack/templates.py compares with transformers' own rendering.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/text/jinja_expression.h"

namespace plateau::train {

struct JinjaNode;

class JinjaTemplate {
 public:
  // An error names what is not read, and its line.
  static Result<JinjaTemplate> parse(std::string_view source);

  // Errors: raise_exception() of the template, values of the wrong kind, an endless text.
  [[nodiscard]] Result<std::string> render(const JinjaScope& values) const;

 private:
  std::shared_ptr<const std::vector<JinjaNode>> nodes_;
};

// {"messages": [...], "add_generation_prompt": true} as values of a template.
Result<JinjaScope> jinja_values_of_json(std::string_view json);

}  // namespace plateau::train
