// SPDX-License-Identifier: Apache-2.0
// Expressions of templates: names, members, texts, numbers; + ~ - == != < > in not and or; tests
// (is string, is defined ...), the filters trim and length, slices of lists, x if c else y.
//
// Whatever else is written is an error when the template is read, so that nothing is computed by
// half.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trainer/text/jinja_value.h"

namespace plateau::train {

using JinjaScope = std::map<std::string, JinjaValue>;
// Throws JinjaFailure.
using JinjaExpression = std::function<JinjaValue(const JinjaScope&)>;

// While a template is rendered: raise_exception() of its own, or a value of the wrong kind. Caught
// by render_jinja().
struct JinjaFailure {
  std::string message;
};

// The whole of `text`.
Result<JinjaExpression> parse_jinja_expression(std::string_view text);

}  // namespace plateau::train
