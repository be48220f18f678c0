// SPDX-License-Identifier: Apache-2.0
#include "census/remote_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "ptrace/memory.h"

namespace plateau {
namespace {

constexpr size_t kFirstTableSlots = 4096;
constexpr int kAddressBits = 47;  // Of user space.

size_t slot_of(uint64_t number, size_t slots) {
  return static_cast<size_t>((number * 0x9E3779B97F4A7C15U) >> 20) & (slots - 1);
}

}  // namespace

RemoteMemory::~RemoteMemory() {
  for (std::byte* slab : slabs_) ::munmap(slab, kSlabBytes);
}

bool RemoteMemory::add_slab(bool populate) {
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

void RemoteMemory::reserve(uint64_t bytes) {
  const uint64_t wanted = std::min(bytes, kMostReservedBytes);
  while (slabs_.size() * kSlabBytes < wanted) {
    if (!add_slab(true)) return;
  }
}

void RemoteMemory::drop_chunks() {
  std::fill(table_.begin(), table_.end(), Chunk{});
  used_chunks_ = 0;
  last_ = {};
}

void RemoteMemory::forget() {
  drop_chunks();
  closed_ = false;
  dropped_ = false;
}

bool RemoteMemory::close() {
  closed_ = true;
  return !dropped_;
}

void RemoteMemory::expect(uint64_t address) {
  if (address >> kAddressBits != 0) return;
  if (find_chunk(address / kChunkBytes) == nullptr) fetch_chunk(address / kChunkBytes);
}

std::byte* RemoteMemory::room_for_chunk() {
  constexpr size_t kPerSlab = kSlabBytes / kChunkBytes;
  if (used_chunks_ * kChunkBytes >= kMostKeptBytes) {
    drop_chunks();
    dropped_ = true;
  }
  if (used_chunks_ == slabs_.size() * kPerSlab && !add_slab(false)) return nullptr;
  std::byte* slab = slabs_[used_chunks_ / kPerSlab];
  return slab + (used_chunks_ % kPerSlab) * kChunkBytes;
}

void RemoteMemory::grow_table() {
  std::vector<Chunk> old = std::move(table_);
  table_.assign(std::max(kFirstTableSlots, old.size() * 2), Chunk{});
  for (const Chunk& chunk : old) {
    if (chunk.bytes == nullptr) continue;
    size_t slot = slot_of(chunk.number, table_.size());
    while (table_[slot].bytes != nullptr) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = chunk;
  }
}

RemoteMemory::Chunk* RemoteMemory::find_chunk(uint64_t number) {
  if (last_.bytes != nullptr && last_.number == number) return &last_;
  if (table_.empty()) return nullptr;
  size_t slot = slot_of(number, table_.size());
  while (table_[slot].bytes != nullptr) {
    if (table_[slot].number == number) {
      last_ = table_[slot];
      return &last_;
    }
    slot = (slot + 1) & (table_.size() - 1);
  }
  return nullptr;
}

size_t RemoteMemory::copy_from_process(uint64_t address, void* out, size_t bytes) {
  const size_t copied = copy_memory(pid_, address, out, bytes);
  bytes_read_ += copied;
  return copied;
}

// A chunk may reach over the end of a mapping: the pages that exist are taken, the others noted.
RemoteMemory::Chunk* RemoteMemory::fetch_chunk(uint64_t number) {
  std::byte* room = room_for_chunk();
  if (room == nullptr) return nullptr;
  Chunk chunk{.number = number, .bytes = room};
  for (size_t at = 0; at < kChunkBytes;) {
    const size_t copied = copy_from_process(number * kChunkBytes + at, room + at, kChunkBytes - at);
    for (size_t page = at / kPageBytes; page < (at + copied) / kPageBytes; ++page) {
      chunk.pages |= uint64_t{1} << page;
    }
    at += copied / kPageBytes * kPageBytes;
    if (at < kChunkBytes) at += kPageBytes;
  }
  if ((used_chunks_ + 1) * 2 > table_.size()) grow_table();
  ++used_chunks_;
  size_t slot = slot_of(number, table_.size());
  while (table_[slot].bytes != nullptr) slot = (slot + 1) & (table_.size() - 1);
  table_[slot] = chunk;
  last_ = chunk;
  return &last_;
}

bool RemoteMemory::read(uint64_t address, void* out, size_t bytes, bool near) {
  if (bytes == 0) return true;
  if (address + bytes < address || (address + bytes) >> kAddressBits != 0) return false;
  auto* to = static_cast<std::byte*>(out);
  while (bytes > 0) {
    const uint64_t number = address / kChunkBytes;
    const size_t at = static_cast<size_t>(address % kChunkBytes);
    const size_t part = std::min(bytes, kChunkBytes - at);
    Chunk* chunk = find_chunk(number);
    if (chunk == nullptr && closed_) return false;
    if (chunk == nullptr && near) chunk = fetch_chunk(number);
    if (chunk == nullptr) {
      if (copy_from_process(address, to, part) != part) return false;
    } else {
      for (size_t page = at / kPageBytes; page <= (at + part - 1) / kPageBytes; ++page) {
        if ((chunk->pages >> page & 1) == 0) return false;
      }
      std::memcpy(to, chunk->bytes + at, part);
    }
    address += part;
    to += part;
    bytes -= part;
  }
  return true;
}

}  // namespace plateau
