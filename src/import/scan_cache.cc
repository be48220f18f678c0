// SPDX-License-Identifier: Apache-2.0
#include "import/scan_cache.h"

#include <cstring>

#include "base/text.h"
#include "import/text_number.h"

namespace plateau {
namespace {

// A slot for the line: its length and its first and last bytes, whatever their digits.
size_t slot_of(std::string_view line, size_t slots) {
  uint64_t mix = line.size() * 0x9e3779b97f4a7c15ull;
  for (const size_t at : {size_t{0}, line.size() / 2, line.size() - 1}) {
    const auto byte = static_cast<unsigned char>(is_digit(line[at]) ? '0' : line[at]);
    mix = (mix ^ byte) * 0x9e3779b97f4a7c15ull;
  }
  return static_cast<size_t>(mix >> 32) % slots;
}

double value_at(std::string_view line, Place place) {
  return read_number(line, place).value;
}

void renew(std::string_view line, Place place, int64_t& field) {
  if (place != kNoPlace) field = static_cast<int64_t>(value_at(line, place));
}

void renew(std::string_view line, Place place, double& field) {
  if (place != kNoPlace) field = value_at(line, place);
}

}  // namespace

bool same_shape(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const char* x = a.data();
  const char* y = b.data();
  // No early exit inside a block, so that the compiler can use vectors.
  size_t at = 0;
  for (; at + 16 <= a.size(); at += 16) {
    unsigned char differs = 0;
    for (size_t i = at; i < at + 16; ++i) {
      const bool digits = static_cast<unsigned char>(x[i] - '0') < 10 &&
                          static_cast<unsigned char>(y[i] - '0') < 10;
      differs |= static_cast<unsigned char>((x[i] != y[i]) & !digits);
    }
    if (differs != 0) return false;
  }
  for (; at < a.size(); ++at) {
    if (x[at] != y[at] && !(is_digit(x[at]) && is_digit(y[at]))) return false;
  }
  return true;
}

// Reads the numbers of a line whose shape `out` was made for; false if one of the few checks on
// values fails, and the line must be scanned after all.
bool ScanCache::refresh(std::string_view line, ScannedLine& out) {
  line = pad_line(line, out);
  for (size_t i = 0; i < out.count; ++i) {
    out.figures[i].value = value_at(line, out.figures[i].place);
  }
  renew(line, out.step_place, out.step);
  renew(line, out.step_total_place, out.step_total);
  if (out.step_total_place != kNoPlace && out.step_total < out.step) return false;
  renew(line, out.epoch_place, out.epoch);
  renew(line, out.rank_place, out.rank);
  renew(line, out.tensor_places[0], out.tensors);
  renew(line, out.tensor_places[1], out.tensors_cpu);
  renew(line, out.tensor_places[2], out.tensors_gpu);
  if (out.time_place != kNoPlace && (out.count > 0 || out.negative)) {
    const auto stamp = parse_stamp(line.substr(out.time_place, 40));
    if (!stamp) return false;
    out.time = *stamp;
  }
  return true;
}

const ScannedLine& ScanCache::scan(std::string_view line) {
  if (line.empty() || line.size() > kMaxLength) {
    scan_line(line, fresh_);
    return fresh_;
  }
  Known& known = known_[slot_of(line, kSlots)];
  if (known.filled && same_shape(known.line, line)) {
    if (refresh(line, known.result)) return known.result;
  }
  scan_line(line, known.result);
  known.filled = known.result.by_shape;
  known.line = line;
  return known.result;
}

}  // namespace plateau
