// SPDX-License-Identifier: Apache-2.0
// What the tracer may ask of the kernel: a filter on system calls (seccomp) may kill the program
// for a call that it never makes itself, and even the call that asks whether there is a filter.
//
// A filter comes to be in two ways. The program puts it on itself, through prctl() or syscall(),
// which are ours to see: a segment is made before, and from then on, here and in all children,
// nothing is asked any more. Records go on, because writing memory is no call. Or it was there when
// the program began. Then its number of filters, which /proc says, is compared with the recorder's:
// if they are the same (a container's profile, which holds for both), the recorder has made every
// call of ours already. If there are more, only such calls are made as the loader has just made.
//
// The strict mode of old also forbids to read the time stamp counter, as does PR_SET_TSC: from then
// on nothing is recorded, and the process counts as one that was kept silent.
//
// Blind spot: a filter that is put on by system calls outside of libc.
#pragma once

#include <cstdint>

namespace plateau::trace {

enum class MayCall : uint8_t {
  anything,
  loaders,  // openat, read, mmap, munmap and close.
  nothing,
};

// How many filters this process is under, by calls of the loader; -1 if that cannot be told.
int32_t count_filters() noexcept;

// What a call puts on; `option` and `value` are its first arguments.
enum class Restriction : uint8_t { none, calls, counter };
Restriction restriction_of(long number, long option, long value) noexcept;

// To be called before it is put on.
void expect_restriction(Restriction restriction) noexcept;

}  // namespace plateau::trace
