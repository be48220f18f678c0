// SPDX-License-Identifier: Apache-2.0
#include "census/remote_memory.h"

#include <algorithm>
#include <cstring>

namespace plateau {
namespace {

constexpr int kAddressBits = 47;  // Of user space.

bool in_user_space(uint64_t address, size_t bytes) {
  return address + bytes >= address && (address + bytes) >> kAddressBits == 0;
}

// Of `bytes` bytes at `at` in a piece; false if a page of them could not be read.
bool copy_of(const MemoryPiece& piece, size_t at, std::byte* out, size_t bytes) {
  for (size_t page = at / PieceStore::kPageBytes; page <= (at + bytes - 1) / PieceStore::kPageBytes;
       ++page) {
    if ((piece.pages >> page & 1) == 0) return false;
  }
  std::memcpy(out, piece.bytes + at, bytes);
  return true;
}

}  // namespace

void RemoteMemory::reserve(uint64_t bytes) {
  chunks_.reserve(std::min(bytes, kMostReservedBytes));
  leaves_.reserve(kReservedLeafBytes);
}

void RemoteMemory::forget() {
  chunks_.drop();
  leaves_.drop();
  closed_ = false;
  dropped_ = false;
}

bool RemoteMemory::close() {
  closed_ = true;
  return !dropped_;
}

size_t RemoteMemory::copy_from_process(uint64_t address, void* out, size_t bytes) {
  const size_t copied = process_.copy(address, out, bytes);
  bytes_read_ += copied;
  return copied;
}

// A piece may reach over the end of a mapping: the pages that exist are taken, the others noted.
const MemoryPiece* RemoteMemory::fetch(PieceStore& store, uint64_t number) {
  MemoryPiece* piece = store.add(number);
  if (piece == nullptr) return nullptr;
  constexpr size_t kPage = PieceStore::kPageBytes;
  const size_t bytes = store.piece_bytes();
  for (size_t at = 0; at < bytes;) {
    const size_t copied = copy_from_process(number * bytes + at, piece->bytes + at, bytes - at);
    for (size_t page = at / kPage; page < (at + copied) / kPage; ++page) {
      piece->pages |= uint64_t{1} << page;
    }
    at += copied / kPage * kPage;
    if (at < bytes) at += kPage;
  }
  return piece;
}

const MemoryPiece* RemoteMemory::fetch_chunk(uint64_t number) {
  if (chunks_.full()) {
    chunks_.drop();
    dropped_ = true;
  }
  return fetch(chunks_, number);
}

void RemoteMemory::expect(uint64_t address, size_t bytes) {
  if (closed_ || bytes == 0 || !in_user_space(address, bytes)) return;
  const uint64_t end = address + bytes;
  while (address < end) {
    const uint64_t leaf = address / kLeafBytes;
    if (chunks_.find(address / kChunkBytes) == nullptr && leaves_.find(leaf) == nullptr) {
      if (leaves_.full()) {
        dropped_ = true;
        return;
      }
      fetch(leaves_, leaf);
    }
    address = (leaf + 1) * kLeafBytes;
  }
}

// Of bytes within one leaf.
bool RemoteMemory::read_part(uint64_t address, std::byte* out, size_t bytes, bool near) {
  const MemoryPiece* chunk = chunks_.find(address / kChunkBytes);
  if (chunk == nullptr && near && !closed_) chunk = fetch_chunk(address / kChunkBytes);
  if (chunk != nullptr) return copy_of(*chunk, address % kChunkBytes, out, bytes);
  const MemoryPiece* leaf = leaves_.find(address / kLeafBytes);
  if (leaf != nullptr) return copy_of(*leaf, address % kLeafBytes, out, bytes);
  return !closed_ && copy_from_process(address, out, bytes) == bytes;
}

bool RemoteMemory::read(uint64_t address, void* out, size_t bytes, bool near) {
  if (bytes == 0) return true;
  if (!in_user_space(address, bytes)) return false;
  auto* to = static_cast<std::byte*>(out);
  while (bytes > 0) {
    const size_t part = std::min(bytes, kLeafBytes - static_cast<size_t>(address % kLeafBytes));
    if (!read_part(address, to, part, near)) return false;
    address += part;
    to += part;
    bytes -= part;
  }
  return true;
}

}  // namespace plateau
