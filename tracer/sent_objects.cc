// SPDX-License-Identifier: Apache-2.0
#include "tracer/sent_objects.h"

#include <atomic>
#include <cstdint>
#include <cstring>

namespace plateau::trace {
namespace {

// Records back to back, each behind its length.
char g_kept[kSentBytes];
size_t g_kept_bytes = 0;
std::atomic<bool> g_whole{true};  // Everything that was sent is in there.
std::atomic<uint32_t> g_taken{0};

// One thread at a time; who comes second goes without. A child whose parent forked in between finds
// it taken for good.
class Taken {
 public:
  Taken() noexcept : mine_(g_taken.exchange(1, std::memory_order_acquire) == 0) {}
  ~Taken() {
    if (mine_) g_taken.store(0, std::memory_order_release);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  explicit operator bool() const noexcept { return mine_; }

 private:
  bool mine_;
};

bool is_kept(const char* record, size_t bytes) noexcept {
  for (size_t at = 0; at < g_kept_bytes;) {
    size_t length = 0;
    memcpy(&length, g_kept + at, sizeof length);
    at += sizeof length;
    if (length == bytes && memcmp(g_kept + at, record, bytes) == 0) return true;
    at += length;
  }
  return false;
}

}  // namespace

void keep_sent(const Piece* pieces, size_t count) noexcept {
  const Taken taken;
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += pieces[i].count;
  if (!taken || bytes + sizeof bytes > kSentBytes - g_kept_bytes) {
    g_whole.store(false, std::memory_order_relaxed);
    return;
  }
  char* const record = g_kept + g_kept_bytes + sizeof bytes;
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    memcpy(record + at, pieces[i].bytes, pieces[i].count);
    at += pieces[i].count;
  }
  // Two objects that share a place in the list of announced ones are sent in turns.
  if (is_kept(record, bytes)) return;
  memcpy(record - sizeof bytes, &bytes, sizeof bytes);
  g_kept_bytes += sizeof bytes + bytes;
}

void forget_sent() noexcept {
  const Taken taken;
  if (taken) g_kept_bytes = 0;
  g_whole.store(static_cast<bool>(taken), std::memory_order_relaxed);
}

bool send_again() noexcept {
  const Taken taken;
  if (!taken || !g_whole.load(std::memory_order_relaxed)) return false;
  for (size_t at = 0; at < g_kept_bytes;) {
    size_t bytes = 0;
    memcpy(&bytes, g_kept + at, sizeof bytes);
    const Piece record{g_kept + at + sizeof bytes, bytes};
    if (!put_record(&record, 1)) return false;
    at += sizeof bytes + bytes;
  }
  return true;
}

}  // namespace plateau::trace
