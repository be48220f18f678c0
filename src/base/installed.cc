// SPDX-License-Identifier: Apache-2.0
#include "base/installed.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>

#include "base/files.h"

namespace plateau {

std::vector<std::string> places_of(std::string_view name) {
  const std::string executable = link_target("/proc/self/exe");
  const size_t slash = executable.rfind('/');
  const std::string beside = executable.substr(0, slash == std::string::npos ? 0 : slash);
  return {fmt::format("{}/{}", beside, name), fmt::format("{}/../lib/plateau/{}", beside, name)};
}

std::string installed_directory(std::string_view name, std::string_view file) {
  const std::string found = first_readable(places_of(fmt::format("{}/{}", name, file)));
  return found.substr(0, found.empty() ? 0 : found.size() - file.size() - 1);
}

bool loads_libraries() {
  return dlopen(nullptr, RTLD_NOW) != nullptr;
}

std::string first_readable(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    std::array<char, PATH_MAX> full{};
    if (access(place.c_str(), R_OK) == 0 && realpath(place.c_str(), full.data()) != nullptr) {
      return full.data();
    }
  }
  return "";
}

}  // namespace plateau
