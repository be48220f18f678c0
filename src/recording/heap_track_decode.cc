// SPDX-License-Identifier: Apache-2.0
// Reads tracks that anyone may have written: every count is held against a limit before anything of
// that size is made, and every index against the list it points into. heap_track_encode.cc explains
// the order of things.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "base/compression.h"
#include "recording/heap_track_codec.h"
#include "recording/wire.h"

namespace plateau {
namespace {

class TrackReader {
 public:
  TrackReader(std::string_view plain, uint8_t version) : in_(plain), version_(version) {}

  // "" or what cannot be read.
  std::string read() {
    if (!read_head()) return "its head";
    if (!read_modules()) return "its modules";
    if (!read_codes()) return "its Python code";
    if (!read_addresses() || !read_stacks()) return "its stacks";
    if (!read_sites()) return "its sites";
    if (!read_rows() || !read_cells()) return "its rows";
    return "";
  }
  HeapTrack& track() { return track_; }

 private:
  // A count of things of which each takes at least one byte.
  size_t count(size_t most) {
    const uint64_t value = in_.varint();
    if (value > most || value > in_.left()) in_.fail();
    return in_.ok() ? static_cast<size_t>(value) : 0;
  }
  int64_t units() {
    const uint64_t value = in_.varint();
    if (value > static_cast<uint64_t>(kMaxTrackUnits)) in_.fail();
    return in_.ok() ? static_cast<int64_t>(value) : 0;
  }
  // A difference to `before`; the sum stays within the limits.
  int64_t moved(int64_t before, int64_t least, int64_t most) {
    const int64_t change = in_.signed_varint();
    if (change < least - before || change > most - before) in_.fail();
    return in_.ok() ? before + change : 0;
  }
  double finite() {
    const double value = in_.real();
    if (!std::isfinite(value) || value < 0) in_.fail();
    return in_.ok() ? value : 0;
  }

  bool read_head() {
    track_.pid = in_.signed_varint();
    const uint8_t flags = in_.byte();
    track_.exact = (flags & 1) != 0;
    track_.python_hooked = (flags & 2) != 0;
    track_.interval_bytes = finite();
    track_.allocator = in_.text();
    track_.python_minor = static_cast<int>(std::min<uint64_t>(in_.varint(), 1000));
    const uint64_t stride = in_.varint();
    if (stride > UINT32_MAX) in_.fail();
    track_.row_stride = static_cast<uint32_t>(stride);
    track_.folded_sites = static_cast<size_t>(in_.varint());
    track_.folded_max_bytes = finite();
    track_.dropped_allocs = in_.varint();
    track_.dropped_frees = in_.varint();
    track_.cpu_s = finite();
    const uint64_t byte_shift = in_.varint();
    const uint64_t block_shift = in_.varint();
    if (byte_shift > kMaxByteShift || block_shift > kMaxBlockShift) in_.fail();
    units_ = {.byte_shift = static_cast<unsigned>(byte_shift),
              .block_shift = static_cast<unsigned>(block_shift)};
    if (version_ >= 2) read_totals(track_.heap_totals);
    return in_.ok();
  }

  template <typename Totals>
  void read_totals(Totals& totals) {
    totals.allocated_bytes = units_.bytes(units());
    totals.allocated_blocks = units_.blocks(units());
    totals.freed_bytes = units_.bytes(units());
    totals.freed_blocks = units_.blocks(units());
  }

  bool read_modules() {
    track_.modules.resize(count(kMaxTrackModules));
    uint64_t before = 0;
    for (HeapModule& module : track_.modules) {
      module.begin = before + static_cast<uint64_t>(in_.signed_varint());
      module.end = module.begin + in_.varint();
      module.bias = module.begin - static_cast<uint64_t>(in_.signed_varint());
      module.path = in_.text();
      module.build_id = in_.text();
      before = module.end;
      if (!in_.ok()) return false;
    }
    return in_.ok();
  }

  bool read_codes() {
    track_.codes.resize(count(kMaxTrackCodes));
    std::string_view file;
    for (PythonCode& code : track_.codes) {
      code.function = in_.text();
      if (in_.byte() == 0) file = in_.text();
      code.file = file;
      code.first_line = static_cast<int32_t>(moved(0, INT32_MIN, INT32_MAX));
      const uint64_t minor = in_.varint();
      if (minor > UINT16_MAX) in_.fail();
      code.minor = static_cast<uint16_t>(minor);
      code.line_table = in_.text();
      files_ += code.file.size();
      if (!in_.ok() || files_ > kMaxTrackPlainBytes) return false;
    }
    return in_.ok();
  }

  bool read_addresses() {
    addresses_.resize(count(kMaxTrackFrames));
    uint64_t last = 0;
    for (uint64_t& address : addresses_) address = last += in_.varint();
    return in_.ok();
  }

  // How many frames a stack has and how many of them are the outer ones of the stack before;
  // `list` is then as long as it will be, with those in their places.
  template <typename List>
  size_t begin_frames(List& list, const List& before, uint64_t size) {
    const uint64_t shared = in_.varint();
    frames_ += size;
    if (size > kMaxStackFrames || shared > size || shared > before.size() ||
        frames_ > kMaxTrackFrames) {
      in_.fail();
    }
    if (!in_.ok()) return 0;
    list.resize(static_cast<size_t>(size));
    std::copy(before.end() - static_cast<std::ptrdiff_t>(shared), before.end(),
              list.end() - static_cast<std::ptrdiff_t>(shared));
    return static_cast<size_t>(size - shared);
  }

  bool read_stacks() {
    track_.stacks.resize(count(kMaxTrackStacks));
    const HeapStack none;
    const HeapStack* before = &none;
    for (HeapStack& stack : track_.stacks) {
      const uint64_t size = in_.varint();
      stack.truncated = (size & 1) != 0;
      const size_t own = begin_frames(stack.native, before->native, size / 2);
      for (size_t i = 0; i < own && in_.ok(); ++i) {
        const uint64_t index = in_.varint();
        if (index >= addresses_.size()) return false;
        stack.native[i] = addresses_[index];
      }
      if (!read_python(stack.python, before->python)) return false;
      before = &stack;
    }
    return in_.ok();
  }

  bool read_python(std::vector<PythonFrame>& frames, const std::vector<PythonFrame>& before) {
    const uint64_t size = in_.varint();
    const size_t own = begin_frames(frames, before, size);
    for (size_t i = 0; i < own && in_.ok(); ++i) {
      const uint64_t code = in_.varint();
      if (code / 2 >= track_.codes.size()) return false;
      frames[i] = {.code = static_cast<uint32_t>(code / 2),
                   .instruction = static_cast<int32_t>(moved(0, INT32_MIN, INT32_MAX)),
                   .entry = (code & 1) != 0};
    }
    return in_.ok();
  }

  void read_ages(AgeCounts& ages) {
    const size_t used = count(ages.size());
    for (size_t i = 0; i < used; ++i) ages[i] = units_.blocks(units());
  }

  bool read_sites() {
    track_.sites.resize(count(HeapTrack::kMaxSites));
    for (HeapSite& site : track_.sites) {
      const uint64_t stack = in_.varint();
      const uint8_t kind = in_.byte();
      if (stack >= track_.stacks.size() || kind > static_cast<uint8_t>(HeapKind::device))
        return false;
      site.stack = static_cast<uint32_t>(stack);
      site.kind = static_cast<HeapKind>(kind);
      read_totals(site);
      site.live_variance = finite();
      site.peak_bytes = units_.bytes(units());
      site.first_step = moved(0, -1, INT64_MAX);
      read_ages(site.freed_age);
      read_ages(site.live_age);
    }
    return in_.ok();
  }

  bool read_rows() {
    track_.rows.resize(count(HeapTrack::kMaxHeapRows));
    int64_t time_ms = 0;
    int64_t step = -1;
    std::array<int64_t, 4> now{};
    for (HeapRow& row : track_.rows) {
      time_ms = moved(time_ms, time_ms, kMaxTrackTimeMs);
      step = moved(step, step, kMaxTrackUnits);
      for (int64_t& value : now) value = moved(value, 0, kMaxTrackUnits);
      row.time_s = static_cast<double>(time_ms) / 1000;
      row.step = step;
      row.others_bytes = static_cast<double>(now[0]);
      row.allocator_in_use = static_cast<double>(now[1] - 1);
      row.allocator_free = static_cast<double>(now[2] - 1);
      row.allocator_system = static_cast<double>(now[3] - 1);
    }
    return in_.ok();
  }

  bool read_cells() {
    const size_t rows = track_.rows.size();
    // Two bytes or more a cell.
    if (track_.sites.size() * rows * 2 > in_.left()) return false;
    std::vector<CellUnits> cells(rows);
    for (size_t s = 0; s < track_.sites.size(); ++s) {
      int64_t blocks = 0;
      for (CellUnits& cell : cells) cell.blocks = blocks = moved(blocks, 0, kMaxTrackUnits);
      CellUnits before;
      for (size_t r = 0; r < rows; ++r) {
        CellUnits& cell = cells[r];
        cell.bytes = moved(guessed_bytes(before, cell.blocks), 0, kMaxTrackUnits);
        before = cell;
        if (cell.bytes == 0 && cell.blocks == 0) continue;
        track_.rows[r].cells.push_back({.site = static_cast<uint32_t>(s),
                                        .live_bytes = units_.bytes(cell.bytes),
                                        .live_blocks = units_.blocks(cell.blocks)});
      }
      if (!in_.ok()) return false;
    }
    return in_.ok();
  }

  WireReader in_;
  uint8_t version_;
  HeapTrack track_;
  HeapUnits units_;
  std::vector<uint64_t> addresses_;
  size_t frames_ = 0;  // Of all stacks so far.
  size_t files_ = 0;   // Bytes of all file names so far: a name is written once, held many times.
};

Error bad_track(std::string_view why) {
  return {Error::Kind::bad_input, fmt::format("the heap track cannot be read: {}", why)};
}

}  // namespace

size_t heap_track_plain_bytes(std::string_view bytes) {
  WireReader in(bytes);
  in.byte();
  return static_cast<size_t>(in.varint());
}

Result<HeapTrack> decode_heap_track(std::string_view bytes) {
  WireReader in(bytes);
  const uint8_t version = in.byte();
  const uint64_t size = in.varint();
  if (!in.ok()) return bad_track("it is cut off");
  if (version == 0 || version > kHeapTrackVersion) {
    return bad_track(fmt::format("it is of version {}, but this program knows up to {}", version,
                                 kHeapTrackVersion));
  }
  if (size > kMaxTrackPlainBytes) return bad_track("it is larger than any track can be");
  const std::optional<std::string> plain =
      inflated(bytes.substr(in.position()), static_cast<size_t>(size));
  if (!plain) return bad_track("it does not unpack");
  TrackReader reader(*plain, version);
  const std::string trouble = reader.read();
  if (!trouble.empty()) return bad_track(trouble + " make no sense");
  return std::move(reader.track());
}

}  // namespace plateau
