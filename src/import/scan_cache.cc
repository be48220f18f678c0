// SPDX-License-Identifier: Apache-2.0
#include "import/scan_cache.h"

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
