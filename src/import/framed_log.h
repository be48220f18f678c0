// SPDX-License-Identifier: Apache-2.0
// Records of bytes out of a framed file: TFRecord, and LevelDB's log as Weights & Biases writes it.
// docs/formats/run-folders.md has both byte by byte.
//
// A file that is still being written ends inside a record: that is its end and nothing is wrong. A
// record whose checksum does not fit is left out and counted. Where the frame itself is damaged,
// TFRecord cannot go on, because nothing says where the next record is; a LevelDB log goes on with
// the next block of 32 KB. Records beyond kMaxRecord (pictures, never figures) are passed over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "import/line_reader.h"

namespace plateau {

struct FrameCounts {
  size_t records = 0;       // Handed out.
  size_t bad_checksum = 0;  // Left out.
  size_t too_long = 0;      // Passed over.
  bool cut_off = false;     // The last one is incomplete.
  bool lost = false;        // Damage ended the reading.
};

// "2 of 340 records have a wrong checksum and were left out; …"; "" if all is well.
std::string describe(const FrameCounts& counts);

class TfRecords {
 public:
  static constexpr size_t kMaxRecord = 16u << 20;

  explicit TfRecords(LineReader& input) : input_(input) {}
  // The next record, valid until the next call; false at the end.
  bool next(std::string_view& record);
  [[nodiscard]] const FrameCounts& counts() const { return counts_; }

 private:
  bool fill(size_t size);

  LineReader& input_;
  std::string buffer_;
  FrameCounts counts_;
};

class LevelDbRecords {
 public:
  static constexpr size_t kBlock = 32u << 10;
  static constexpr size_t kFileHeader = 7;  // ":W&B", 0xBEE1, a version.
  static constexpr size_t kMaxRecord = 16u << 20;

  explicit LevelDbRecords(LineReader& input) : input_(input) {}
  bool next(std::string_view& record);
  [[nodiscard]] const FrameCounts& counts() const { return counts_; }

 private:
  enum class LinePiece : uint8_t { none = 0, full = 1, first = 2, middle = 3, last = 4 };

  bool load_block();
  // The next piece of the block; false when the block holds no more.
  bool next_piece(LinePiece& kind, std::string_view& data);
  bool join(LinePiece kind, std::string_view data, std::string_view& record);

  LineReader& input_;
  std::string block_;
  size_t at_ = 0;
  bool started_ = false;
  std::string joined_;
  bool joining_ = false;
  FrameCounts counts_;
};

// Whether the first bytes of an input are such a file.
bool looks_like_tfrecords(std::string_view head);
bool looks_like_wandb_log(std::string_view head);

}  // namespace plateau
