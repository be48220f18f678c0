// SPDX-License-Identifier: Apache-2.0
// Writes a recording with invented heaps, for tests/e2e: heap_demo FILE leak|filled|level|none.
//
// Two processes: 4242 "python3" decodes images and keeps them (or not), 4243 "worker" is level.
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "recording/recording.h"
#include "verdict/test_tracks.h"

namespace {

using plateau::HeapTrack;
using plateau::PythonCode;
using plateau::TrackMaker;

constexpr uint64_t kModuleAt = 0x700000000000;

PythonCode code(std::string function, std::string file, int line) {
  return {
      .function = std::move(function), .file = std::move(file), .first_line = line, .minor = 11};
}

HeapTrack image_track(std::string_view what) {
  TrackMaker maker(250, 4);
  maker.add(
      [what](double t) {
        if (what == "leak") return 1 + 0.2 * t;
        return what == "filled" ? 0.5 * std::min(t, 200.0) : 30.0;
      },
      100000);
  maker.add([](double) { return 25.0; }, 5000);
  HeapTrack track = maker.track();
  track.pid = 4242;
  track.allocator = "glibc";
  track.python_minor = 11;
  track.python_hooked = true;
  track.modules = {{.begin = kModuleAt,
                    .end = kModuleAt + 0x10000,
                    .bias = kModuleAt,
                    .path = "/nowhere/_imaging.so",
                    .build_id = "12345678901234567890"}};
  track.codes = {code("load", "/usr/lib/python3/dist-packages/PIL/ImageFile.py", 245),
                 code("main", "/home/me/lazy_images.py", 41),
                 code("build", "/home/me/model.py", 7)};
  track.stacks[0] = {.native = {kModuleAt + 0x1234}, .python = {{.code = 0}, {.code = 1}}};
  track.stacks[1] = {.native = {}, .python = {{.code = 2}, {.code = 1}}};
  return track;
}

HeapTrack level_track() {
  TrackMaker maker(250, 4);
  maker.add([](double) { return 3.0; });
  HeapTrack track = maker.track();
  track.pid = 4243;
  return track;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string_view what = argv[2];
  auto created = plateau::RecordingWriter::create(argv[1], {.command = "python3 lazy_images.py"});
  if (!created) {
    std::fprintf(stderr, "%s\n", created.error().message.c_str());
    return 2;
  }
  plateau::RecordingWriter& writer = created.value();
  const size_t main_process = writer.process({.id = 4242, .id_is_pid = true, .name = "python3"}, 1);
  writer.process({.id = 4243, .parent = 4242, .id_is_pid = true, .name = "worker"}, 2);
  const size_t column = writer.memory_column(main_process, plateau::Metric::pss_anon);
  for (int64_t step = 0; step < 1000; step += 4) {
    const int64_t kb = 60000 + (what == "leak" ? 200 * step : 0);
    plateau::Sample sample;
    sample.at = {.step = step, .time_s = static_cast<double>(step)};
    sample.set_kb(column, kb);
    writer.row(sample);
  }
  if (what != "none") {
    writer.heap(4242, encode_heap_track(image_track(what)));
    writer.heap(4243, encode_heap_track(level_track()));
  }
  writer.finish({.kind = plateau::Ending::Kind::exited});
  return 0;
}
