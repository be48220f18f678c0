// SPDX-License-Identifier: Apache-2.0
#include "session/auto_module.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/installed.h"
#include "inject/python_line.h"

namespace plateau {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread.
  return value != nullptr ? value : "";
}

Result<std::string> module_directory() {
  std::string found = auto_module_directory();
  if (!found.empty()) return found;
  return Error{Error::Kind::not_found,
               fmt::format("the Python module is not at {}, so steps are not read automatically; "
                           "is Plateau installed in full?",
                           places_of("python").front())};
}

// In quotes, for a line of Python that is itself in triple quotes.
bool is_plain(std::string_view path) {
  return path.find_first_of("'\"\\\n") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> auto_environment(bool wanted, std::string& trouble) {
  if (!wanted || variable("PLATEAU_AUTO") == "0") return {"PLATEAU_AUTO=0"};
  const Result<std::string> found = module_directory();
  if (!found) {
    trouble = found.error().message;
    return {};
  }
  const std::string& directory = found.value();
  // Python separates by ':' and knows no way to quote one.
  if (directory.find(':') != std::string::npos) {
    trouble = fmt::format("steps are not read automatically: PYTHONPATH cannot hold {}", directory);
    return {};
  }
  const std::string before = variable("PYTHONPATH");
  if (before == directory || before.starts_with(directory + ":"))
    return {};  // A watcher around us.
  // An empty entry would be the working directory.
  return {"PYTHONPATH=" + directory + (before.empty() ? "" : ":" + before)};
}

std::string auto_module_directory() {
  return installed_directory("python", "sitecustomize.py");
}

Result<Intrusion> bring_auto_module(pid_t pid, const std::string& socket, double timeout_s) {
  const Result<std::string> directory = module_directory();
  if (!directory) return directory.error();
  if (!is_plain(directory.value()) || !is_plain(socket)) {
    return Error{Error::Kind::bad_input,
                 fmt::format("the path {} cannot be handed to Python", directory.value())};
  }
  const std::string line =
      quiet_python(fmt::format(" import sys\n"
                               " sys.path.insert(0, '{0}')\n"
                               " try:\n"
                               "  import plateau_auto\n"
                               " finally:\n"
                               "  sys.path.remove('{0}')\n"
                               " plateau_auto.start('{1}')\n",
                               directory.value(), socket));
  return run_python_line(pid, line, timeout_s);
}

}  // namespace plateau
