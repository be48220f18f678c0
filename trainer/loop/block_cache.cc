// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace plateau::train {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMaxKept = 1024;  // Blocks: looking for one is a walk over all.

void unmap(const MappedBlock& block) {
  ::munmap(block.address, block.bytes);
}

}  // namespace

BlockCache::~BlockCache() {
  drop();
}

MappedBlock BlockCache::take_kept(size_t bytes) {
  auto best = kept_.end();
  for (auto each = kept_.begin(); each != kept_.end(); ++each) {
    const bool fits = each->bytes >= bytes && each->bytes <= bytes + bytes / 8;
    if (fits && (best == kept_.end() || each->bytes < best->bytes)) best = each;
  }
  if (best == kept_.end()) return {};
  const MappedBlock block = *best;
  kept_.erase(best);
  kept_bytes_ -= block.bytes;
  return block;
}

void BlockCache::use(size_t bytes) {
  used_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
}

void BlockCache::unmap_oldest() {
  unmap(kept_.front());
  kept_bytes_ -= kept_.front().bytes;
  kept_.erase(kept_.begin());
}

MappedBlock BlockCache::take(size_t bytes) {
  if (bytes > SIZE_MAX - kPage) return {};
  const size_t whole = std::max(kPage, (bytes + kPage - 1) / kPage * kPage);
  const std::lock_guard lock(mutex_);
  if (const MappedBlock block = take_kept(whole); block.address != nullptr) {
    use(block.bytes);
    return block;
  }
  const size_t allowed = std::max(peak_bytes_, used_bytes_ + whole);
  while (!kept_.empty() && used_bytes_ + kept_bytes_ + whole > allowed) unmap_oldest();
  // Its pages at once: a tensor is written to its end in any case, and one call is cheaper than a
  // fault for each page.
  void* address = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (address == MAP_FAILED) return {};
  use(whole);
  return {address, whole};
}

void BlockCache::give(const MappedBlock& block) {
  const std::lock_guard lock(mutex_);
  used_bytes_ -= block.bytes;
  kept_bytes_ += block.bytes;
  kept_.push_back(block);
  if (kept_.size() > kMaxKept) unmap_oldest();
}

void BlockCache::drop() {
  const std::lock_guard lock(mutex_);
  for (const MappedBlock& block : kept_) unmap(block);
  kept_.clear();
  kept_bytes_ = 0;
}

size_t BlockCache::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

size_t BlockCache::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

size_t BlockCache::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

}  // namespace plateau::train
