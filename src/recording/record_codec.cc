// SPDX-License-Identifier: Apache-2.0
#include "recording/record_codec.h"

#include <array>

#include "recording/wire.h"

namespace plateau {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "unknown",     "head",   "process", "column", "fact", "note",   "event",
    "events lost", "sample", "span",    "ending", "heap", "holders"};
constexpr std::array<std::string_view, 6> kEndingNames = {"unknown",    "exited", "signaled",
                                                          "oom killed", "left",   "vanished"};

}  // namespace

std::string_view record_type_name(uint8_t type) {
  return kTypeNames[type < kTypeNames.size() ? type : 0];
}
std::string_view ending_name(Ending::Kind kind) {
  return kEndingNames[static_cast<size_t>(kind)];
}

void put_record(std::string& out, RecordType type, std::string_view payload) {
  const size_t begin = out.size();
  out.push_back(static_cast<char>(type));
  put_varint(out, payload.size());
  out += payload;
  put_u32(out, crc32_of(std::string_view(out).substr(begin)));
}

RecordFrame next_frame(std::string_view bytes) {
  WireReader in(bytes);
  RecordFrame frame;
  frame.type = in.byte();
  frame.payload = in.text();
  const size_t covered = in.position();
  const uint32_t crc = in.u32();
  frame.size = in.position();
  if (!in.ok()) {
    frame.trouble = "cut off";
  } else if (crc != crc32_of(bytes.substr(0, covered))) {
    frame.trouble = "checksum differs";
  }
  return frame;
}

}  // namespace plateau
