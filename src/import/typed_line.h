// SPDX-License-Identifier: Apache-2.0
// Lines of a session: what somebody typed behind a prompt, and the answer in the next line.
//
//   >>> psutil.Process().memory_info().rss / 1e6      In [5]: proc.memory_info().rss
//   512.4                                             Out[5]: 537395200
//
// The number alone is named by what was typed, and its unit by what that was divided by.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace plateau {

// The name that a line of a session gives to the number in the next one: the expression around its
// word for memory, with the unit that its divisor makes of bytes. Empty: no prompt, or no such
// word.
std::string named_at_a_prompt(std::string_view line);

// Where the answer begins: behind "Out[5]: ", "=> " or R's "[1] "; 0 if nothing of the kind stands
// in front.
size_t behind_answer_mark(std::string_view line);

}  // namespace plateau
