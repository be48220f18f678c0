// SPDX-License-Identifier: Apache-2.0
// The bytes of a spool's segment: docs/formats/spool.md. A head, then frames, each a body that is
// ready to be sent. Read strictly: what is cut off or does not fit its checksum is no frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau::push {

inline constexpr std::string_view kSegmentMagic = "PLTSPOOL";
inline constexpr uint32_t kSegmentVersion = 1;
inline constexpr size_t kSegmentHead = 16;
inline constexpr size_t kFrameHead = 20;
inline constexpr size_t kLargestBody = size_t{4} << 20;

// One request.
struct Frame {
  std::string body;      // Compressed, as it is posted.
  uint32_t samples = 0;  // In it.
  int64_t at_ms = 0;     // Their time, since 1970.
};

std::string segment_head();
std::string frame_bytes(const Frame& frame);

bool is_segment(std::string_view bytes);

struct FrameFound {
  Frame frame;
  size_t next = 0;  // Where the one after it begins.
};
// The frame at `offset`; nothing if there is no whole one. Requires: is_segment(bytes).
std::optional<FrameFound> frame_at(std::string_view bytes, size_t offset);

// Where the reader was: "7 1024\n", in as many bytes whatever the numbers are.
struct Cursor {
  uint64_t segment = 0;
  uint64_t offset = kSegmentHead;
};
std::string cursor_bytes(const Cursor& cursor);
std::optional<Cursor> parse_cursor(std::string_view bytes);

}  // namespace plateau::push
