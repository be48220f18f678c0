// SPDX-License-Identifier: Apache-2.0
// Heap tracks in a recording: the latest of a process counts, and the file stays bounded.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/scratch_directory.h"
#include "recording/heap_track_for_test.h"
#include "recording/recording.h"
#include "recording/recording_reader.h"
#include "recording/same_run_for_test.h"
#include "recording/sample_for_test.h"

namespace plateau {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RecordingHeap : public testing::Test {
 protected:
  RecordingWriter writer(double started_unix_s = 0) {
    RecordingHead head;
    head.command = "python train.py";
    head.started_unix_s = started_unix_s;
    auto made = RecordingWriter::create(path_, head, RecordingWriter::kMaxRows, true);
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }
  plateau::Run read() {
    auto run = read_recording("job", text_of_file(path_));
    EXPECT_TRUE(run.ok());
    return run.value();
  }

  ScratchDirectory scratch_;
  fs::path path_ = scratch_.file("job.plateau");
};

std::string encoded(size_t sites, uint64_t seed = 1) {
  return encode_heap_track(track_like({.sites = sites, .rows = 4, .seed = seed}));
}

void add_rows(RecordingWriter& writer, int count) {
  const size_t process = writer.process({.id = 7, .id_is_pid = true, .name = "python"}, 1);
  const size_t rss = writer.memory_column(process, Metric::rss);
  for (int i = 0; i < count; ++i) {
    writer.row(sample_at({.step = i, .time_s = 1.0 * i}, {{rss, 1000 + i}}));
  }
}

TEST_F(RecordingHeap, LatestTrackOfEachProcessIsReadBack) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 3);
  writer.heap(7, encoded(2));
  writer.heap(8, encoded(3));
  writer.heap(7, encoded(5));

  const plateau::Run run = read();

  ASSERT_EQ(run.heaps.size(), 2u);
  EXPECT_EQ(run.heaps[0].pid, 8);
  EXPECT_EQ(run.heaps[0].sites.size(), 3u);
  EXPECT_EQ(run.heaps[1].pid, 7);
  EXPECT_EQ(run.heaps[1].sites.size(), 5u);
  EXPECT_EQ(difference_between(writer.run(), run), "");
}

TEST_F(RecordingHeap, RunWithoutHeapsIsTheSameButForThem) {
  RecordingWriter writer = this->writer(1.7e9);
  add_rows(writer, 3);
  writer.heap(7, encoded(2));
  plateau::Run with = writer.run();
  EXPECT_EQ(difference_between(with, writer.run(false)), "heaps");
  with.heaps.clear();
  with.heap_start_s = 0;
  EXPECT_EQ(difference_between(with, writer.run(false)), "");
}

TEST_F(RecordingHeap, TrackThatCannotBeReadIsANoteAndTheRestIsUsed) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 3);
  writer.heap(7, "no track at all");
  writer.heap(8, encoded(3));

  const plateau::Run run = read();

  EXPECT_EQ(run.instants.size(), 3u);
  ASSERT_EQ(run.heaps.size(), 1u);
  EXPECT_EQ(run.heaps[0].pid, 8);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_THAT(run.notes[0], HasSubstr("pid 7: the heap track cannot be read"));
}

TEST_F(RecordingHeap, ReplacedTracksAreClearedOutOfTheFile) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 100);
  const size_t one = encoded(400).size();
  uint64_t largest = 0;
  uint64_t smallest_after = UINT64_MAX;
  for (uint64_t i = 0; i < 60; ++i) {
    writer.heap(7, encoded(400, i + 1));
    if (writer.bytes_written() < largest) {
      smallest_after = std::min(smallest_after, writer.bytes_written());
    }
    largest = std::max(largest, writer.bytes_written());
  }

  // 60 tracks were written; never more than the allowed waste and two of them were there.
  ASSERT_GT(60 * one, 3'000'000u);
  EXPECT_LT(largest, 1'000'000 + 3 * one + 10'000);
  EXPECT_LT(smallest_after, one + 20'000);
  const plateau::Run run = read();
  ASSERT_EQ(run.heaps.size(), 1u);
  HeapTrack last = track_like({.sites = 400, .rows = 4, .seed = 60});
  last.pid = 7;  // The record's word counts.
  EXPECT_TRUE(encode_heap_track(run.heaps[0]) == encode_heap_track(last));
  EXPECT_EQ(run.instants.size(), 100u);
  EXPECT_EQ(difference_between(writer.run(), run), "");
  EXPECT_EQ(writer.bytes_written(), text_of_file(path_).size());
}

TEST_F(RecordingHeap, LongestUnrenewedTrackGoesWhenThereAreTooManyAndANoteSaysSo) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 2);
  const std::string track = encoded(1);
  for (int64_t pid = 1; pid <= 70; ++pid) {
    writer.heap(pid, track);
    writer.heap(1, track);  // The one that goes on.
  }

  const plateau::Run run = read();

  EXPECT_EQ(run.heaps.size(), 64u);
  EXPECT_EQ(run.heaps.back().pid, 1);
  EXPECT_EQ(run.heaps.front().pid, 8);
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_THAT(run.notes[0], HasSubstr("of more than 64 processes"));
  EXPECT_EQ(difference_between(writer.run(), run), "");
}

TEST_F(RecordingHeap, TrackBeyondEverySizeIsRefusedWithANote) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 2);
  writer.heap(7, std::string(RecordingLog::kMaxHeapBytes + 1, 'x'));
  const plateau::Run run = read();
  EXPECT_TRUE(run.heaps.empty());
  ASSERT_EQ(run.notes.size(), 1u);
  EXPECT_THAT(run.notes[0], HasSubstr("pid 7 is not recorded"));
}

TEST_F(RecordingHeap, PrefixHoldsOnlyTheRowsOfItsTime) {
  HeapTrack track;
  track.rows = {{.time_s = 0.5}, {.time_s = 2}, {.time_s = 2.5}, {.time_s = 9}};
  RecordingWriter writer = this->writer(1.7e9);
  add_rows(writer, 10);
  writer.heap(7, encode_heap_track(track));
  const plateau::Run run = read();
  ASSERT_TRUE(run.epoch_time);

  EXPECT_EQ(prefix_of(run, 0).heaps.at(0).rows.size(), 0u);
  EXPECT_EQ(prefix_of(run, 3).heaps.at(0).rows.size(), 2u);  // The third instant is at 2 s.
  EXPECT_EQ(prefix_of(run, 10).heaps.at(0).rows.size(), 4u);
  EXPECT_EQ(prefix_of(prefix_of(run, 4), 3).heaps.at(0).rows.size(), 2u);
}

TEST_F(RecordingHeap, RecordsSayWhatTheyHold) {
  RecordingWriter writer = this->writer();
  add_rows(writer, 1);
  writer.heap(7, encoded(2));
  writer.heap(7, "nonsense");
  const auto text = describe_recording("job", text_of_file(path_), false);
  ASSERT_TRUE(text.ok());
  const size_t count = text.value().size();
  EXPECT_THAT(text.value()[count - 2], HasSubstr("heap"));
  EXPECT_THAT(text.value()[count - 2], HasSubstr("pid 7  number 0  bytes"));
  EXPECT_THAT(text.value()[count - 2], HasSubstr("sites 2  rows 4"));
  EXPECT_THAT(text.value()[count - 1], HasSubstr("number 1"));
  EXPECT_THAT(text.value()[count - 1], HasSubstr("unreadable"));
  const auto json = describe_recording("job", text_of_file(path_), true);
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(json.value()[count - 2], HasSubstr("\"sites\":2"));
}

}  // namespace
}  // namespace plateau
