// SPDX-License-Identifier: Apache-2.0
// For tests: writes what the readers of framed logs read, after docs/formats/run-folders.md, so
// that no test needs TensorBoard or W&B.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.h"
#include "recording/wire.h"

namespace plateau::testing_bytes {

inline std::string little(uint64_t value, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

inline std::string number_field(uint64_t field, uint64_t value) {
  std::string out;
  put_varint(out, field << 3);
  put_varint(out, value);
  return out;
}

inline std::string bytes_field(uint64_t field, std::string_view bytes) {
  std::string out;
  put_varint(out, field << 3 | 2);
  put_text(out, bytes);
  return out;
}

inline std::string double_field(uint64_t field, double value) {
  std::string out;
  put_varint(out, field << 3 | 1);
  return out + little(std::bit_cast<uint64_t>(value), 8);
}

inline std::string float_field(uint64_t field, float value) {
  std::string out;
  put_varint(out, field << 3 | 5);
  return out + little(std::bit_cast<uint32_t>(value), 4);
}

inline std::string tfrecord(std::string_view data) {
  const std::string length = little(data.size(), 8);
  return length + little(masked_crc32c(length), 4) + std::string(data) +
         little(masked_crc32c(data), 4);
}

// An event with one scalar as a float.
inline std::string event(double time_s, int64_t step, std::string_view tag, double value) {
  const std::string scalar = bytes_field(1, tag) + float_field(2, static_cast<float>(value));
  return double_field(1, time_s) + number_field(2, static_cast<uint64_t>(step)) +
         bytes_field(5, bytes_field(1, scalar));
}

// A W&B file of these records, cut into pieces at the ends of blocks.
inline std::string wandb_file(const std::vector<std::string>& records) {
  constexpr size_t kBlock = 32768;
  std::string out(":W&B\xe1\xbe\0", 7);
  for (const std::string& record : records) {
    size_t at = 0;
    bool first = true;
    do {
      size_t left = kBlock - out.size() % kBlock;
      if (left < 7) {
        out.append(left, '\0');
        left = kBlock;
      }
      const size_t size = std::min(record.size() - at, left - 7);
      const bool last = at + size == record.size();
      const char kind = static_cast<char>(first ? (last ? 1 : 2) : (last ? 4 : 3));
      const std::string covered = kind + record.substr(at, size);
      out += little(crc32_of(covered), 4) + little(size, 2) + covered;
      at += size;
      first = false;
    } while (at < record.size());
  }
  return out;
}

inline std::string wandb_item(std::string_view key, std::string_view json) {
  return bytes_field(1, key) + bytes_field(16, json);
}

// A sample of the machine with one figure.
inline std::string wandb_stats(uint64_t time_s, std::string_view key, std::string_view json) {
  return bytes_field(
      7, bytes_field(2, number_field(1, time_s)) + bytes_field(3, wandb_item(key, json)));
}

// What a program logs at a step.
inline std::string wandb_history(uint64_t time_s, uint64_t step, std::string_view key,
                                 std::string_view json) {
  std::string record = bytes_field(1, wandb_item("_timestamp", std::to_string(time_s)));
  record += bytes_field(1, bytes_field(2, key) + bytes_field(16, json));
  return bytes_field(2, record + bytes_field(2, number_field(1, step)));
}

}  // namespace plateau::testing_bytes
