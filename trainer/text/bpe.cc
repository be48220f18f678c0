// SPDX-License-Identifier: Apache-2.0
// The naive way looks through the whole piece for the best pair after each merge: quadratic, and a
// piece may be as long as the text (a base64 string has no place to cut). Here candidates wait in a
// heap, ordered by rank and then from left to right, and symbols form a linked list. A candidate
// may be out of date when its turn comes, because a neighbour was merged first: then what stands at
// its place now does not merge to the same token, and it is dropped; the pairs that the neighbour's
// merge brought about were queued at that time.
#include "trainer/text/bpe.h"

#include <algorithm>
#include <bit>

namespace plateau::train {

MergeTable::MergeTable(size_t expected) : slots_(std::bit_ceil(expected + expected / 2 + 2)) {}

size_t MergeTable::slot_of(uint32_t left, uint32_t right) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t key = (static_cast<uint64_t>(left) << 32U) | right;
  // Fibonacci hashing: the high bits of the product depend on every bit of the key.
  size_t at = static_cast<size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32U) & mask;
  while (slots_[at].left != kNone && (slots_[at].left != left || slots_[at].right != right)) {
    at = (at + 1) & mask;
  }
  return at;
}

void MergeTable::set(uint32_t left, uint32_t right, Merge merge) {
  slots_[slot_of(left, right)] = {.left = left, .right = right, .merge = merge};
}

const Merge* MergeTable::find(uint32_t left, uint32_t right) const {
  const Slot& slot = slots_[slot_of(left, right)];
  return slot.left == kNone ? nullptr : &slot.merge;
}

bool BpeMerger::comes_later(const Candidate& a, const Candidate& b) {
  if (a.merge.rank != b.merge.rank) return a.merge.rank > b.merge.rank;
  return a.at > b.at;
}

void BpeMerger::consider(size_t left) {
  const size_t right = symbols_[left].next;
  if (right == kNowhere) return;
  const Merge* merge = merges_.find(symbols_[left].id, symbols_[right].id);
  if (merge == nullptr) return;
  queue_.push_back({.at = left, .merge = *merge});
  std::push_heap(queue_.begin(), queue_.end(), comes_later);
}

void BpeMerger::join(const Candidate& candidate) {
  Symbol& left = symbols_[candidate.at];
  if (left.bytes == 0 || left.next == kNowhere) return;
  Symbol& right = symbols_[left.next];
  const Merge* now = merges_.find(left.id, right.id);
  if (now == nullptr || now->id != candidate.merge.id) return;
  left.id = now->id;
  left.bytes += right.bytes;
  left.next = right.next;
  right.bytes = 0;
  if (left.next != kNowhere) symbols_[left.next].previous = candidate.at;
  if (left.previous != kNowhere) consider(left.previous);
  consider(candidate.at);
}

void BpeMerger::append(std::string_view piece, size_t offset, std::vector<Token>& tokens) {
  if (piece.empty()) return;
  symbols_.resize(piece.size());
  queue_.clear();
  for (size_t i = 0; i < piece.size(); ++i) {
    symbols_[i] = {.id = byte_ids_[static_cast<unsigned char>(piece[i])],
                   .bytes = 1,
                   .previous = i == 0 ? kNowhere : i - 1,
                   .next = i + 1 == piece.size() ? kNowhere : i + 1};
  }
  for (size_t i = 0; i + 1 < piece.size(); ++i) consider(i);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), comes_later);
    const Candidate candidate = queue_.back();
    queue_.pop_back();
    join(candidate);
  }
  for (size_t at = 0; at != kNowhere; at = symbols_[at].next) {
    const Symbol& symbol = symbols_[at];
    tokens.push_back({.id = symbol.id, .begin = offset + at, .end = offset + at + symbol.bytes});
  }
}

}  // namespace plateau::train
