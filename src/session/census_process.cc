// SPDX-License-Identifier: Apache-2.0
#include "session/census_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include "census/census.h"
#include "census/find_python.h"
#include "recording/record_codec.h"

namespace plateau {
namespace {

// By measurement (docs/census.md): of a stop that is given the CPU, with holders.
constexpr double kSecondsPerObject = 0.25e-6;
constexpr double kSecondsPerStop = 0.003;
constexpr uint64_t kFewObjects = 20'000;  // Before its first full collection a process says none.
// A machine without a free core makes a stop several times longer. What would take longer still is
// given up; the next try may take twice as long, or a quarter longer if no more is left.
constexpr double kMostStopS = 0.75;
constexpr double kStopPerEstimate = 4;
constexpr double kLeastStopS = 0.05;
constexpr double kMoreForRetry = 1.25;
// Work may import a few more: a format's reader, what draws a figure. A framework that is being
// imported brings hundreds, with tables and functions that are nobody's growth.
constexpr size_t kModulesOfWork = 50;

// Away from the terminal and from everything that the owner has open; ends with it.
void settle_down(int socket) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "plateau-census");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number :
       {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM}) {
    std::signal(number, SIG_IGN);
  }
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const auto kept = static_cast<unsigned>(socket);
  if (kept > 0) close_range(0, kept - 1, 0);
  close_range(kept + 1, ~0U, 0);
  while (open("/dev/null", O_RDWR) >= 0) {
    if (fcntl(STDERR_FILENO, F_GETFD) >= 0) break;
  }
}

class Looker {
 public:
  LookReply look(const LookRequest& request) {
    LookReply reply;
    if (request.anew) before_.reset();
    const Result<uint64_t> objects = likely_objects(request.pid);
    if (!objects) {
      // A job that is no Python lacks nothing.
      if (is_python(request.pid)) reply.trouble = objects.error().message;
      reply.refused = true;
      return reply;
    }
    const double estimate_s =
        kSecondsPerStop +
        kSecondsPerObject * static_cast<double>(std::max(objects.value(), kFewObjects));
    const std::optional<double> most_s = most_stop_s(estimate_s, request);
    if (!most_s) {
      reply.too_costly = true;
      reply.estimate_s = estimate_s;
      return reply;
    }
    Result<Census> census = take_census(request.pid, {.max_stop_s = *most_s,
                                                      .holders = true,
                                                      .holders_first = true,
                                                      .before = before_ ? &*before_ : nullptr});
    if (!census) {
      reply.trouble = census.error().message;
      reply.stopped_s = *most_s;
      return reply;
    }
    reply.at_s = census.value().at_s;
    reply.stopped_s = census.value().stopped_s;
    reply.trouble = census.value().holders.trouble;
    reply.looked = reply.trouble.empty();
    HolderFindings& found = census.value().holders;
    reply.first = !before_ || was_loading(before_->modules, found.index.modules);
    if (!reply.first) reply.growth.holders = std::move(found.holders);
    // Where nothing is seen to have grown, the next look compares over a longer time.
    if (reply.looked && (reply.first || !reply.growth.holders.empty())) {
      before_ = std::move(found.index);
    }
    return reply;
  }

 private:
  std::optional<HolderIndex> before_;
};

}  // namespace

std::optional<double> most_stop_s(double estimate_s, const LookRequest& request) {
  if (estimate_s > request.most_estimate_s) return std::nullopt;
  const double usual_s = std::clamp(kStopPerEstimate * estimate_s, kLeastStopS, kMostStopS);
  if (request.failures == 0) return usual_s;
  // The same time again would most likely be too short again.
  const double least_s = usual_s * kMoreForRetry;
  const double most_s = usual_s * static_cast<double>(1 << request.failures);
  return least_s <= request.left_s ? std::optional(std::min(most_s, request.left_s)) : std::nullopt;
}

bool was_loading(size_t modules_before, size_t modules_now) {
  return modules_now > modules_before + kModulesOfWork;
}

std::string encode_reply(const LookReply& reply) {
  FieldWriter io;
  io(reply.looked, reply.too_costly, reply.refused, reply.first, reply.estimate_s, reply.at_s,
     reply.stopped_s, reply.trouble);
  io.out += encode_record(reply.growth);
  return std::move(io.out);
}

LookReply decode_reply(const std::string& bytes) {
  LookReply reply;
  FieldReader io{WireReader(bytes)};
  io(reply.looked, reply.too_costly, reply.refused, reply.first, reply.estimate_s, reply.at_s,
     reply.stopped_s, reply.trouble);
  record_fields(io, reply.growth);
  if (!io.in.ok()) return {.trouble = "its answer could not be read"};
  return reply;
}

void look_on_request(int socket) {
  settle_down(socket);
  Looker looker;
  LookRequest request;
  while (recv(socket, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request)) {
    const std::string bytes = encode_reply(looker.look(request));
    if (send(socket, bytes.data(), std::min(bytes.size(), kMostLookBytes), MSG_NOSIGNAL) < 0) break;
  }
  _exit(0);
}

}  // namespace plateau
