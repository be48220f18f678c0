// SPDX-License-Identifier: Apache-2.0
// What expressions do with values. All throw JinjaFailure for values of the wrong kind.
#pragma once

#include <string_view>

#include "trainer/text/jinja_value.h"

namespace plateau::train {

bool jinja_contains(const JinjaValue& all, const JinjaValue& one);            // one in all
bool jinja_passes(const JinjaValue& value, std::string_view test);            // value is test
JinjaValue jinja_filtered(const JinjaValue& value, std::string_view filter);  // value|filter
JinjaValue jinja_sum(const JinjaValue& a, const JinjaValue& b, int sign);
JinjaValue jinja_slice(const JinjaValue& value, const JinjaValue& from, const JinjaValue& to);

}  // namespace plateau::train
