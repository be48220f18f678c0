// SPDX-License-Identifier: Apache-2.0
#include "cli/run_serve.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/serve_address.h"
#include "session/job.h"

namespace plateau {
namespace {

constexpr double kFarewellS = 3;
constexpr double kEndS = 6;
constexpr int kNice = 5;  // The job comes first.

void serve_until(const RunRequest& request, const ServeOptions& options, int stop_fd,
                 const HelperProcess::Report& report) {
  Result<StartedServer> started = start_server(options, request.serve_port_chosen);
  if (!started) {
    report(started.error());
    return;
  }
  report(started.value().server.url());
  if (nice(kNice) == -1) {
    // Then it is not nice; nothing depends on it.
  }
  started.value().server.run(stop_fd, kFarewellS);
}

}  // namespace

Result<std::optional<LiveServer>> serve_job(const RunRequest& request, Output& out) {
  if (!request.serve) return std::optional<LiveServer>();
  // A pipe must not become the standard output that somebody closed.
  fill_standard_descriptors();
  ServeOptions options = *request.serve;
  options.given = request.job.given;
  options.policy = request.policy;
  for (size_t attempt = 1; attempt <= request.restarts + 1; ++attempt) {
    options.later.push_back(attempt_name(request.job.recording_path, attempt));
  }
  Result<HelperProcess> helper =
      HelperProcess::start("plateau-serve", [&](int stop_fd, const HelperProcess::Report& report) {
        serve_until(request, options, stop_fd, report);
      });
  if (!helper) return helper.error();
  out.remark(fmt::format("plateau: live at {}\n", helper.value().said()));
  return std::optional<LiveServer>(std::move(helper.value()));
}

void LiveServer::end() {
  helper_.stop(kEndS);
}

}  // namespace plateau
