// SPDX-License-Identifier: Apache-2.0
// A segment of a spool and a cursor, as whoever was killed, or somebody else, left them: what comes
// out are whole frames in order, and written again they are the same bytes.
#include <cstdlib>
#include <string_view>

#include "push/spool_format.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau::push;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto cursor = parse_cursor(bytes)) {
    require(cursor_bytes(*cursor) == bytes);
    frame_at(bytes, cursor->offset);
  }
  if (!is_segment(bytes)) return 0;
  size_t at = kSegmentHead;
  while (const auto found = frame_at(bytes, at)) {
    require(found->next > at && found->next <= size);
    require(frame_bytes(found->frame) == bytes.substr(at, found->next - at));
    at = found->next;
  }
  for (size_t offset = 0; offset < size + 3; offset += 7) frame_at(bytes, offset);
  return 0;
}
