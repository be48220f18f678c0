// SPDX-License-Identifier: Apache-2.0
// Threads: who starts them, and what their stacks hold (holdings.h).
//
// A thread that is told begins in a function of ours. It notes where its stack lies, leaves word
// that its end be told, and goes on to the program's function by a jump, so that no frame of ours
// stands on its stack. The word is a thread-specific value, whose destructor runs however the
// thread ends: by return, pthread_exit or cancellation.
//
// Exported only, without an entry for attaching: a tracer that is attached leaves again, and a
// thread must not find its end in code that is gone. Threads whose stack the program brings along
// are its own memory, and told as that.
#include <pthread.h>

#include <cerrno>

#include "tracer/holdings.h"
#include "tracer/real_functions.h"
#include "tracer/stack_bounds.h"

namespace plateau::trace {
namespace {

enum class Key : uint32_t { not_made, being_made, made, refused };
constinit std::atomic<Key> key_state{Key::not_made};
constinit pthread_key_t key{};

uint64_t this_thread() noexcept {
  return static_cast<uint64_t>(pthread_self());
}

// Runs in the thread that ends. In a child made by fork the entry may be another thread's by now.
void tell_end(void* value) {
  auto* holding = static_cast<Holding*>(value);
  if (holding->thread.load(std::memory_order_relaxed) == this_thread()) {
    end_holding(*holding);
  }
}

bool key_made() noexcept {
  Key state = key_state.load(std::memory_order_acquire);
  if (state == Key::not_made && key_state.compare_exchange_strong(state, Key::being_made)) {
    state = pthread_key_create(&key, tell_end) == 0 ? Key::made : Key::refused;
    key_state.store(state, std::memory_order_release);
  }
  return state == Key::made;
}

struct Begin {
  void* (*routine)(void*);
  void* argument;
};

// The thread's descriptor is at the end of its stack and smaller than a page.
[[gnu::noinline]] Begin note_begin(Holding& holding) noexcept {
  const Begin begin{holding.routine, holding.argument};
  holding.thread.store(this_thread(), std::memory_order_relaxed);
  holding.stack_end.store((this_thread() + kPageBytes) / kPageBytes * kPageBytes,
                          std::memory_order_release);
  know_thread_stack(holding.stack_end.load(std::memory_order_relaxed) - holding.stack_bytes);
  if (pthread_setspecific(key, &holding) != 0) {
    end_holding(holding);
  }
  return begin;
}

void* begin_thread(void* value) {
  const Begin begin = note_begin(*static_cast<Holding*>(value));
  return begin.routine(begin.argument);
}

// Bytes of the stack that the thread will get from libc; 0 if it brings its own.
uint64_t stack_bytes_of(const pthread_attr_t* attributes) noexcept {
  void* begin = nullptr;
  size_t bytes = 0;
  if (attributes != nullptr) {
    const bool told = pthread_attr_getstack(attributes, &begin, &bytes) == 0;
    // Without a stack of its own the end is nowhere.
    if (!told || reinterpret_cast<uint64_t>(begin) + bytes != 0) {
      return 0;
    }
    if (bytes != 0) {
      return bytes;
    }
  }
  pthread_attr_t usual;
  if (pthread_getattr_default_np(&usual) != 0) {
    return 0;
  }
  pthread_attr_getstacksize(&usual, &bytes);
  pthread_attr_destroy(&usual);
  return bytes;
}

Holding* hold_thread(Site site, const pthread_attr_t* attributes, void* (*routine)(void*),
                     void* argument) noexcept {
  const int saved = errno;
  Holding* holding = nullptr;
  const uint64_t bytes = stack_bytes_of(attributes);
  if (bytes != 0 && key_made()) {
    measure_holdings(0);
    holding = claim_holding(BlockKind::stack, site);
  }
  if (holding != nullptr) {
    holding->routine = routine;
    holding->argument = argument;
    holding->stack_bytes = bytes / kPageBytes * kPageBytes;
    publish_holding(*holding);
  }
  errno = saved;
  return holding;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int exported_pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
    void* argument) __asm__("pthread_create");
extern "C" int exported_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                       void* (*routine)(void*), void* argument) {
  Holding* holding =
      threads_wanted() ? hold_thread(PLATEAU_SITE, attributes, routine, argument) : nullptr;
  if (holding == nullptr) {
    return real.pthread_create(thread, attributes, routine, argument);
  }
  const int error = real.pthread_create(thread, attributes, begin_thread, holding);
  if (error != 0) {
    end_holding(*holding);
  }
  return error;
}

}  // namespace plateau::trace
