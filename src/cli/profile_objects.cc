// SPDX-License-Identifier: Apache-2.0
#include "cli/profile_objects.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/units.h"
#include "census/census.h"
#include "cli/exit_code.h"
#include "cli/shared_options.h"
#include "report/census.h"

namespace plateau {
namespace {

constexpr size_t kTop = 20;

using SteadyClock = std::chrono::steady_clock;

struct ObjectsRequest {
  CensusOptions census;
  std::optional<double> again_s;
  size_t top = 0;  // 0: not given.
  bool json = false;
  View view;
};

ObjectsRequest request_of(const Arguments& arguments) {
  ObjectsRequest request;
  request.census.max_stop_s = arguments.seconds("max-stop").value_or(request.census.max_stop_s);
  request.again_s = arguments.seconds("again");
  request.top = static_cast<size_t>(arguments.number("top").value_or(0));
  request.json = arguments.has("json");
  request.view = view_of(arguments, STDOUT_FILENO);
  return request;
}

std::optional<Census> announced_census(const Invocation& invocation, const ObjectsRequest& request,
                                       pid_t pid) {
  const auto announce = [&] {
    invocation.out.remark(fmt::format("plateau profile: stopping pid {} for at most {:.0f} ms\n",
                                      pid, request.census.max_stop_s * 1000));
  };
  Result<Census> census = take_census(pid, request.census, announce);
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
            "3.13). It is stopped for a moment; nothing is installed in it."),
       option("again", Takes::seconds, "TIME", "Count again after TIME and show which types grew."),
       option("max-stop", Takes::seconds, "TIME",
              "The longest a count may stop the process (default 0.5s); if it would take longer, "
              "the process is released and nothing is shown.")});
}

int profile_objects(const Invocation& invocation, pid_t pid) {
  const ObjectsRequest request = request_of(invocation.arguments);
  Output& out = invocation.out;
  const std::optional<Census> first = announced_census(invocation, request, pid);
  if (!first) return kExitTrouble;
  const size_t rows = request.top > 0 ? request.top : kTop;
  if (!request.again_s) {
    out.print(request.json ? census_json(*first, request.top) + "\n"
                           : render_census(*first, request.view, rows));
    return kExitFine;
  }
  const auto since = SteadyClock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(*request.again_s));
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - since).count();
  const std::optional<Census> second = announced_census(invocation, request, pid);
  if (!second) return kExitTrouble;
  const CensusPair pair{*first, *second, seconds};
  out.print(request.json ? census_growth_json(pair, request.top) + "\n"
                         : render_census_growth(pair, request.view, rows));
  return kExitFine;
}

}  // namespace plateau
