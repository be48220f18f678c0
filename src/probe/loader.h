// SPDX-License-Identifier: Apache-2.0
// Which dynamic loader starts a program, read from its file: what is preloaded into a job
// (LD_PRELOAD) has to suit that loader. A library of glibc's that musl's loader is told of does not
// go unnoticed there: the program ends before it began.
#pragma once

#include <optional>
#include <string>

namespace plateau {

#ifdef __aarch64__
inline constexpr const char* kGlibcLoader = "/lib/ld-linux-aarch64.so.1";
#else
inline constexpr const char* kGlibcLoader = "/lib64/ld-linux-x86-64.so.2";
#endif

// The loader that the program `command` names; of a script that of its interpreter. "" if it is
// linked statically; nothing if it is not found or cannot be told. `path` is $PATH, along which a
// command without a slash is looked for.
std::optional<std::string> loader_of(const std::string& command, const std::string& path);

// Why a job that begins with `command` could not take a library of glibc's, as a clause; "" if it
// may. A static program may start others that do, where there is a loader for them:
// `glibc_loader` says where that is.
std::string refuses_preload(const std::string& command, const std::string& path,
                            const std::string& glibc_loader = kGlibcLoader);

}  // namespace plateau
