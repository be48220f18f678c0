// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "cli/credentials.h"
#include "cli/shared_options.h"
#include "import/timestamp.h"

namespace plateau {
namespace {

constexpr double kShortestWindowS = 600;
constexpr double kShortestRoundS = 10;

Options database_options() {
  const Options where = {
      option("url", Takes::text, "URL",
             "Root of a Prometheus-compatible API: Prometheus, VictoriaMetrics, Thanos, Mimir "
             "(default: PLATEAU_FLEET_URL).")};
  const Options patience = {
      option("timeout", Takes::seconds, "T", "Give up on a single query after T (default 2m).")};
  return grouped("Database", together({where, credential_options("", "PLATEAU_FLEET"), patience}));
}

Options question_options() {
  std::vector<std::string> names = {"cadvisor"};
  std::string table;
  for (const fleet::Preset& preset : fleet::presets()) {
    names.emplace_back(preset.name);
    table += fmt::format("{}{}: {}", table.empty() ? "" : "; ", preset.name, preset.about);
  }
  return grouped(
      "What",
      {choice("preset", "NAME", names,
              "Which metrics to read (default kubernetes, also called cadvisor). " + table + "."),
       option("query", Takes::text, "SELECTOR",
              "Judge these series instead, in bytes: 'my_heap_bytes{job=\"api\"}'."),
       option("match", Takes::text, "MATCHERS",
              "Only series with these labels: 'namespace=\"shop\"'."),
       option("group-by", Takes::text, "LABELS",
              "Labels that identify a workload, separated by commas (default: by the preset)."),
       option("job", Takes::text, "ID",
              "One verdict on all ranks of this job instead, from what 'plateau run --push' sent "
              "under "
              "the label plateau_job."),
       option("window", Takes::seconds, "T", "How far to look back (default 6h)."),
       option("at", Takes::text, "TIME",
              "Judge as of TIME: seconds since 1970, or 2025-11-08T13:18:25 (UTC).")});
}

Options answer_options() {
  return grouped("Answer",
                 {option("fdr", Takes::real, "SHARE",
                         "Expected share of false findings, at most (default 0.1)."),
                  flag("json", "Print one JSON object per line for each finding, then a summary."),
                  option("html", Takes::file, "FILE", "Also write a page to FILE.")});
}

Options service_options() {
  return grouped(
      "Service",
      {option("every", Takes::seconds, "T", "Keep running, with one round every T."),
       option("listen", Takes::text, "ADDR:PORT",
              "With --every: serve the page at /, the findings at /api/fleet and metrics at "
              "/metrics (default 127.0.0.1:7529).")});
}

Result<fleet::Access> access_of(const Arguments& arguments) {
  fleet::Access access;
  const char* variable = std::getenv("PLATEAU_FLEET_URL");
  const std::string given = arguments.text("url").value_or(variable == nullptr ? "" : variable);
  if (given.empty()) {
    return usage_error("where is the database? Give --url, such as --url http://127.0.0.1:9090");
  }
  const Result<std::string> url = address_without_secret(given, "--url", "");
  if (!url) return url.error();
  access.url = url.value();
  if (const auto timeout = arguments.seconds("timeout")) access.timeout_s = *timeout;
  const Result<DatabaseCredentials> credentials = credentials_of(arguments, "", "PLATEAU_FLEET");
  if (!credentials) return credentials.error();
  access.headers = credentials.value().headers;
  access.certificate_file = credentials.value().certificate_file;
  access.key_file = credentials.value().key_file;
  access.authority_file = credentials.value().authority_file;
  return access;
}

std::optional<Error> ask_question(const Arguments& arguments, FleetRequest& request) {
  fleet::Question& question = request.round.question;
  const Result<fleet::Preset> preset =
      fleet::preset_named(arguments.text("preset").value_or("kubernetes"));
  if (!preset) return preset.error();
  question.preset = preset.value();
  question.metric = preset.value().metric;
  request.asked.what = preset.value().name;
  request.asked.member = preset.value().name == "kubernetes" ? "pod" : "member";
  if (const auto query = arguments.text("query")) {
    if (arguments.has("preset")) return usage_error("--query stands instead of --preset");
    const Result<fleet::Selector> selector = fleet::parse_selector(*query);
    if (!selector) return selector.error();
    question.preset = {.name = "query", .about = "", .metric = "", .matchers = ""};
    question.metric = selector.value().metric;
    question.matchers = selector.value().matchers;
    request.asked.what = *query;
  }
  if (const auto match = arguments.text("match")) {
    if (!question.matchers.empty()) question.matchers += ',';
    std::string_view inside = trim(*match);
    if (inside.starts_with('{') && inside.ends_with('}')) {
      inside = inside.substr(1, inside.size() - 2);
    }
    question.matchers += inside;
  }
  std::string labels = arguments.text("group-by").value_or("");
  std::string_view rest = labels;
  while (!rest.empty()) {
    const std::string_view label = trim(take_part(rest, ','));
    if (!label.empty()) question.group_by.emplace_back(label);
  }
  if (const auto window = arguments.seconds("window")) {
    if (*window < kShortestWindowS) return usage_error("--window must be 10m or more");
    question.window_s = *window;
  }
  return std::nullopt;
}

Result<double> moment_of(const std::string& text) {
  if (const std::optional<double> seconds = parse_double(text); seconds && *seconds > 0) {
    return *seconds;
  }
  const std::optional<Stamp> stamp = parse_stamp(text);
  if (stamp && stamp->kind == Stamp::Kind::epoch) return stamp->seconds;
  return usage_error(
      fmt::format("--at '{}' is no moment; give seconds since 1970 or 2025-11-08T13:18:25", text));
}

}  // namespace

Options fleet_options() {
  return together({database_options(), question_options(), answer_options(), service_options(),
                   look_options("Print the summary line and nothing else.")});
}

Result<FleetRequest> fleet_request(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  FleetRequest request;
  Result<fleet::Access> access = access_of(arguments);
  if (!access) return access.error();
  request.access = std::move(access.value());
  request.asked.origin = origin_of(request.access.url);
  if (std::optional<Error> error = ask_question(arguments, request)) return *error;
  if (const auto at = arguments.text("at")) {
    const Result<double> moment = moment_of(*at);
    if (!moment) return moment.error();
    request.at_s = moment.value();
  }
  if (const auto share = arguments.number("fdr")) {
    if (*share <= 0 || *share >= 1) return usage_error("--fdr is a share between 0 and 1");
    request.round.most_false = *share;
  }
  request.job = arguments.text("job").value_or("");
  if (arguments.has("job")) {
    if (request.job.empty()) return usage_error("--job takes the id of a job");
    for (const char* other : {"preset", "query", "match", "group-by", "fdr", "every"}) {
      if (arguments.has(other)) {
        return usage_error(fmt::format("--job and --{} exclude each other", other));
      }
    }
  }
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.page = arguments.text("html").value_or("");
  request.every_s = arguments.seconds("every");
  if (request.every_s && *request.every_s < kShortestRoundS) {
    return usage_error("--every must be 10s or more");
  }
  request.listen = arguments.text("listen").value_or("");
  if (!request.listen.empty() && !request.every_s) {
    return usage_error("--listen serves what --every T finds; give both");
  }
  request.view = view_of(arguments, STDOUT_FILENO);
  return request;
}

}  // namespace plateau
