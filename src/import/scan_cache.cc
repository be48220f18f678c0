// SPDX-License-Identifier: Apache-2.0
#include "import/scan_cache.h"

#include <algorithm>
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

uint64_t load8(const char* from) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, from, 8);
  return bytes;
}

// The number at `place` of a padded line; short whole ones without a detour.
double value_at(std::string_view line, Place place) {
  const char* p = line.data() + place;
  uint32_t value = 0;
  while (is_digit(*p)) value = value * 10 + static_cast<uint32_t>(*p++ - '0');
  const bool more = *p == '.' || *p == ',' || *p == '\'' || (*p | 0x20) == 'e';
  if (more || p - (line.data() + place) > 9) return read_number(line, place).value;
  return value;
}

void renew(std::string_view line, Place place, int64_t& field) {
  if (place != kNoPlace) field = static_cast<int64_t>(value_at(line, place));
}

void renew(std::string_view line, Place place, double& field) {
  if (place != kNoPlace) field = value_at(line, place);
}

}  // namespace

// In the mask, bytes are 0xff where the line has a digit and 0 elsewhere.
std::string digit_mask(std::string_view line) {
  std::string mask(line.size(), '\0');
  for (size_t i = 0; i < line.size(); ++i) {
    if (is_digit(line[i])) mask[i] = '\xff';
  }
  return mask;
}

bool same_shape(std::string_view known, std::string_view mask, std::string_view line) {
  if (known.size() != line.size()) return false;
  const size_t size = line.size();
  if (size < 8) {
    for (size_t i = 0; i < size; ++i) {
      if (mask[i] != 0 ? !is_digit(line[i]) : known[i] != line[i]) return false;
    }
    return true;
  }
  for (size_t at = 0; at < size; at += 8) {
    // The last eight bytes overlap those before.
    const size_t from = std::min(at, size - 8);
    const uint64_t digits = load8(mask.data() + from);
    const uint64_t text = load8(line.data() + from);
    if (((text ^ load8(known.data() + from)) & ~digits) != 0) return false;
    // Where digits belong, '0' to '9' leave 0 to 9; adding 0x76 sets the top bit of all others.
    const uint64_t values = (text ^ 0x3030303030303030ull) & digits;
    const uint64_t beyond = (values & 0x7f7f7f7f7f7f7f7full) + 0x7676767676767676ull;
    if (((beyond | values) & 0x8080808080808080ull) != 0) return false;
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
  for (size_t i = 0; i < out.tensors.size(); ++i) {
    renew(line, out.tensor_places[i], out.tensors[i]);
  }
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
  if (known.filled && same_shape(known.line, known.mask, line)) {
    if (refresh(line, known.result)) return known.result;
  }
  scan_line(line, known.result);
  known.filled = known.result.by_shape;
  if (known.filled) {
    known.line = line;
    known.mask = digit_mask(line);
  }
  return known.result;
}

}  // namespace plateau
