// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "report/example_profile.h"
#include "verdict/test_tracks.h"

namespace plateau {
namespace {

std::vector<FrameName> same_image_by_another_path() {
  std::vector<FrameName> frames = lazy_image_stack();
  frames[0] = native("calloc", "libc.so.6");
  return frames;
}

std::vector<std::vector<FrameName>> example_stacks() {
  return {lazy_image_stack(),
          same_image_by_another_path(),
          {native("operator new(unsigned long)", "libstdc++.so.6"),
           native("Tokenizer::remember(std::string const&)", "libtok.so"),
           python("encode", "/home/me/text.py", 17), python("main", "/home/me/lazy_images.py", 44)},
          {python("collate", "/home/me/lazy_images.py", 20),
           python("main", "/home/me/lazy_images.py", 40)},
          {python("build", "/home/me/model.py", 7), python("main", "/home/me/lazy_images.py", 31)}};
}

}  // namespace

Run example_heap_run() {
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

NameStack example_names() {
  return [](const HeapStack& stack) {
    // The maker numbers its stacks by their only address.
    return example_stacks().at(stack.native.at(0) / 0x1000 - 1);
  };
}

}  // namespace plateau
