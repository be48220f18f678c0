// SPDX-License-Identifier: Apache-2.0
#include "session/auto_module.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/installed.h"

namespace plateau {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread.
  return value != nullptr ? value : "";
}

}  // namespace

std::vector<std::string> auto_environment(bool wanted, std::string& trouble) {
  if (!wanted || variable("PLATEAU_AUTO") == "0") return {"PLATEAU_AUTO=0"};
  const std::vector<std::string> places = places_of("python");
  const std::string directory = first_readable(places);
  if (directory.empty()) {
    trouble = fmt::format(
        "the Python module is not at {}, so steps are not learnt by themselves; is Plateau "
        "installed in full?",
        places.front());
    return {};
  }
  // Python separates by ':' and knows no way to quote one.
  if (directory.find(':') != std::string::npos) {
    trouble =
        fmt::format("steps are not learnt by themselves: PYTHONPATH cannot hold {}", directory);
    return {};
  }
  const std::string before = variable("PYTHONPATH");
  if (before == directory || before.starts_with(directory + ":"))
    return {};  // A watcher around us.
  // An empty entry would be the working directory.
  return {"PYTHONPATH=" + directory + (before.empty() ? "" : ":" + before)};
}

}  // namespace plateau
