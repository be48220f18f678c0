// SPDX-License-Identifier: Apache-2.0
#include "import/cut_cache.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "import/line_shape.h"
#include "import/line_stamp.h"

namespace plateau {
namespace {

bool stands_in(std::string_view part, std::string_view whole) {
  if (part.empty()) return true;
  const std::less_equal<> before;
  return before(whole.data(), part.data()) &&
         before(part.data() + part.size(), whole.data() + whole.size());
}

// The part of `to` at the place that `part` has in `from`.
std::string_view moved(std::string_view part, std::string_view from, std::string_view to) {
  if (part.empty()) return part;
  return to.substr(static_cast<size_t>(part.data() - from.data()), part.size());
}

void move_texts(CellRow& row, std::string_view from, std::string_view to) {
  row.prefix = moved(row.prefix, from, to);
  for (LogCell& cell : row.cells) {
    cell.text = moved(cell.text, from, to);
    cell.limit_text = moved(cell.limit_text, from, to);
  }
}

size_t count_numbers(const CellRow& row) {
  return static_cast<size_t>(std::count_if(row.cells.begin(), row.cells.end(),
                                           [](const LogCell& cell) { return cell.numeric; }));
}

const LogCell* first_time(const CellRow& row) {
  const auto found = std::find_if(row.cells.begin(), row.cells.end(),
                                  [](const LogCell& cell) { return cell.has_time; });
  return found == row.cells.end() ? nullptr : &*found;
}

bool starts_run(std::string_view line, size_t at) {
  if (is_digit(line[at])) return at == 0 || !is_digit(line[at - 1]);
  return is_letter(line[at]) && (at == 0 || !is_letter(line[at - 1]));
}

// No layout looks for a time inside one that begins here.
bool starts_token(std::string_view line, size_t at) {
  const char left = at > 0 ? line[at - 1] : ' ';
  return !is_letter(left) && !is_digit(left) && left != '_' && left != '.';
}

}  // namespace

CutCache::CutCache(LogLayout& layout) : layout_(layout), slots_(kSlots) {}

std::unique_ptr<CutCache::Known> CutCache::remember(std::string_view line, const CellRow& row,
                                                    bool ours) const {
  if (row.starts_block || !layout_.repeats(line) || !stands_in(row.prefix, line)) return nullptr;
  for (const LogCell& cell : row.cells) {
    if (!stands_in(cell.text, line) || !stands_in(cell.limit_text, line)) return nullptr;
  }
  const bool of_cell = row.has_time && row.time_at == CellRow::kNoTimeAt;
  if (of_cell && first_time(row) == nullptr) return nullptr;
  auto known = std::make_unique<Known>();
  known->line = line;
  known->mask = digit_mask(line);
  known->row = row;
  move_texts(known->row, line, known->line);
  known->ours = ours;
  known->numbers = count_numbers(row);
  for (size_t at = 0; at < line.size(); ++at) {
    if (!starts_run(line, at) || !may_be_stamp(line, at)) continue;
    const auto stamp = stamp_at(line, at);
    known->times.push_back({at, stamp ? stamp->length : 0});
    if (stamp && starts_token(line, at)) at += stamp->length - 1;
  }
  return known;
}

// False if the line holds other times than the one that is known.
bool CutCache::recall(const Known& known, std::string_view line, CellRow& row) const {
  row = known.row;
  for (const TimePlace& place : known.times) {
    const auto stamp = stamp_at(line, place.at);
    if ((stamp ? stamp->length : 0) != place.length) return false;
    if (stamp && place.at == row.time_at) row.time = *stamp;
  }
  move_texts(row, known.line, line);
  for (LogCell& cell : row.cells) layout_.reread(cell);
  if (count_numbers(row) != known.numbers) return false;
  if (row.time_at != CellRow::kNoTimeAt) return true;
  const LogCell* timed = first_time(row);
  if (row.has_time != (timed != nullptr)) return false;
  if (timed != nullptr) row.time = timed->time;
  return true;
}

bool CutCache::cut(std::string_view line, CellRow& row) {
  if (line.empty() || line.size() > kMaxLength) return layout_.cut(line, row);
  const uint64_t hash = shape_hash(line);
  Slot& slot = slots_[(hash >> 40) % kSlots];
  const bool seen = slot.hash == hash;
  if (seen && slot.known && same_shape(slot.known->line, slot.known->mask, line) &&
      recall(*slot.known, line, row)) {
    return slot.known->ours;
  }
  const bool ours = layout_.cut(line, row);
  slot.known = seen ? remember(line, row, ours) : nullptr;
  slot.hash = hash;
  return ours;
}

}  // namespace plateau
