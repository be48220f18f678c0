// SPDX-License-Identifier: Apache-2.0
// Pieces of another address space, all of one size, found by their number.
//
// Room for pieces is taken in slabs of huge pages, as many as wanted before the process is stopped,
// so that page faults of our own are not paid while it stands still.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plateau {

struct MemoryPiece {
  uint64_t number = 0;         // Address / piece_bytes.
  std::byte* bytes = nullptr;  // Null: the slot is free.
  uint64_t pages = 0;          // Bit i: page i could be read.
};

class PieceStore {
 public:
  static constexpr size_t kPageBytes = 4096;

  // Requires: `piece_bytes` is a power of two of 1 to 64 pages; `most_bytes` is a multiple of it.
  PieceStore(size_t piece_bytes, uint64_t most_bytes)
      : piece_bytes_(piece_bytes), most_bytes_(most_bytes) {}
  ~PieceStore();
  PieceStore(const PieceStore&) = delete;
  PieceStore& operator=(const PieceStore&) = delete;

  [[nodiscard]] size_t piece_bytes() const { return piece_bytes_; }
  void reserve(uint64_t bytes);

  // Null if it is not kept. Valid until the next add() or drop().
  const MemoryPiece* find(uint64_t number);
  // Room for a piece that is not kept yet, to be filled by the caller. Null if there is none: then
  // the store is full, or the system has no memory.
  MemoryPiece* add(uint64_t number);
  void drop();
  [[nodiscard]] bool full() const { return used_ * piece_bytes_ >= most_bytes_; }

 private:
  static constexpr size_t kSlabBytes = size_t{32} << 20;

  std::byte* room();
  bool add_slab(bool populate);
  void grow_table();

  size_t piece_bytes_;
  uint64_t most_bytes_;
  std::vector<std::byte*> slabs_;
  size_t used_ = 0;                 // Pieces of the room in slabs_.
  std::vector<MemoryPiece> table_;  // Open addressing; the size is a power of two.
  MemoryPiece* last_ = nullptr;     // Found last.
};

}  // namespace plateau
