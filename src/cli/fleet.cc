// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/fleet_job.h"
#include "cli/fleet_request.h"
#include "cli/fleet_service.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "cli/write_file.h"
#include "fleet/fleet_words.h"

namespace plateau {
namespace {

int exit_code_of(const fleet::FleetAnswer& answer) {
  if (answer.leaks() > 0) return kExitLeak;
  return answer.findings.empty() && !answer.partial() ? kExitFine : kExitUndecided;
}

void print_answer(const fleet::FleetAnswer& answer, const FleetRequest& request, Output& out) {
  if (request.json) {
    out.print(fleet::fleet_json(answer));
  } else if (request.quiet) {
    out.print(fleet::summary_of(answer) + "\n");
  } else {
    out.print(fleet::render_fleet(answer, request.asked, request.view, request.most_undecided));
  }
}

int judge_once(const Invocation& invocation, FleetRequest& request) {
  request.round.question.end_s = request.at_s.value_or(unix_now_s());
  request.round.question.with_closeups = !request.page.empty();
  Result<fleet::FleetAnswer> answer = Error{};
  {
    Progress progress(invocation.out, request.asked.origin);
    request.round.progress = [&](size_t done, size_t all) { progress.update(done, all); };
    answer =
        fleet::judge_fleet([&] { return fleet::ask_over_http(request.access); }, request.round);
  }
  if (!answer) return trouble(invocation, answer.error().message);
  print_answer(answer.value(), request, invocation.out);
  if (!request.page.empty()) {
    const std::string page = fleet::fleet_page(answer.value(), request.asked);
    if (const std::optional<Error> error = write_file(request.page, page, true)) {
      return trouble(invocation, error->message);
    }
  }
  return exit_code_of(answer.value());
}

int run_fleet(const Invocation& invocation) {
  Result<FleetRequest> request = fleet_request(invocation);
  if (!request) return misused(invocation, request.error());
  if (!request.value().job.empty()) return judge_job_of_fleet(invocation, request.value());
  if (request.value().every_s) return serve_fleet(invocation, request.value());
  return judge_once(invocation, request.value());
}

std::vector<Example> fleet_examples() {
  return {
      {"which containers of a cluster leak?", "plateau fleet --url http://prometheus:9090"},
      {"only one namespace, the last day",
       "plateau fleet --match 'namespace=\"shop\"' --window 24h"},
      {"programs that export their own metrics, on VictoriaMetrics",
       "plateau fleet --url http://victoria:8428 --preset process"},
      {"a metric of your own, by two labels",
       "plateau fleet --query 'heap_bytes{env=\"prod\"}' --group-by service,zone"},
      {"Mimir, with a token from a file",
       "plateau fleet --url https://mimir/prometheus --tenant a --bearer-file token"},
      {"all ranks of one training job", "plateau fleet --url http://prometheus:9090 --job 4711"},
      {"for a program", "plateau fleet --url http://prom:9090 --json | jq -r .workload"},
      {"as a service, for scraping and alerts",
       "plateau fleet --url http://prometheus:9090 --every 10m"},
  };
}

}  // namespace

Verb fleet_verb() {
  Verb verb;
  verb.name = "fleet";
  verb.summary = "find the workloads of a fleet that leak, from a Prometheus-compatible database";
  verb.description = {
      "Reads raw memory samples of every container, process or machine in the database, judges "
      "each, and reports workloads: how many of their pods grow, how fast, when the first one "
      "will be out of memory, and since which version.",
      "With thousands of series, some raise a false alarm even if each is judged well. So the "
      "list is cut such that at most --fdr of it is expected to be false.",
      "Memory that rises with the day's traffic is not a leak. A climb of less than half a day is "
      "therefore compared with the same hours of the day or week before, or with the CPU time "
      "used; if the database has none of these, it stays undecided.",
      "Secrets are read from files or the environment, never from the command line. docs/fleet.md "
      "shows how to set up alerts in ten minutes."};
  verb.options = fleet_options();
  verb.examples = fleet_examples();
  verb.exits = {{"0", "nothing found"},
                {"1", "at least one leak"},
                {"2", "wrong usage, or the database cannot be queried"},
                {"3", "no leak, but undecided workloads, or part of the fleet could not be read"}};
  verb.run = run_fleet;
  return verb;
}

}  // namespace plateau
