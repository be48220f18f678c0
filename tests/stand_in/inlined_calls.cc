// SPDX-License-Identifier: Apache-2.0
// A library with debug information whose stacks are known: for the tests of names.
//
// stand_in_outer() has stand_in::middle() inlined, which has stand_in::inner<int>() inlined, which
// calls back. Always built with -g -O2 and without sanitizers.
#include <execinfo.h>

namespace stand_in {

using Visit = void (*)(void*);

template <typename T>
__attribute__((always_inline)) inline void inner(T& value, Visit visit, void* context) {
  value += 1;
  visit(context);  // INNER
  value += 2;
}

__attribute__((always_inline)) inline void middle(int& value, Visit visit, void* context) {
  value *= 3;
  inner<int>(value, visit, context);  // MIDDLE
  value *= 5;
}

__attribute__((noinline)) int plain(Visit visit, void* context) {
  visit(context);  // PLAIN
  asm volatile("" ::: "memory");
  return 1;
}

}  // namespace stand_in

extern "C" {

int stand_in_outer(stand_in::Visit visit, void* context) {
  int value = 1;
  stand_in::middle(value, visit, context);  // OUTER
  return value;
}

int stand_in_plain(stand_in::Visit visit, void* context) {
  return stand_in::plain(visit, context) + 1;
}

// Return addresses of this function and its callers; how many.
int stand_in_capture(void** addresses, int most) {
  const int count = backtrace(addresses, most);
  asm volatile("" ::: "memory");  // Not a tail call: this function is in its own stack.
  return count;
}
}
