// SPDX-License-Identifier: Apache-2.0
// An invented heap with invented names, for tests of the profile's views.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "recording/run.h"
#include "symbols/stack_names.h"
#include "verdict/test_tracks.h"

namespace plateau {

inline FrameName native(std::string function, std::string module) {
  return {.kind = FrameKind::native, .function = std::move(function), .module = std::move(module)};
}
inline FrameName python(std::string function, std::string file, int line) {
  return {.kind = FrameKind::python,
          .function = std::move(function),
          .file = std::move(file),
          .line = line};
}

// A lazily decoded image: allocator, decoder, Python of a library and of a script.
inline std::vector<FrameName> lazy_image_stack() {
  FrameName loop = native("_PyEval_EvalFrameDefault", "python3.11");
  loop.kind = FrameKind::interpreter;
  return {native("malloc", "libc.so.6"),
          native("ImagingNewBlock", "_imaging.so"),
          loop,
          python("load", "/usr/lib/python3/dist-packages/PIL/ImageFile.py", 245),
          python("Image.getpixel", "/usr/lib/python3/dist-packages/PIL/Image.py", 1500),
          python("main", "/home/me/lazy_images.py", 41),
          native("_start", "python3.11")};
}

inline std::vector<FrameName> same_image_by_another_path() {
  std::vector<FrameName> frames = lazy_image_stack();
  frames[0] = native("calloc", "libc.so.6");
  return frames;
}

inline std::vector<std::vector<FrameName>> example_stacks() {
  return {lazy_image_stack(),
          same_image_by_another_path(),
          {native("operator new(unsigned long)", "libstdc++.so.6"),
           native("Tokenizer::remember(std::string const&)", "libtok.so"),
           python("encode", "/home/me/text.py", 17), python("main", "/home/me/lazy_images.py", 44)},
          {python("collate", "/home/me/lazy_images.py", 20),
           python("main", "/home/me/lazy_images.py", 40)},
          {python("build", "/home/me/model.py", 7), python("main", "/home/me/lazy_images.py", 31)}};
}

// A job of which the heap was traced: images that fill a cache, a leak, buffers, a model.
inline Run example_heap_run() {
  TrackMaker maker(250, 4);
  Noise noise(5);
  const auto image = [](double t) { return 0.12 * std::min(t, 332.0); };
  maker.add(image, 150000);
  maker.add(image, 150000);
  const size_t leak = maker.add([](double t) { return 2 + 0.031 * t; }, 90);
  const size_t churn = maker.add([&](double) { return 12 + 4 * noise(); }, 40000);
  maker.add([](double) { return 48.0; }, 1e6);
  maker.site(leak).live_age[9] = 100;
  maker.site(leak).kind = HeapKind::python;
  maker.site(churn).live_age[0] = 10;
  maker.track().allocator = "glibc";
  maker.track().python_minor = 11;
  maker.track().python_hooked = true;
  maker.track().folded_sites = 12;
  maker.track().folded_max_bytes = 20000;

  Run run;
  run.source = "lazy.plateau";
  run.context.examples = Fact{2656, "test"};
  run.context.batch = Fact{8, "test"};
  run.processes = {{.id = 4242, .id_is_pid = true, .name = "python3"}};
  Gauge tensors{.name = "tensors.cpu.float32.8x3x32x32", .process = 0, .value = {}};
  Gauge types{.name = "objects.dict", .process = 0, .value = {}};
  for (int64_t step = 0; step <= 1000; step += 10) {
    run.instants.push_back({.step = step, .time_s = static_cast<double>(step)});
    tensors.value.push_back(20 + static_cast<double>(step));
    types.value.push_back(5000);
  }
  run.gauges = {tensors, types};
  run.heaps = {maker.track()};
  return run;
}

// Names for its stacks.
inline NameStack example_names() {
  return [](const HeapStack& stack) {
    // The maker numbers its stacks by their only address.
    return example_stacks().at(stack.native.at(0) / 0x1000 - 1);
  };
}

inline HeapProfile example_profile(const ProfileOptions& options = {}) {
  const plateau::Run run = example_heap_run();
  Result<HeapProfile> profile = make_profile(run, run.heaps.front(), example_names(), options);
  EXPECT_TRUE(profile.ok());
  return profile.value();
}

}  // namespace plateau
