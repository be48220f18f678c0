// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_objects.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "census/census.h"
#include "cli/exit_code.h"
#include "cli/shared_options.h"
#include "report/census.h"

namespace plateau {
namespace {

constexpr size_t kTop = 20;

std::optional<Census> announced_census(const Invocation& invocation, pid_t pid,
                                       const HolderIndex* before = nullptr) {
  CensusOptions options{.holders = true, .before = before};
  options.max_stop_s = invocation.arguments.seconds("max-stop").value_or(options.max_stop_s);
  const auto announce = [&] {
    invocation.out.remark(fmt::format("plateau profile: stopping pid {} for at most {:.0f} ms\n",
                                      pid, options.max_stop_s * 1000));
  };
  Result<Census> census = take_census(pid, options, announce);
  if (census) return std::move(census.value());
  invocation.out.complain("profile", census.error().message);
  return std::nullopt;
}

}  // namespace

Options objects_options() {
  return grouped(
      "Python objects",
      {flag("objects",
            "Count the Python objects of the process PID by type, from outside (CPython 3.8 to "
            "3.14). It is stopped for a moment; nothing is installed in it."),
       option("again", Takes::seconds, "TIME",
              "Count again after TIME and show which types grew, and which variables hold more."),
       option("max-stop", Takes::seconds, "TIME",
              "The longest a count may stop the process (default 0.5s); if it would take longer, "
              "the process is released and nothing is shown.")});
}

int profile_objects(const Invocation& invocation, pid_t pid) {
  const Arguments& arguments = invocation.arguments;
  Output& out = invocation.out;
  const std::optional<Census> first = announced_census(invocation, pid);
  if (!first) return kExitTrouble;
  const auto top = static_cast<size_t>(arguments.number("top").value_or(0));  // 0: not given.
  const size_t rows = top > 0 ? top : kTop;
  const bool json = arguments.has("json");
  const View view = view_of(arguments, STDOUT_FILENO);
  const std::optional<double> again_s = arguments.seconds("again");
  if (!again_s) {
    out.print(json ? census_json(*first, top) + "\n" : render_census(*first, view, rows));
    return kExitFine;
  }
  const double since_s = monotonic_now_s();
  std::this_thread::sleep_for(std::chrono::duration<double>(*again_s));
  const double seconds = monotonic_now_s() - since_s;
  const std::optional<Census> second = announced_census(invocation, pid, &first->holders.index);
  if (!second) return kExitTrouble;
  const CensusPair pair{*first, *second, seconds};
  out.print(json ? census_growth_json(pair, top) + "\n" : render_census_growth(pair, view, rows));
  return kExitFine;
}

}  // namespace plateau
