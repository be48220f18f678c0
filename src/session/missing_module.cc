// SPDX-License-Identifier: Apache-2.0
#include "session/missing_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/files.h"
#include "session/auto_module.h"

namespace plateau {
namespace {

constexpr double kWidestGapSeconds = 60;
constexpr std::array<std::string_view, 3> kFrameworks = {"/libtorch_python.so", "/jaxlib/",
                                                         "/tensorflow/"};

std::optional<std::string_view> value_of(std::string_view environment, std::string_view name) {
  for (size_t from = 0; from < environment.size();) {
    const size_t end = std::min(environment.find('\0', from), environment.size());
    const std::string_view entry = environment.substr(from, end - from);
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return entry.substr(name.size() + 1);
    }
    from = end + 1;
  }
  return std::nullopt;
}

bool has_entry(std::string_view path, std::string_view directory) {
  for (size_t from = 0; from <= path.size();) {
    const size_t end = std::min(path.find(':', from), path.size());
    if (path.substr(from, end - from) == directory) return true;
    from = end + 1;
  }
  return false;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The option of Python's own, before its script, with which it does not look at PYTHONPATH.
std::string_view isolating_option(std::string_view arguments) {
  for (size_t from = arguments.find('\0'); from < arguments.size();) {
    const size_t end = std::min(arguments.find('\0', from + 1), arguments.size());
    const std::string_view word = arguments.substr(from + 1, end - from - 1);
    if (!word.starts_with('-') || word.starts_with("--")) return {};
    // What follows one of these letters in a word, or in the next, is their value.
    const size_t value = std::min(word.find_first_of("cmWX"), word.size());
    const std::string_view flags = word.substr(1, value - 1);
    // The words of a process may hold anything; Python's flags are letters.
    if (!std::ranges::all_of(flags, is_letter)) return {};
    if (flags.find_first_of("IES") != std::string_view::npos) return word.substr(0, value);
    if (value < word.size() && (word[value] == 'c' || word[value] == 'm')) return {};
    from = value + 1 == word.size() ? arguments.find('\0', end + 1) : end;
  }
  return {};
}

}  // namespace

std::string what_keeps_module_out(std::string_view environment, std::string_view arguments,
                                  std::string_view directory) {
  if (environment.empty() || value_of(environment, "PLATEAU_AUTO") == "0") return "";
  if (!value_of(environment, "PLATEAU_SOCKET")) {
    return "it was started without the job's environment (env -i, sudo, a service manager)";
  }
  if (const std::string_view option = isolating_option(arguments); !option.empty()) {
    return fmt::format("it was started with {}, so that it does not look at PYTHONPATH", option);
  }
  if (!has_entry(value_of(environment, "PYTHONPATH").value_or(""), directory)) {
    return "the job sets PYTHONPATH anew; let it end in :$PYTHONPATH";
  }
  return "";
}

bool maps_a_framework(std::string_view maps) {
  return std::ranges::any_of(kFrameworks, [&](std::string_view part) {
    return maps.find(part) != std::string_view::npos;
  });
}

std::string MissingModule::look(pid_t pid, double at_s) {
  if (over_ || pid <= 0 || at_s < next_s_) return "";
  next_s_ = at_s + gap_s_;
  gap_s_ = std::min(2 * gap_s_, kWidestGapSeconds);
  const std::string proc = fmt::format("/proc/{}/", pid);
  const std::string why = what_keeps_module_out(
      text_of_file(proc + "environ"), text_of_file(proc + "cmdline"), auto_module_directory());
  if (why.empty() || !maps_a_framework(text_of_file(proc + "maps"))) return "";
  over_ = true;
  return fmt::format(
      "steps and epochs are not learnt by themselves, the module is not in pid {}: {} "
      "('plateau watch {} --auto' brings it in)",
      pid, why, pid);
}

}  // namespace plateau
