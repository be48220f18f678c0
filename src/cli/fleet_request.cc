// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_request.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "cli/shared_options.h"
#include "import/timestamp.h"
#include "page/pack.h"

namespace plateau {
namespace {

constexpr size_t kMostSecret = 64UL * 1024;
constexpr double kShortestWindowS = 600;
constexpr double kShortestRoundS = 10;

Options database_options() {
  return grouped(
      "Database",
      {option("url", Takes::text, "URL",
              "Root of a Prometheus-compatible API: Prometheus, VictoriaMetrics, Thanos, Mimir "
              "(default: PLATEAU_FLEET_URL)."),
       option("bearer-file", Takes::file, "FILE",
              "Send the token in FILE (default: the one in PLATEAU_FLEET_BEARER)."),
       option("basic-file", Takes::file, "FILE",
              "Send user:password from FILE (default: PLATEAU_FLEET_BASIC)."),
       option("header-file", Takes::file, "FILE", "Send the headers in FILE, one a line."),
       option("tenant", Takes::text, "NAME", "Send X-Scope-OrgID, as Mimir and Loki want it."),
       option("cert-file", Takes::file, "FILE", "Client certificate (PEM)."),
       option("key-file", Takes::file, "FILE", "Its key."),
       option("ca-file", Takes::file, "FILE", "Whom to trust instead of the system's store."),
       option("timeout", Takes::seconds, "T", "Give up on one question after T (default 2m).")});
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
              "Whose metrics (default kubernetes, also called cadvisor). " + table + "."),
       option("query", Takes::text, "SELECTOR",
              "Judge these series instead, in bytes: 'my_heap_bytes{job=\"api\"}'."),
       option("match", Takes::text, "MATCHERS",
              "Only series with these labels: 'namespace=\"shop\"'."),
       option("group-by", Takes::text, "LABELS",
              "What makes a workload, as labels with commas between (default: by the preset)."),
       option("job", Takes::text, "ID",
              "One verdict on all ranks of this job instead, from what 'plateau run --push' sent "
              "under "
              "the label plateau_job."),
       option("window", Takes::seconds, "T", "Look back so far (default 6h)."),
       option("at", Takes::text, "TIME",
              "As if it were TIME: seconds since 1970, or 2025-11-08T13:18:25 (UTC).")});
}

Options answer_options() {
  return grouped(
      "Answer", {option("fdr", Takes::real, "SHARE",
                        "Let at most this share of the findings be false (default 0.1)."),
                 flag("json", "Print one JSON object a line for each finding, and last a summary."),
                 option("html", Takes::file, "FILE", "Also write a page to FILE.")});
}

Options service_options() {
  return grouped(
      "Service",
      {option("every", Takes::seconds, "T", "Go on, with a round every T."),
       option("listen", Takes::text, "ADDR:PORT",
              "With --every: serve the page at /, the findings at /api/fleet and metrics at "
              "/metrics (default 127.0.0.1:7529).")});
}

// The whole of a secret's file without the line end that editors add.
Result<std::string> secret_of(const std::string& file) {
  int error = 0;
  const std::string text = read_file_at(AT_FDCWD, file, error, kMostSecret);
  if (error != 0) return usage_error(fmt::format("{}: {}", file, strerror(error)));
  const std::string secret(trim(text));
  if (secret.empty()) return usage_error(file + " is empty");
  return secret;
}

// From the file that the option names, or from the environment; "" if there is neither.
Result<std::string> secret_from(const Arguments& arguments, std::string_view option,
                                const char* variable) {
  if (const std::optional<std::string> file = arguments.text(option)) return secret_of(*file);
  const char* value = std::getenv(variable);
  return std::string(value == nullptr ? "" : trim(value));
}

std::optional<Error> add_credentials(const Arguments& arguments, fleet::Access& access) {
  const Result<std::string> bearer = secret_from(arguments, "bearer-file", "PLATEAU_FLEET_BEARER");
  if (!bearer) return bearer.error();
  const Result<std::string> basic = secret_from(arguments, "basic-file", "PLATEAU_FLEET_BASIC");
  if (!basic) return basic.error();
  if (!bearer.value().empty()) {
    access.headers.push_back("Authorization: Bearer " + bearer.value());
  } else if (!basic.value().empty()) {
    access.headers.push_back("Authorization: Basic " + base64_of(basic.value()));
  }
  if (const auto tenant = arguments.text("tenant")) {
    access.headers.push_back("X-Scope-OrgID: " + *tenant);
  }
  if (const auto file = arguments.text("header-file")) {
    const Result<std::string> lines = secret_of(*file);
    if (!lines) return lines.error();
    std::string_view rest = lines.value();
    while (!rest.empty()) {
      const std::string_view line = trim(take_part(rest, '\n'));
      if (!line.empty()) access.headers.emplace_back(line);
    }
  }
  for (const std::string& header : access.headers) {
    if (!check_header(header)) return usage_error("a header or secret is not one printable line");
  }
  access.certificate_file = arguments.text("cert-file").value_or("");
  access.key_file = arguments.text("key-file").value_or("");
  access.authority_file = arguments.text("ca-file").value_or("");
  return std::nullopt;
}

Result<fleet::Access> access_of(const Arguments& arguments) {
  fleet::Access access;
  const char* variable = std::getenv("PLATEAU_FLEET_URL");
  access.url = arguments.text("url").value_or(variable == nullptr ? "" : variable);
  if (access.url.empty()) {
    return usage_error("where is the database? Give --url, such as --url http://127.0.0.1:9090");
  }
  if (access.url.find("://") == std::string::npos) access.url.insert(0, "http://");
  if (const Result<void> fine = check_url(access.url); !fine) return fine.error();
  const size_t host = access.url.find("://") + 3;
  if (access.url.substr(host, access.url.find('/', host) - host).find('@') != std::string::npos) {
    return usage_error(
        "a password in --url is visible to everybody on this machine; put user:password into a "
        "file and give --basic-file");
  }
  if (const auto timeout = arguments.seconds("timeout")) access.timeout_s = *timeout;
  if (std::optional<Error> error = add_credentials(arguments, access)) return *error;
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
