// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_job.h"

#include <fmt/format.h>

#include "answer/job_answer.h"
#include "answer/job_run.h"
#include "base/clock.h"
#include "cli/exit_code.h"
#include "cli/write_file.h"
#include "fleet/job_round.h"
#include "page/page_data.h"
#include "page/page_file.h"
#include "report/json.h"
#include "report/terminal.h"

namespace plateau {
namespace {

std::string page_of(const Run& job, Answer answer) {
  KnownMoments none;
  add_detail(job, {}, none, answer);
  const std::string text = render_verdict(answer.verdict, View{});
  const std::string title =
      fmt::format("{}: {} · Plateau", job.source, word_name(answer.verdict.word));
  return report_page(title, page_data_json({&job, 1}, {&answer, 1}), text);
}

}  // namespace

int judge_job_of_fleet(const Invocation& invocation, const FleetRequest& request) {
  Result<fleet::Ask> ask = fleet::ask_over_http(request.access);
  if (!ask) return trouble(invocation, ask.error().message);
  fleet::Database database(std::move(ask.value()));
  Result<std::vector<Run>> runs =
      fleet::runs_of_job(database, {.job = request.job,
                                    .end_s = request.at_s.value_or(unix_now_s()),
                                    .window_s = request.round.question.window_s});
  if (!runs) return trouble(invocation, runs.error().message);
  number_ranks(runs.value());
  const Result<Run> job = job_run(runs.value());
  if (!job) return trouble(invocation, job.error().message);
  const Answer answer = answer_job(job.value(), runs.value());
  const Verdict& verdict = answer.verdict;
  Output& out = invocation.out;
  if (request.json) {
    out.print(verdict_json(verdict) + "\n");
  } else if (request.quiet) {
    out.print(render_line(verdict, request.view));
  } else {
    out.print(render_verdict(verdict, request.view));
  }
  if (!request.page.empty()) {
    if (const std::optional<Error> error =
            write_file(request.page, page_of(job.value(), answer), true)) {
      return trouble(invocation, error->message);
    }
  }
  return exit_code_for(verdict, {});
}

}  // namespace plateau
