// SPDX-License-Identifier: Apache-2.0
// Finds times anywhere in a line: what parse_stamp() reads, and dates with month names or slashes.
//
//   2026-11-15T10:00:00Z   2026-11-15 10:00   15.11.2026 10:00:00   8/24/2025, 4:46:59 PM
//   Sep 23 01:53:44        Mon  6 Dec 2010 14:36:55 GMT             Sun Nov 15 10:00:00 UTC 2026
//   23/Sep/2020:01:53:44   [00:05:12]
//
// A date without its year counts days from an unknown year (Stamp::Kind::elapsed): differences are
// right until the next new year. Of 8/9/2025 the month is taken to come first unless it cannot be.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "import/timestamp.h"

namespace plateau {

// The time that starts exactly at `at`, if one does; `length` counts from there. Requires: the byte
// before `at` is neither a letter nor a digit.
std::optional<Stamp> stamp_at(std::string_view line, size_t at);

// Whether stamp_at() could find one here if the digits of the line were other digits. No where only
// digits decide against it, yes in doubt.
bool may_be_stamp(std::string_view line, size_t at);

}  // namespace plateau
