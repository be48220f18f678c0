// SPDX-License-Identifier: Apache-2.0
// Starting and stopping by hand, for a tracer that was loaded into a running process.
#include <cerrno>

#include "tracer/hooks.h"
#include "tracer/process.h"
#include "tracer/real_functions.h"

extern "C" [[gnu::visibility("default"), gnu::used]] int plateau_tracer_attach(const char* spec) {
  using namespace plateau::trace;
  const int saved = errno;
  find_real_functions();
  bool done = configure_from(spec);
  if (done) {
    // A segment at once: who comes later sees by it that the process is being recorded.
    begin_anew();
    done = current_segment() != nullptr;
  }
  errno = saved;
  return done ? 0 : 1;
}

extern "C" [[gnu::visibility("default"), gnu::used]] int plateau_tracer_detach() {
  using namespace plateau::trace;
  const int saved = errno;
  stop_tracing(SegmentState::detached);
  errno = saved;
  return 0;
}
