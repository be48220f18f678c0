// SPDX-License-Identifier: Apache-2.0
#include "census/piece_store.h"

#include <sys/mman.h>

#include <algorithm>

namespace plateau {
namespace {

constexpr size_t kFirstTableSlots = 4096;

size_t slot_of(uint64_t number, size_t slots) {
  return static_cast<size_t>((number * 0x9E3779B97F4A7C15U) >> 20) & (slots - 1);
}

}  // namespace

PieceStore::~PieceStore() {
  for (std::byte* slab : slabs_) ::munmap(slab, kSlabBytes);
}

bool PieceStore::add_slab(bool populate) {
  // Room for one slab more than is kept is cut off, so that the slab begins at a huge page.
  constexpr size_t kHuge = size_t{2} << 20;
  void* raw = ::mmap(nullptr, kSlabBytes + kHuge, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return false;
  auto* begin = static_cast<std::byte*>(raw);
  const size_t skip = (kHuge - reinterpret_cast<uintptr_t>(begin) % kHuge) % kHuge;
  if (skip > 0) ::munmap(begin, skip);
  if (skip < kHuge) ::munmap(begin + skip + kSlabBytes, kHuge - skip);
  std::byte* slab = begin + skip;
  ::madvise(slab, kSlabBytes, MADV_HUGEPAGE);
  if (populate) {
    for (size_t at = 0; at < kSlabBytes; at += kPageBytes) slab[at] = std::byte{0};
  }
  slabs_.push_back(slab);
  return true;
}

void PieceStore::reserve(uint64_t bytes) {
  while (slabs_.size() * kSlabBytes < bytes) {
    if (!add_slab(true)) return;
  }
}

void PieceStore::drop() {
  std::fill(table_.begin(), table_.end(), MemoryPiece{});
  used_ = 0;
  last_ = nullptr;
}

std::byte* PieceStore::room() {
  const size_t per_slab = kSlabBytes / piece_bytes_;
  if (full()) return nullptr;
  if (used_ == slabs_.size() * per_slab && !add_slab(false)) return nullptr;
  return slabs_[used_ / per_slab] + (used_ % per_slab) * piece_bytes_;
}

void PieceStore::grow_table() {
  std::vector<MemoryPiece> old = std::move(table_);
  table_.assign(std::max(kFirstTableSlots, old.size() * 2), MemoryPiece{});
  last_ = nullptr;
  for (const MemoryPiece& piece : old) {
    if (piece.bytes == nullptr) continue;
    size_t slot = slot_of(piece.number, table_.size());
    while (table_[slot].bytes != nullptr) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = piece;
  }
}

const MemoryPiece* PieceStore::find(uint64_t number) {
  if (last_ != nullptr && last_->number == number) return last_;
  if (table_.empty()) return nullptr;
  size_t slot = slot_of(number, table_.size());
  while (table_[slot].bytes != nullptr) {
    if (table_[slot].number == number) {
      last_ = &table_[slot];
      return last_;
    }
    slot = (slot + 1) & (table_.size() - 1);
  }
  return nullptr;
}

MemoryPiece* PieceStore::add(uint64_t number) {
  std::byte* bytes = room();
  if (bytes == nullptr) return nullptr;
  if ((used_ + 1) * 2 > table_.size()) grow_table();
  ++used_;
  size_t slot = slot_of(number, table_.size());
  while (table_[slot].bytes != nullptr) slot = (slot + 1) & (table_.size() - 1);
  table_[slot] = {.number = number, .bytes = bytes};
  last_ = &table_[slot];
  return last_;
}

}  // namespace plateau
