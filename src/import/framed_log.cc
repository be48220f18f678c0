// SPDX-License-Identifier: Apache-2.0
#include "import/framed_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/crc32c.h"
#include "import/proto_reader.h"
#include "recording/wire.h"

namespace plateau {
namespace {

constexpr size_t kLengthSize = 8;    // Of TFRecord: the length of the data, lowest byte first,
constexpr size_t kChecksumSize = 4;  // and its checksum.
constexpr size_t kFrame = kLengthSize + kChecksumSize;
constexpr size_t kPieceHeader = 7;  // Of LevelDB: checksum, length in two bytes, kind.
constexpr std::string_view kWandbMagic = ":W&B\xe1\xbe";

bool fits(std::string_view bytes, std::string_view checksum) {
  return masked_crc32c(bytes) == little_endian(checksum, kChecksumSize);
}

bool skip(LineReader& input, uint64_t size) {
  char scratch[4096];
  while (size > 0) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(size, sizeof scratch));
    if (input.read(scratch, part) < part) return false;
    size -= part;
  }
  return true;
}

}  // namespace

bool looks_like_tfrecords(std::string_view head) {
  if (head.size() < kFrame) return false;
  return fits(head.substr(0, kLengthSize), head.substr(kLengthSize, kChecksumSize));
}

bool looks_like_wandb_log(std::string_view head) {
  return head.starts_with(kWandbMagic);
}

std::string describe(const FrameCounts& counts) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    text += fmt::format("{}{}", text.empty() ? "" : "; ", part);
  };
  if (counts.bad_checksum > 0) {
    add(fmt::format("{} of {} records have a wrong checksum and were left out", counts.bad_checksum,
                    counts.records + counts.bad_checksum));
  }
  if (counts.lost)
    add(fmt::format("damaged after {} records: what follows is lost", counts.records));
  return text;
}

// Makes buffer_ hold the next `size` bytes; false if there are not as many.
bool TfRecords::fill(size_t size) {
  buffer_.resize(size);
  const size_t got = input_.read(buffer_.data(), size);
  if (got == size) return true;
  counts_.cut_off = counts_.cut_off || got > 0;
  return false;
}

bool TfRecords::next(std::string_view& record) {
  while (!counts_.lost && fill(kFrame)) {
    const std::string_view frame = buffer_;
    if (!fits(frame.substr(0, kLengthSize), frame.substr(kLengthSize))) {
      counts_.lost = true;
      return false;
    }
    const uint64_t size = little_endian(frame, kLengthSize);
    if (size > kMaxRecord) {
      ++counts_.too_long;
      if (size > ~uint64_t{0} - kChecksumSize || !skip(input_, size + kChecksumSize)) break;
      continue;
    }
    if (!fill(static_cast<size_t>(size) + kChecksumSize)) {
      counts_.cut_off = true;
      return false;
    }
    record = std::string_view(buffer_).substr(0, static_cast<size_t>(size));
    if (fits(record, std::string_view(buffer_).substr(record.size()))) {
      ++counts_.records;
      return true;
    }
    ++counts_.bad_checksum;
  }
  return false;
}

bool LevelDbRecords::load_block() {
  block_.resize(kBlock);
  block_.resize(input_.read(block_.data(), kBlock));
  at_ = started_ ? 0 : std::min(kFileHeader, block_.size());
  started_ = true;
  return at_ < block_.size();
}

bool LevelDbRecords::next_piece(LinePiece& kind, std::string_view& data) {
  if (block_.size() - at_ < kPieceHeader) return false;
  const std::string_view header = std::string_view(block_).substr(at_, kPieceHeader);
  const size_t size = static_cast<size_t>(little_endian(header.substr(4), 2));
  kind = static_cast<LinePiece>(header[6]);
  if (kind == LinePiece::none && size == 0) return false;  // The rest of a block may be left empty.
  at_ += kPieceHeader;
  if (size > block_.size() - at_) {
    counts_.cut_off = block_.size() < kBlock;
    if (!counts_.cut_off) ++counts_.bad_checksum;
    at_ = block_.size();
    return false;
  }
  data = std::string_view(block_).substr(at_, size);
  // The checksum is of the kind and the data, which stand together.
  const std::string_view covered = std::string_view(block_).substr(at_ - 1, size + 1);
  at_ += size;
  if (crc32_of(covered) == little_endian(header, kChecksumSize)) return true;
  ++counts_.bad_checksum;
  kind = LinePiece::none;
  return true;
}

// Adds a piece to the record that is being put together; true when `record` is complete.
bool LevelDbRecords::join(LinePiece kind, std::string_view data, std::string_view& record) {
  if (kind == LinePiece::full) {
    joining_ = false;
    record = data;
    return true;
  }
  if (kind == LinePiece::first) {
    joining_ = true;
    joined_.clear();
  } else if (kind != LinePiece::middle && kind != LinePiece::last) {
    joining_ = false;
  }
  if (!joining_) return false;
  if (joined_.size() + data.size() > kMaxRecord) {
    ++counts_.too_long;
    joining_ = false;
    return false;
  }
  joined_ += data;
  if (kind != LinePiece::last) return false;
  joining_ = false;
  record = joined_;
  return true;
}

bool LevelDbRecords::next(std::string_view& record) {
  do {
    LinePiece kind = LinePiece::none;
    std::string_view data;
    while (next_piece(kind, data)) {
      if (!join(kind, data, record)) continue;
      ++counts_.records;
      return true;
    }
  } while (load_block());
  counts_.cut_off = counts_.cut_off || joining_;
  return false;
}

}  // namespace plateau
