// SPDX-License-Identifier: Apache-2.0
#include "push/spool_format.h"

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/text.h"
#include "recording/wire.h"

namespace plateau::push {
namespace {

constexpr size_t kCursorDigits = 20;
constexpr size_t kCursorBytes = 2 * kCursorDigits + 2;

}  // namespace

std::string segment_head() {
  std::string head(kSegmentMagic);
  put_u32(head, kSegmentVersion);
  put_u32(head, 0);
  return head;
}

std::string frame_bytes(const Frame& frame) {
  std::string checked;
  put_u32(checked, frame.samples);
  const auto at = static_cast<uint64_t>(frame.at_ms);
  put_u32(checked, static_cast<uint32_t>(at));
  put_u32(checked, static_cast<uint32_t>(at >> 32));
  checked += frame.body;
  std::string bytes;
  put_u32(bytes, static_cast<uint32_t>(frame.body.size()));
  put_u32(bytes, masked_crc32c(checked));
  return bytes + checked;
}

bool is_segment(std::string_view bytes) {
  if (bytes.size() < kSegmentHead || !bytes.starts_with(kSegmentMagic)) return false;
  WireReader reader(bytes.substr(kSegmentMagic.size()));
  return reader.u32() == kSegmentVersion;
}

std::optional<FrameFound> frame_at(std::string_view bytes, size_t offset) {
  if (offset < kSegmentHead || offset > bytes.size()) return std::nullopt;
  WireReader reader(bytes.substr(offset));
  const uint32_t size = reader.u32();
  const uint32_t checksum = reader.u32();
  if (!reader.ok() || size > kLargestBody || reader.left() < kFrameHead - 8 + size) {
    return std::nullopt;
  }
  const std::string_view checked = bytes.substr(offset + 8, kFrameHead - 8 + size);
  if (masked_crc32c(checked) != checksum) return std::nullopt;
  FrameFound found;
  found.frame.samples = reader.u32();
  const uint64_t low = reader.u32();
  found.frame.at_ms = static_cast<int64_t>(uint64_t{reader.u32()} << 32 | low);
  found.frame.body = reader.take(size);
  found.next = offset + kFrameHead + size;
  return found;
}

std::string cursor_bytes(const Cursor& cursor) {
  return fmt::format("{:020} {:020}\n", cursor.segment, cursor.offset);
}

std::optional<Cursor> parse_cursor(std::string_view bytes) {
  if (bytes.size() != kCursorBytes || bytes[kCursorDigits] != ' ' || bytes.back() != '\n') {
    return std::nullopt;
  }
  const std::optional<uint64_t> segment = parse_digits(bytes.substr(0, kCursorDigits), 10);
  const std::optional<uint64_t> offset =
      parse_digits(bytes.substr(kCursorDigits + 1, kCursorDigits), 10);
  if (!segment || !offset) return std::nullopt;
  return Cursor{*segment, *offset};
}

}  // namespace plateau::push
