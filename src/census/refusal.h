// SPDX-License-Identifier: Apache-2.0
// Why a process cannot be read, in words that say what to do about it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace plateau {

// "pid 4242 cannot be read: REASON; REMEDY".
std::string refusal_text(pid_t pid, std::string_view reason, std::string_view remedy);

// The value of `name` in a /proc status file; "" if there is none.
std::string status_field(const std::string& path, std::string_view name);

// What can be told before anything is touched: no such process, ourselves, a tracer that is there
// already, memory that we may not read. nullopt: nothing stands against it.
std::optional<Error> refuse_at_first_sight(pid_t pid);

// For ptrace or process_vm_readv having failed with `failure`: whose process it is, what the
// kernel's settings say, what would help.
Error trace_refusal(pid_t pid, int failure);

}  // namespace plateau
