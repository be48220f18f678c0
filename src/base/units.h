// SPDX-License-Identifier: Apache-2.0
// Amounts of memory: the one internal unit, and how people write it.
//
// Internally memory is a double in MB, 1 MB = 1,000,000 bytes. A log that says "17,412 MB" is
// therefore shown back as "17.4 GB", and one that says "5.4 GiB" as 5.8 GB. Units are taken at
// their word: kB/MB/GB/TB are powers of 1000, KiB/MiB/GiB/TiB powers of 1024, and a bare K, M, G, T
// (as top, ps and free print them) powers of 1024.
//
// A program that divides by 1024² and prints "MB" is read 5 % low in absolute bytes, and so is its
// limit; growth, shape and verdict do not depend on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

inline constexpr double kBytesPerMb = 1e6;

// From the kernel's kB, which are 1024 bytes.
constexpr double mb_of_kb(int64_t kb) {
  return static_cast<double>(kb) * 1024 / kBytesPerMb;
}

// Scale of a unit word in MB ("GiB" -> 1073.741824), case-insensitive; nullopt if not a unit.
// "b" and "bytes" are units; a bare number is not.
std::optional<double> unit_in_mb(std::string_view word);

// Parses "20GB", "5.4 GiB", "7,159 MB", "17412" (no unit: `bare_unit_mb` per unit). The whole text
// must be the amount. Rejects negative, NaN and infinite amounts.
std::optional<double> parse_memory_mb(std::string_view text, double bare_unit_mb = 1.0);

// "532 MB", "17.4 GB", "1.21 TB", "0.4 MB": three significant digits at most, unit chosen by size.
std::string format_mb(double mb);

// Like format_mb with an explicit sign: "+168 MB", "-3.2 MB".
std::string format_mb_signed(double mb);

// Thousands separated: 6529 -> "6,529".
std::string format_count(int64_t n);

// "1 sample", "6,529 samples": nouns whose plural ends in s.
std::string counted(uint64_t n, std::string_view noun);

// "45 s", "12 min", "3.5 h", "2.1 days".
std::string format_seconds(double seconds);

// A moment since 1970: "2026-11-17 09:05 UTC". A number that is none of the years 1 to 9999, as a
// broken recording may hold, is "no date".
std::string format_utc(double unix_s);

}  // namespace plateau
