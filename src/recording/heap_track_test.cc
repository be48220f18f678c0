// SPDX-License-Identifier: Apache-2.0
#include "recording/heap_track.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <tuple>

#include "base/compression.h"
#include "recording/checks_for_test.h"
#include "recording/heap_track_codec.h"
#include "recording/heap_track_for_test.h"
#include "recording/wire.h"

namespace plateau {
namespace {

bool same_stack(const HeapStack& a, const HeapStack& b) {
  return a.native == b.native && a.truncated == b.truncated &&
         std::equal(a.python.begin(), a.python.end(), b.python.begin(), b.python.end(),
                    [](const PythonFrame& x, const PythonFrame& y) {
                      return std::tie(x.code, x.instruction, x.entry) ==
                             std::tie(y.code, y.instruction, y.entry);
                    });
}

bool same_module(const HeapModule& a, const HeapModule& b) {
  return std::tie(a.begin, a.end, a.bias, a.path, a.build_id) ==
         std::tie(b.begin, b.end, b.bias, b.path, b.build_id);
}

bool same_code(const PythonCode& a, const PythonCode& b) {
  return std::tie(a.function, a.file, a.first_line, a.minor, a.line_table) ==
         std::tie(b.function, b.file, b.first_line, b.minor, b.line_table);
}

bool same_site(const HeapSite& a, const HeapSite& b) {
  const auto all = [](const HeapSite& s) {
    return std::tie(s.stack, s.kind, s.allocated_bytes, s.allocated_blocks, s.freed_bytes,
                    s.freed_blocks, s.live_variance, s.peak_bytes, s.first_step, s.freed_age,
                    s.live_age);
  };
  return all(a) == all(b);
}

bool same_row(const HeapRow& a, const HeapRow& b) {
  const auto all = [](const HeapRow& r) {
    return std::tie(r.time_s, r.step, r.others_bytes, r.allocator_in_use, r.allocator_free,
                    r.allocator_system);
  };
  return all(a) == all(b) && std::equal(a.cells.begin(), a.cells.end(), b.cells.begin(),
                                        b.cells.end(), [](const HeapCell& x, const HeapCell& y) {
                                          return std::tie(x.site, x.live_bytes, x.live_blocks) ==
                                                 std::tie(y.site, y.live_bytes, y.live_blocks);
                                        });
}

template <typename T, typename Same>
bool same_list(const std::vector<T>& a, const std::vector<T>& b, Same same) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

// Everything, to the bit; "" or what differs.
std::string difference(const HeapTrack& a, const HeapTrack& b) {
  const auto head = [](const HeapTrack& t) {
    return std::tie(t.pid, t.exact, t.interval_bytes, t.allocator, t.python_minor, t.python_hooked,
                    t.row_stride, t.folded_sites, t.folded_max_bytes, t.dropped_allocs,
                    t.dropped_frees, t.cpu_s, t.heap_totals.allocated_bytes,
                    t.heap_totals.allocated_blocks, t.heap_totals.freed_bytes,
                    t.heap_totals.freed_blocks);
  };
  if (head(a) != head(b)) return "head";
  if (!same_list(a.modules, b.modules, same_module)) return "modules";
  if (!same_list(a.codes, b.codes, same_code)) return "codes";
  if (!same_list(a.stacks, b.stacks, same_stack)) return "stacks";
  if (!same_list(a.sites, b.sites, same_site)) return "sites";
  if (!same_list(a.rows, b.rows, same_row)) return "rows";
  return "";
}

TrackShape random_shape() {
  return {.sites = *rc::gen::inRange<size_t>(0, 40),
          .rows = *rc::gen::inRange<size_t>(0, 20),
          .frames = *rc::gen::inRange<size_t>(1, 12),
          .exact = *rc::gen::arbitrary<bool>(),
          .wild = *rc::gen::arbitrary<bool>(),
          .seed = *rc::gen::arbitrary<uint64_t>()};
}

TEST(HeapTrackCodec, ExactTrackComesBackToTheLastByte) {
  EXPECT_TRUE(rc::check("exact", [] {
    TrackShape shape = random_shape();
    shape.exact = true;
    const HeapTrack track = track_like(shape);
    const auto back = decode_heap_track(encode_heap_track(track));
    RC_ASSERT(back.ok());
    RC_ASSERT(difference(track, back.value()) == "");
  }));
}

TEST(HeapTrackCodec, SampledTrackComesBackWithinAThousandthOfASample) {
  EXPECT_TRUE(rc::check("sampled", [] {
    TrackShape shape = random_shape();
    shape.exact = false;
    const HeapTrack track = track_like(shape);
    const auto back = decode_heap_track(encode_heap_track(track));
    RC_ASSERT(back.ok());
    RC_ASSERT(back.value().rows.size() == track.rows.size());
    for (size_t r = 0; r < track.rows.size(); ++r) {
      const auto& was = track.rows[r].cells;
      const auto& is = back.value().rows[r].cells;
      RC_ASSERT(was.size() == is.size());
      for (size_t i = 0; i < was.size(); ++i) {
        RC_ASSERT(std::abs(was[i].live_bytes - is[i].live_bytes) <= track.interval_bytes / 1000);
        RC_ASSERT(std::abs(was[i].live_blocks - is[i].live_blocks) <= 1.0 / 16);
      }
    }
    // Once rounded it stays as it is.
    const std::string once = encode_heap_track(back.value());
    RC_ASSERT(once == encode_heap_track(track));
  }));
}

TEST(HeapTrackCodec, EmptyTrackIsATrack) {
  const auto back = decode_heap_track(encode_heap_track({}));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(difference({}, back.value()), "");
}

TEST(HeapTrackCodec, NumbersThatAreNoneAreWrittenAsNothing) {
  HeapTrack track = track_like({.sites = 2, .rows = 2});
  track.interval_bytes = std::nan("");
  track.cpu_s = -1;
  track.sites[0].live_variance = INFINITY;
  track.sites[1].allocated_bytes = -5;
  track.rows[1].time_s = std::nan("");
  track.rows[0].others_bytes = INFINITY;
  track.rows[1].allocator_free = INFINITY;

  const auto back = decode_heap_track(encode_heap_track(track));

  ASSERT_TRUE(back.ok());
  EXPECT_EQ(check_heap_track(back.value()), "");
  EXPECT_EQ(back.value().interval_bytes, 0);
  EXPECT_EQ(back.value().sites[0].live_variance, 0);
  EXPECT_EQ(back.value().sites[1].allocated_bytes, 0);
  EXPECT_EQ(back.value().rows[1].time_s, back.value().rows[0].time_s);
}

TEST(HeapTrackCodec, FullTrackIsWellUnderAMegabyte) {
  for (const bool exact : {true, false}) {
    const HeapTrack track = track_like({.sites = HeapTrack::kMaxSites,
                                        .rows = HeapTrack::kMaxHeapRows,
                                        .frames = 40,
                                        .exact = exact});
    const size_t size = encode_heap_track(track).size();
    RecordProperty(exact ? "exact_bytes" : "sampled_bytes", std::to_string(size));
    EXPECT_LT(size, 600'000u) << (exact ? "exact" : "sampled");
  }
}

// The worst there can be: no two stacks share a frame and every site changes at every row.
TEST(HeapTrackCodec, WildTrackIsBoundedAndReadable) {
  const HeapTrack track = track_like({.sites = HeapTrack::kMaxSites,
                                      .rows = HeapTrack::kMaxHeapRows,
                                      .frames = 128,
                                      .exact = true,
                                      .wild = true});
  const std::string bytes = encode_heap_track(track);
  EXPECT_LT(bytes.size(), 2'500'000u);
  const auto back = decode_heap_track(bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(difference(track, back.value()), "");
}

TEST(HeapTrackCodec, LineTablesBeyondTheirShareAreLeftOut) {
  HeapTrack track;
  track.codes.resize(600);
  for (PythonCode& code : track.codes) code.line_table.assign(16384, 'x');
  const auto back = decode_heap_track(encode_heap_track(track));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().codes.front().line_table.size(), 16384u);
  EXPECT_TRUE(back.value().codes.back().line_table.empty());
}

// ------------------------------------------------------------------ hostile bytes

std::string packed(std::string_view plain, uint64_t claimed) {
  std::string out(1, static_cast<char>(kHeapTrackVersion));
  put_varint(out, claimed);
  return out + deflated(plain);
}

std::string plain_of(std::string_view bytes) {
  WireReader in(bytes);
  in.byte();
  const uint64_t size = in.varint();
  return inflated(bytes.substr(in.position()), size).value_or("");
}

TEST(HeapTrackCodec, DamagedPlainBytesNeverGiveIndicesThatPointNowhere) {
  EXPECT_TRUE(rc::check("hostile", [] {
    std::string plain = plain_of(encode_heap_track(track_like(random_shape())));
    const int hits = *rc::gen::inRange(1, 6);
    for (int i = 0; i < hits; ++i) {
      const size_t at = *rc::gen::inRange<size_t>(0, plain.size());
      plain[at] = static_cast<char>(*rc::gen::element(0, 1, 0x7f, 0x80, 0xff, 2, 64));
    }
    if (*rc::gen::inRange(0, 4) == 0) plain.resize(*rc::gen::inRange<size_t>(0, plain.size() + 1));
    const auto back = decode_heap_track(packed(plain, plain.size()));
    if (back.ok()) RC_ASSERT(check_heap_track(back.value()) == "");
    if (!back.ok()) RC_ASSERT(!back.error().message.empty());
  }));
}

TEST(HeapTrackCodec, StreamThatUnpacksToMoreThanItSaysIsRefused) {
  const std::string bomb(size_t{64} << 20, '\0');
  EXPECT_FALSE(decode_heap_track(packed(bomb, 100)).ok());
  EXPECT_FALSE(decode_heap_track(packed(bomb, bomb.size())).ok());
  EXPECT_FALSE(decode_heap_track(packed(bomb, UINT64_MAX)).ok());
}

TEST(HeapTrackCodec, EveryCutOfATrackIsRefused) {
  const std::string bytes = encode_heap_track(track_like({}));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_heap_track(std::string_view(bytes).substr(0, size)).ok()) << size;
  }
}

TEST(HeapTrackCodec, VersionOneIsReadWithoutTotals) {
  // Given a track without totals, which take four bytes at the end of the head of an empty one
  HeapTrack track;
  track.pid = 7;
  std::string plain = plain_of(encode_heap_track(track));
  // modules, codes, addresses, stacks, sites, rows: one count of 0 each, behind the totals
  plain.erase(plain.size() - 6 - 4, 4);
  std::string bytes = packed(plain, plain.size());
  bytes[0] = '\1';
  // When and then
  const auto back = decode_heap_track(bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back.value().pid, 7);
  EXPECT_EQ(back.value().heap_totals.allocated_blocks, 0);
}

TEST(HeapTrackCodec, LaterVersionIsRefusedByName) {
  std::string bytes = encode_heap_track({});
  bytes[0] = '\7';
  const auto back = decode_heap_track(bytes);
  ASSERT_FALSE(back.ok());
  EXPECT_NE(back.error().message.find("version 7"), std::string::npos);
}

// ------------------------------------------------------------------ the check itself

TEST(HeapTrackCheck, NamesWhatPointsNowhereOrGoesBack) {
  const HeapTrack good = track_like({.sites = 3, .rows = 3, .frames = 8});
  ASSERT_EQ(check_heap_track(good), "");
  HeapTrack track = good;
  track.sites[1].stack = 3;
  EXPECT_EQ(check_heap_track(track), "site 1 names stack 3 of 3");
  track = good;
  track.stacks[2].python[0].code = 99;
  EXPECT_EQ(check_heap_track(track), "stack 2 names Python code 99 of 2");
  track = good;
  track.rows[1].cells = {{.site = 3}};
  EXPECT_EQ(check_heap_track(track), "row 1 names site 3 of 3");
  track.rows[1].cells = {{.site = 1}, {.site = 1}};
  EXPECT_EQ(check_heap_track(track), "row 1 does not have its sites in order");
  track = good;
  track.rows[2].time_s = track.rows[1].time_s - 1;
  EXPECT_EQ(check_heap_track(track), "time falls at row 2");
  track = good;
  track.rows[1].step = 100;
  EXPECT_EQ(check_heap_track(track), "the step falls at row 2");
}

TEST(HeapTrackSums, ArenasAreCountedUnlessTheirBlocksAre) {
  HeapTrack track;
  track.stacks.resize(1);
  track.sites = {{.kind = HeapKind::heap}, {.kind = HeapKind::python}, {.kind = HeapKind::arena}};
  HeapRow row;
  row.others_bytes = 5;
  row.cells = {{0, 100, 1}, {1, 20, 1}, {2, 64, 1}};
  EXPECT_EQ(live_bytes_at(track, row), 189);
  track.python_hooked = true;
  EXPECT_EQ(live_bytes_at(track, row), 125);
  EXPECT_EQ(live_bytes_at(track, row, HeapKind::arena), 64);
  EXPECT_EQ(heap_kind_name(HeapKind::arena), "arena");
}

}  // namespace
}  // namespace plateau
