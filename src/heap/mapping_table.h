// SPDX-License-Identifier: Apache-2.0
// Which ranges of mappings are alive: unlike heap blocks, they end in part or several at once.
//
// As in LiveBlocks the newest stamp decides, here for every byte: a newer mapping cuts what it lies
// over, an unmapping cuts only what is older than itself, and unmappings are remembered to the end
// of the next full round, so that a mapping that comes late is cut by them. A piece of a block is
// that share of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace plateau {

struct MappedPiece {
  uint64_t end = 0;
  uint64_t stamp = 0;
  uint64_t whole_bytes = 0;  // Of the mapping that it is or was part of.
  uint32_t site = 0;
  int32_t step = -1;
  uint16_t note = 0;  // log2 of the sampling interval.
};

class MappingTable {
 public:
  static constexpr size_t kMaxPieces = size_t{1} << 20;
  // A piece, or what was cut off it, of `bytes`.
  using Gone = std::function<void(const MappedPiece& piece, uint64_t bytes)>;

  // `gone` is called for what ends by this, and for parts of the new one that have ended already.
  // False if the table is full.
  bool add(uint64_t begin, const MappedPiece& piece, const Gone& gone);
  void remove(uint64_t begin, uint64_t end, uint64_t stamp, const Gone& gone);
  void end_round();

  template <class Fn>
  void each(Fn&& fn) {  // fn(MappedPiece&, bytes); it may change site only.
    for (auto& [begin, piece] : pieces_) fn(piece, piece.end - begin);
  }

 private:
  struct Ended {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t stamp = 0;
  };
  // Cuts [begin, end) out of all pieces not newer than `stamp`.
  void carve(uint64_t begin, uint64_t end, uint64_t stamp, const Gone& gone);
  // The parts of [begin, end) that nothing newer than `stamp` covers, as pairs.
  [[nodiscard]] std::vector<Ended> uncovered(uint64_t begin, uint64_t end, uint64_t stamp) const;

  std::map<uint64_t, MappedPiece> pieces_;
  std::vector<Ended> ended_;
  std::vector<Ended> ended_before_;
};

}  // namespace plateau
