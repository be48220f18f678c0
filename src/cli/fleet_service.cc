// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_service.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/units.h"
#include "cli/exit_code.h"
#include "cli/serve_address.h"
#include "fleet/fleet_words.h"
#include "fleet/service.h"
#include "session/signals.h"

namespace plateau {
namespace {

constexpr uint16_t kFleetPort = 7529;  // Beside that of `plateau serve`.

// Waits until `until_s` or for a signal; true if one came.
bool signalled(const SignalReader& signals, double until_s) {
  pollfd polled = {signals.fd(), POLLIN, 0};
  while (true) {
    const double left_s = until_s - monotonic_now_s();
    const int ms = static_cast<int>(std::clamp(left_s * 1000, 0.0, 3600e3));
    if (poll(&polled, 1, ms) > 0) return true;
    if (left_s <= 0) return false;
  }
}

// One round in a thread of its own, so that a signal ends it at its next shard.
Result<fleet::FleetAnswer> round_unless_signalled(FleetRequest& request,
                                                  const SignalReader& signals, bool& stop) {
  std::atomic<bool> done = false, stopping = false;
  request.round.question.end_s = request.at_s.value_or(unix_now_s());
  request.round.question.with_closeups = true;
  request.round.stopped = [&] { return stopping.load(); };
  Result<fleet::FleetAnswer> answer = Error{};
  std::jthread round([&] {
    answer =
        fleet::judge_fleet([&] { return fleet::ask_over_http(request.access); }, request.round);
    done = true;
  });
  constexpr double kLookS = 0.2;
  while (!done && !stop) stop = signalled(signals, monotonic_now_s() + kLookS);
  stopping = stop;
  round.join();
  return answer;
}

}  // namespace

int serve_fleet(const Invocation& invocation, FleetRequest& request) {
  Output& out = invocation.out;
  const Result<ListenAddress> address =
      parse_listen(request.listen.empty() ? "127.0.0.1" : request.listen, kFleetPort);
  if (!address) return misused(invocation, address.error());
  const Result<ServeOptions> who =
      serve_at(request.listen.empty() ? "127.0.0.1" : request.listen, std::nullopt);
  if (!who) return misused(invocation, who.error());
  // Blocked before threads are made, which inherit that.
  SignalReader signals({SIGINT, SIGTERM});
  Result<fleet::Service> service = fleet::Service::start(address.value(), who.value().token);
  if (!service) return trouble(invocation, service.error().message);
  out.print(service.value().url() + "\n");
  out.flush();
  fleet::ServiceFigures figures;
  bool stop = false;
  while (!stop) {
    const double begin_s = monotonic_now_s();
    const Result<fleet::FleetAnswer> answer = round_unless_signalled(request, signals, stop);
    if (stop) break;
    ++figures.rounds;
    figures.last_round_s = monotonic_now_s() - begin_s;
    if (answer) {
      figures.last_success_s = unix_now_s();
      out.remark(
          fmt::format("{} {}\n", format_utc(unix_now_s()), fleet::summary_of(answer.value())));
    } else {
      ++figures.failed_rounds;
      out.complain("fleet", answer.error().message);
    }
    service.value().show(answer ? &answer.value() : nullptr, request.asked, figures);
    stop = signalled(signals, begin_s + *request.every_s);
  }
  signals.read_all();
  return kExitFine;
}

}  // namespace plateau
