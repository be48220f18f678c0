// SPDX-License-Identifier: Apache-2.0
// Loses 200 KiB in every call of native code, and shows a progress bar.
//
// Steps are not sent; they are to be read from the bar, which is drawn the way tqdm draws it: on
// standard error, over itself with a carriage return, about ten times a second. No epoch is known.
// Cause: native-leak.
// Signal: anonymous memory rises on a straight line per step.
// Verdict: leak, once 500 steps rule out a cache that is still filling.
#include "leaker.h"

namespace {

void draw_bar(int step, int steps, double elapsed_s) {
  const double rate = elapsed_s > 0 ? step / elapsed_s : 0;
  const auto left = static_cast<int>(rate > 0 ? (steps - step) / rate : 0);
  const auto gone = static_cast<int>(elapsed_s);
  std::string bar(static_cast<size_t>(step * 10 / steps), '#');
  bar.resize(10, ' ');
  std::fprintf(stderr, "\rtrain: %3d%%|%s| %d/%d [%02d:%02d<%02d:%02d, %.2fit/s]",
               step * 100 / steps, bar.c_str(), step, steps, gone / 60, gone % 60, left / 60,
               left % 60, rate);
}

}  // namespace

int main(int argc, char** argv) {
  leaker::Plan plan;
  plan.steps = 900;
  plan.step_s = 0.013;
  plan.words = false;
  leaker::Loop loop(plan.read(argc, argv));
  leaker::block(40UL * 1024);
  const auto began = std::chrono::steady_clock::now();
  double drawn_s = -1;
  loop.run([&](int step) {
    // 400 pieces of 512 bytes: what one call forgets.
    for (int i = 0; i < 400; ++i) {
      *static_cast<volatile char*>(std::malloc(512)) = 1;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
    if (elapsed.count() - drawn_s < 0.1 && step != plan.steps) return;
    drawn_s = elapsed.count();
    draw_bar(step, plan.steps, drawn_s);
  });
  std::fputc('\n', stderr);
}
