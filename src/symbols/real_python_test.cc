// SPDX-License-Identifier: Apache-2.0
// Stacks that real interpreters took of themselves, merged and named.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/maps_rows.h"
#include "symbols/module_names.h"
#include "symbols/stack_names.h"
#include "symbols/testing/commands.h"

namespace plateau {
namespace {

using testing::output_of;
using testing::python_programs;
using testing::split;

const std::string kScript = PLATEAU_SOURCE_DIR "/src/symbols/testing/real_stack.py";
const std::string kLibrary = PLATEAU_STAND_IN_INLINED_CALLS;

void add_modules(HeapTrack& track, const std::string& maps) {
  for (const MapsRow& row : parse_maps_rows(maps)) {
    if (!track.modules.empty() && track.modules.back().path == row.path) {
      track.modules.back().end = row.end;
      continue;
    }
    const auto file = ElfFile::open(row.path);
    if (!file.ok() || file.value().segments().empty() || row.offset != 0) continue;
    track.modules.push_back({.begin = row.begin,
                             .end = row.end,
                             .bias = row.begin - file.value().segments()[0].address,
                             .path = row.path,
                             .build_id = file.value().build_id()});
  }
}

struct RealStack {
  HeapTrack track;
  std::vector<int> lines;  // Of the Python frames, as the script knows them.
};

RealStack stack_of(const std::string& output) {
  RealStack real;
  HeapTrack& track = real.track;
  track.stacks.emplace_back();
  const size_t maps_at = output.find("maps\n");
  for (const std::string& row : split(output.substr(0, maps_at), '\n')) {
    const auto fields = split(row, ' ');
    if (fields[0] == "native") track.stacks[0].native.push_back(std::stoull(fields[1]));
    if (fields[0] != "python") continue;
    track.stacks[0].python.push_back({.code = static_cast<uint32_t>(track.codes.size()),
                                      .instruction = std::stoi(fields[3]),
                                      .entry = fields[4] == "1"});
    track.codes.push_back({.function = fields[6],
                           .file = "real_stack.py",
                           .first_line = std::stoi(fields[2]),
                           .minor = static_cast<uint16_t>(std::stoi(fields[1])),
                           .line_table = testing::from_hex(fields[5])});
    real.lines.push_back(std::stoi(fields[7]));
  }
  add_modules(track, output.substr(maps_at + 5));
  return real;
}

std::string shown(const std::vector<FrameName>& frames) {
  std::string text;
  for (const FrameName& frame : frames) {
    text += "  " + std::to_string(static_cast<int>(frame.kind)) + " " + frame_title(frame) + "\n";
  }
  return text;
}

size_t place_of(const std::vector<FrameName>& frames, const std::string& function) {
  const auto found = std::ranges::find(frames, function, &FrameName::function);
  return static_cast<size_t>(found - frames.begin());
}

void expect_merged(const RealStack& real, const std::string& program) {
  StackNames names(real.track);
  const auto frames = names.frames(real.track.stacks[0]);
  const std::string all = program + "\n" + shown(frames);

  // The four Python frames in order, with their lines; the loop itself is gone.
  std::vector<std::string> python;
  std::vector<int> lines;
  for (const FrameName& frame : frames) {
    if (frame.kind == FrameKind::python) {
      python.push_back(frame.function);
      lines.push_back(frame.line);
    }
    EXPECT_NE(frame.function, "_PyEval_EvalFrameDefault") << all;
  }
  EXPECT_EQ(python, (std::vector<std::string>{"decode", "load", "train", "<module>"})) << all;
  EXPECT_EQ(lines, real.lines) << all;

  // The library is inside decode; sorted() is between load and train, as machinery.
  const size_t decode = place_of(frames, "decode");
  const size_t load = place_of(frames, "load");
  const size_t train = place_of(frames, "train");
  const size_t module = place_of(frames, "<module>");
  ASSERT_LT(module, frames.size()) << all;
  EXPECT_LT(place_of(frames, "stand_in_capture"), decode) << all;
  EXPECT_GT(train, load + 1) << all;
  for (size_t i = load + 1; i < train; ++i) {
    EXPECT_EQ(frames[i].kind, FrameKind::interpreter) << all;
  }
  const bool one_loop_per_call = real.track.codes[0].minor <= 10;
  if (!one_loop_per_call) {
    EXPECT_EQ(load, decode + 1) << all;
    EXPECT_EQ(module, train + 1) << all;
  }
}

TEST(RealPython, StackIsMergedInEveryVersion) {
  std::set<std::string> tested;
  for (const std::string& program : python_programs()) {
    const std::string output = output_of(program + " " + kScript + " " + kLibrary);
    ASSERT_FALSE(output.empty()) << program;
    const RealStack real = stack_of(output);
    ASSERT_EQ(real.lines.size(), 4u) << program;
    expect_merged(real, program);
    tested.insert(program);
  }
  if (tested.empty()) GTEST_SKIP() << "no CPython 3.8 to 3.14 on this machine";
}

}  // namespace
}  // namespace plateau
