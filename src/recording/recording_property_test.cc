// SPDX-License-Identifier: Apache-2.0
// Whatever is recorded, in whatever order: the live Run and the Run read back are the same.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>

#include "base/files.h"
#include "base/testing/scratch_directory.h"
#include "recording/checks_for_test.h"
#include "recording/heap_track_for_test.h"
#include "recording/recording.h"
#include "recording/same_run_for_test.h"

namespace plateau {
namespace {

// Drives a writer with random calls, as a watcher might and also as it should not.
class RandomWatcher {
 public:
  explicit RandomWatcher(RecordingWriter& writer) : writer_(writer) { add_process(); }

  void act() {
    const int what = *rc::gen::inRange(0, 24);
    if (what == 0) return add_process();
    if (what == 1) return describe_again();
    if (what == 2) return add_column();
    if (what == 3) {
      return writer_.event(static_cast<EventKind>(*rc::gen::inRange(0, 6)), text(), time_s_);
    }
    if (what == 4) return writer_.fact(&Context::batch, *rc::gen::inRange(1, 5), text());
    if (what == 5) return writer_.note(text());
    if (what == 6) return heap();
    row();
  }

 private:
  static std::string text() { return *rc::gen::container<std::string>(rc::gen::arbitrary<char>()); }

  Process random_process() {
    Process process;
    process.id = *rc::gen::inRange(1, 6);
    process.parent = *rc::gen::inRange(-1, 6);
    process.id_is_pid = true;
    process.name = text();
    process.role = static_cast<Role>(*rc::gen::inRange(0, 7));
    process.role_reason = text();
    return process;
  }
  void add_process() {
    const size_t index =
        writer_.process(random_process(), static_cast<uint64_t>(*rc::gen::inRange(0, 4)));
    processes_ = std::max(processes_, index + 1);
    add_column();
  }
  void describe_again() {
    writer_.update_process(*rc::gen::inRange<size_t>(0, processes_), random_process());
  }
  void add_column() {
    const size_t process = *rc::gen::inRange<size_t>(0, processes_);
    if (*rc::gen::inRange(0, 3) == 0) {
      gauges_.push_back(writer_.gauge_column(process, *rc::gen::element<std::string>("a", "b")));
    } else {
      kb_.push_back(writer_.memory_column(process, static_cast<Metric>(*rc::gen::inRange(0, 15))));
    }
  }
  void heap() {
    const TrackShape shape{.sites = *rc::gen::inRange<size_t>(0, 5),
                           .exact = *rc::gen::arbitrary<bool>(),
                           .seed = *rc::gen::arbitrary<uint64_t>()};
    const bool is_damaged = *rc::gen::inRange(0, 8) == 0;
    writer_.heap(*rc::gen::inRange(1, 6),
                 is_damaged ? text() : encode_heap_track(track_like(shape)));
  }
  void row() {
    Sample row;
    time_s_ += *rc::gen::inRange(-1, 2000) / 700.0;
    row.at.time_s = time_s_;
    if (*rc::gen::inRange(0, 2) == 0) row.at.step = *rc::gen::inRange(-1, 50);
    if (*rc::gen::inRange(0, 5) == 0) row.at.epoch = *rc::gen::inRange(0, 50) / 7.0;
    for (const size_t column : kb_) {
      if (*rc::gen::inRange(0, 5) > 0) {
        row.set_kb(column, *rc::gen::element<int64_t>(-1, 0, 5, 1000, 4711, 1LL << 36));
      }
    }
    for (const size_t column : gauges_) {
      if (*rc::gen::inRange(0, 5) > 0) {
        row.set_gauge(column, *rc::gen::element(-1.0, -0.0, 0.0, 3.0, 7.25, 0.1, 1.0 / 3, 1e14,
                                                std::nan("")));
      }
    }
    writer_.row(row);
  }

  RecordingWriter& writer_;
  size_t processes_ = 0;
  std::vector<size_t> kb_;
  std::vector<size_t> gauges_;
  double time_s_ = 0;
};

TEST(Recording, LiveRunAndRunReadBackAreTheSameAtEveryMoment) {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("job.plateau");
  const bool holds = rc::check("live == read back", [&path] {
    RecordingHead head;
    head.command = "python train.py";
    head.started_unix_s = *rc::gen::element(0.0, 1.7e9, 1763251234.5678);
    auto writer = RecordingWriter::create(path, head, *rc::gen::inRange<size_t>(4, 30), true);
    RC_ASSERT(writer.ok());
    RandomWatcher watcher(writer.value());
    const int acts = *rc::gen::inRange(0, 150);
    for (int i = 0; i < acts; ++i) {
      watcher.act();
      if (*rc::gen::inRange(0, 15) > 0) continue;
      const auto read = read_recording(path, text_of_file(path));
      RC_ASSERT(read.ok());
      RC_ASSERT(difference_between(writer.value().run(), read.value()) == "");
    }
    writer.value().finish(
        {.kind = static_cast<Ending::Kind>(*rc::gen::inRange(0, 6)), .code = 9, .text = "end"});
    const std::string bytes = text_of_file(path);
    const auto read = read_recording(path, bytes);
    RC_ASSERT(read.ok());
    RC_ASSERT(check_shape(read.value()) == "");
    RC_ASSERT(difference_between(writer.value().run(), read.value()) == "");
    RC_ASSERT(writer.value().bytes_written() == bytes.size());
    RC_ASSERT(describe_recording(path, bytes, true).ok());
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace plateau
