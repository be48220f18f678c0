// SPDX-License-Identifier: Apache-2.0
// Where the files are that belong to this program and are no program: the heap tracer, the Python
// module. One rule for all of them: beside the executable in a build tree, in ../lib/plateau when
// installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plateau {

// Where `name` ("libplateau_tracer.so", "python") may be, the likeliest first.
std::vector<std::string> places_of(std::string_view name);

// Where the directory `name` is, as an absolute path without links; "" if nowhere. It is known by
// `file` in it: in an environment of Python's, a program of the name "python" stands beside ours.
std::string installed_directory(std::string_view name, std::string_view file);

// Whether this program can load a library while it runs; the static one cannot.
bool loads_libraries();

// The first of `places` that can be read, as an absolute path without links; "" if none can.
std::string first_readable(const std::vector<std::string>& places);

}  // namespace plateau
