// SPDX-License-Identifier: Apache-2.0
// Whatever bytes stand for a heap track: decoding ends, no index points nowhere, and what was
// decoded can be written and read again as the same. The bytes are tried as they are, and as what
// a good zlib stream unpacks to, or no mutation would ever get past the stream's checksum.
#include <cstdio>
#include <cstdlib>

#include "base/compression.h"
#include "recording/checks_for_test.h"
#include "recording/heap_track_codec.h"
#include "recording/wire.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

void check(std::string_view bytes) {
  const auto track = plateau::decode_heap_track(bytes);
  if (!track.ok()) return require(!track.error().message.empty(), "an error has a message");
  require(plateau::check_heap_track(track.value()).empty(), "no index points nowhere");
  // Units follow from the interval, so the first writing may round; the second must not.
  const auto once = plateau::decode_heap_track(plateau::encode_heap_track(track.value()));
  require(once.ok(), "what was decoded can be written and read");
  const std::string again = plateau::encode_heap_track(once.value());
  const auto twice = plateau::decode_heap_track(again);
  require(twice.ok() && plateau::encode_heap_track(twice.value()) == again, "and stays the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes);
  std::string packed(1, static_cast<char>(plateau::kHeapTrackVersion));
  plateau::put_varint(packed, size);
  check(packed + plateau::deflated(bytes));
  return 0;
}
