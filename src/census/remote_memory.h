// SPDX-License-Identifier: Apache-2.0
// Memory of another process, fetched in pieces of 256 KiB and kept.
//
// A Python heap of 200 MB may lie scattered over a process of 15 GB: only the pieces that hold
// something asked for are copied, each once. What is kept is only true as long as the process
// stands still; close() keeps it from being mixed with later bytes, forget() drops it.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "census/memory_reader.h"

namespace plateau {

class RemoteMemory final : public MemoryReader {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}
  ~RemoteMemory() override;

  // Makes room for `bytes` now (at most kMostReservedBytes), so that page faults of our own are
  // not paid while the process stands still.
  void reserve(uint64_t bytes);

  bool read(uint64_t address, void* out, size_t bytes, bool near) override;
  void expect(uint64_t address) override;

  // From here on only what is kept is read, until forget(): the process goes on. False if not all
  // that was fetched could be kept.
  bool close();

  // What was fetched is dropped; the room for it stays.
  void forget();

  // Bytes copied from the process so far.
  [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }

 private:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kSlabBytes = size_t{32} << 20;
  static constexpr uint64_t kMostReservedBytes = uint64_t{512} << 20;
  static constexpr uint64_t kMostKeptBytes = uint64_t{2} << 30;

  struct Chunk {
    uint64_t number = 0;         // Address / kChunkBytes.
    std::byte* bytes = nullptr;  // Null: the slot is free.
    uint64_t pages = 0;          // Bit i: page i could be read.
  };

  void drop_chunks();
  Chunk* find_chunk(uint64_t number);
  Chunk* fetch_chunk(uint64_t number);
  std::byte* room_for_chunk();
  bool add_slab(bool populate);
  void grow_table();
  size_t copy_from_process(uint64_t address, void* out, size_t bytes);

  pid_t pid_;
  std::vector<std::byte*> slabs_;
  size_t used_chunks_ = 0;    // Of the room in slabs_.
  std::vector<Chunk> table_;  // Open addressing; the size is a power of two.
  Chunk last_;
  uint64_t bytes_read_ = 0;
  bool closed_ = false;
  bool dropped_ = false;  // Some of what was fetched made room for other.
};

}  // namespace plateau
