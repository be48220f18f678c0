// SPDX-License-Identifier: Apache-2.0
// The shape of a line: what is left of it when digits may be any digits.
//
// Two lines have the same shape if they are equally long, digits stand at the same places, and all
// other bytes are equal. Logs repeat few shapes very often, and what a reader decides about a line
// mostly depends on its shape alone. All of this takes eight bytes at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plateau {

// Bytes of 0xff where the line has digits, zeros elsewhere.
std::string digit_mask(std::string_view line);
// Whether `line` differs from `known`, whose digit_mask() is `mask`, only in what its digits are.
bool same_shape(std::string_view known, std::string_view mask, std::string_view line);
// The same for lines of one shape; others may share it.
uint64_t shape_hash(std::string_view line);

}  // namespace plateau
