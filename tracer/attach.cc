// SPDX-License-Identifier: Apache-2.0
// Starting and stopping by hand, for a tracer that was loaded into a running process.
#include <cerrno>

#include "tracer/hooks.h"
#include "tracer/process.h"
#include "tracer/real_functions.h"

extern "C" [[gnu::visibility("hidden"), gnu::used]] int plateau_tracer_attach(const char* spec) {
  using namespace plateau::trace;
  const int saved = errno;
  find_real_functions();
  const bool done = configure_from(spec);
  errno = saved;
  return done ? 0 : 1;
}

extern "C" [[gnu::visibility("hidden"), gnu::used]] int plateau_tracer_detach() {
  using namespace plateau::trace;
  const int saved = errno;
  stop_tracing(SegmentState::detached);
  errno = saved;
  return 0;
}
