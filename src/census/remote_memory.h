// SPDX-License-Identifier: Apache-2.0
// Memory of another process, fetched in pieces and kept.
//
// A Python heap of 200 MB may lie scattered over a process of 15 GB: only the pieces that hold
// something asked for are copied, each once: 256 KiB around what a walk comes by, 8 KiB around
// what is announced. What is kept is only true as long as the process stands still; close() keeps
// it from being mixed with later bytes, forget() drops it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "census/memory_reader.h"
#include "census/piece_store.h"
#include "ptrace/memory.h"

namespace plateau {

class RemoteMemory final : public MemoryReader {
 public:
  explicit RemoteMemory(pid_t pid) : process_(pid) {}

  // Makes room for `bytes` now (at most kMostReservedBytes), so that page faults of our own are
  // not paid while the process stands still.
  void reserve(uint64_t bytes);

  bool read(uint64_t address, void* out, size_t bytes, bool near) override;
  void expect(uint64_t address, size_t bytes) override;

  // From here on only what is kept is read, until forget(): the process goes on. False if not all
  // that was fetched could be kept.
  bool close();

  // What was fetched is dropped; the room for it stays.
  void forget();

  // Bytes copied from the process so far.
  [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }

 private:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  static constexpr size_t kLeafBytes = size_t{8} << 10;
  static constexpr uint64_t kMostReservedBytes = uint64_t{512} << 20;
  static constexpr uint64_t kReservedLeafBytes = uint64_t{64} << 20;
  static constexpr uint64_t kMostKeptBytes = uint64_t{2} << 30;
  static constexpr uint64_t kMostLeafBytes = uint64_t{1} << 30;

  const MemoryPiece* fetch(PieceStore& store, uint64_t number);
  const MemoryPiece* fetch_chunk(uint64_t number);
  bool read_part(uint64_t address, std::byte* out, size_t bytes, bool near);
  size_t copy_from_process(uint64_t address, void* out, size_t bytes);

  MemoryFile process_;
  PieceStore chunks_{kChunkBytes, kMostKeptBytes};
  PieceStore leaves_{kLeafBytes, kMostLeafBytes};
  uint64_t bytes_read_ = 0;
  bool closed_ = false;
  bool dropped_ = false;  // Some of what was fetched made room for other.
};

}  // namespace plateau
