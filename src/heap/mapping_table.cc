// SPDX-License-Identifier: Apache-2.0
#include "heap/mapping_table.h"

#include <algorithm>

namespace plateau {
namespace {

// Unmappings remembered in one round; beyond that a late mapping may stay though it has ended.
constexpr size_t kMaxEnded = 65536;

}  // namespace

void MappingTable::carve(uint64_t begin, uint64_t end, uint64_t stamp, const Gone& gone) {
  auto it = pieces_.upper_bound(begin);
  if (it != pieces_.begin()) --it;
  while (it != pieces_.end() && it->first < end) {
    const uint64_t piece_begin = it->first;
    const MappedPiece piece = it->second;
    if (piece.end <= begin || piece.stamp > stamp) {
      ++it;
      continue;
    }
    it = pieces_.erase(it);
    const uint64_t from = std::max(begin, piece_begin);
    const uint64_t to = std::min(end, piece.end);
    if (piece_begin < from) {
      MappedPiece left = piece;
      left.end = from;
      pieces_.emplace(piece_begin, left);
    }
    if (to < piece.end) pieces_.emplace(to, piece);
    gone(piece, to - from);
  }
}

std::vector<MappingTable::Ended> MappingTable::uncovered(uint64_t begin, uint64_t end,
                                                         uint64_t stamp) const {
  std::vector<Ended> covers;
  auto it = pieces_.upper_bound(begin);
  if (it != pieces_.begin()) --it;
  for (; it != pieces_.end() && it->first < end; ++it) {
    if (it->second.stamp > stamp) covers.push_back({it->first, it->second.end, 0});
  }
  for (const std::vector<Ended>* list : {&ended_, &ended_before_}) {
    for (const Ended& ended : *list) {
      if (ended.stamp > stamp && ended.begin < end && ended.end > begin) covers.push_back(ended);
    }
  }
  std::sort(covers.begin(), covers.end(),
            [](const Ended& a, const Ended& b) { return a.begin < b.begin; });
  std::vector<Ended> free;
  uint64_t at = begin;
  for (const Ended& cover : covers) {
    if (cover.begin > at) free.push_back({at, std::min(cover.begin, end), stamp});
    at = std::max(at, cover.end);
    if (at >= end) break;
  }
  if (at < end) free.push_back({at, end, stamp});
  return free;
}

bool MappingTable::add(uint64_t begin, const MappedPiece& piece, const Gone& gone) {
  if (pieces_.size() >= kMaxPieces) return false;
  carve(begin, piece.end, piece.stamp, gone);
  uint64_t alive = 0;
  for (const Ended& part : uncovered(begin, piece.end, piece.stamp)) {
    MappedPiece kept = piece;
    kept.end = part.end;
    pieces_.emplace(part.begin, kept);
    alive += part.end - part.begin;
  }
  const uint64_t bytes = piece.end - begin;
  if (alive < bytes) gone(piece, bytes - alive);
  return true;
}

void MappingTable::remove(uint64_t begin, uint64_t end, uint64_t stamp, const Gone& gone) {
  if (begin >= end) return;
  carve(begin, end, stamp, gone);
  if (ended_.size() < kMaxEnded) ended_.push_back({begin, end, stamp});
}

void MappingTable::end_round() {
  ended_before_.clear();
  ended_before_.swap(ended_);
}

}  // namespace plateau
