// SPDX-License-Identifier: Apache-2.0
#include "cli/push_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "base/units.h"
#include "cli/credentials.h"

namespace plateau {
namespace {

constexpr double kShortestEveryS = 0.1;
constexpr double kDefaultSpoolMb = 64;
constexpr double kSmallestSpoolMb = 1;
constexpr double kLongestFarewellS = 600;
// What tells one figure of a job from another cannot be the same for all.
constexpr auto kOurLabels = std::to_array<std::string_view>(
    {"run", "component", "role", "plateau_verdict", "file", "clock"});
constexpr std::string_view kWritePath = "/api/v1/write";
constexpr std::string_view kOtlpPath = "/v1/metrics";

// Where it survives a job and a restart of the machine.
std::string default_spool() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return fmt::format("{}/plateau/push", state);
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/' && home[1] != 0) {
    return fmt::format("{}/.local/state/plateau/push", home);
  }
  return geteuid() == 0 ? "/var/lib/plateau/push" : "";
}

// An address without a path is that of the database, which takes writes at a path of its own.
std::string with_path(std::string url, push::Format format) {
  while (url.ends_with('/')) url.pop_back();
  const bool bare = url.find('/', url.find("://") + 3) == std::string::npos;
  return bare && url.find('?') == std::string::npos
             ? fmt::format("{}{}", url, format == push::Format::otlp ? kOtlpPath : kWritePath)
             : url;
}

Result<push::LabelList> labels_of(const std::string& text) {
  push::LabelList labels;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view value = trim(take_part(rest, ','));
    if (value.empty()) continue;
    const bool has_value = value.find('=') != std::string_view::npos;
    const std::string name(trim(take_part(value, '=')));
    const bool ours = std::ranges::find(kOurLabels, name) != kOurLabels.end();
    if (!has_value || !push::is_label_name(name) || ours) {
      return usage_error(fmt::format(
          "--push-labels takes NAME=VALUE with commas between, such as cluster=a,team=vision{}",
          ours ? fmt::format("; '{}' is taken", name) : ""));
    }
    if (std::ranges::any_of(labels, [&](const auto& label) { return label.first == name; })) {
      return usage_error(fmt::format("--push-labels: '{}' stands twice", name));
    }
    if (!trim(value).empty()) labels.emplace_back(name, trim(value));
  }
  return labels;
}

std::optional<Error> take_address(const Arguments& arguments, push::CourierOptions& courier) {
  const Result<std::string> url =
      address_without_secret(*arguments.text("push"), "--push", "push-");
  if (!url) return usage_error("--push: " + url.error().message);
  if (arguments.text("push-format") == "otlp") courier.format = push::Format::otlp;
  courier.url = with_path(url.value(), courier.format);
  const Result<DatabaseCredentials> credentials =
      credentials_of(arguments, "push-", "PLATEAU_PUSH");
  if (!credentials) return credentials.error();
  courier.identity.headers = credentials.value().headers;
  courier.identity.certificate_file = credentials.value().certificate_file;
  courier.identity.key_file = credentials.value().key_file;
  courier.identity.authority_file = credentials.value().authority_file;
  const std::string spool = arguments.text("push-spool").value_or(default_spool());
  if (spool.empty()) {
    return usage_error("there is no home directory to spool in; say where with --push-spool DIR");
  }
  // What waits in one form cannot be sent in the other.
  const std::string form = courier.format == push::Format::otlp ? "\notlp" : "";
  courier.spool =
      fmt::format("{}/{}", spool, push::spool_name(courier.url, credentials.value().tenant + form));
  const double most_mb = arguments.memory_mb("push-spool-size").value_or(kDefaultSpoolMb);
  if (most_mb < kSmallestSpoolMb) return usage_error("--push-spool-size takes at least 1MB");
  courier.spool_bytes = static_cast<uint64_t>(most_mb * kBytesPerMb);
  courier.farewell_s = arguments.seconds("push-farewell").value_or(courier.farewell_s);
  if (courier.farewell_s > kLongestFarewellS) return usage_error("--push-farewell takes up to 10m");
  return std::nullopt;
}

// Before the job starts: later there is nobody to tell.
std::optional<Error> check_textfile(const std::string& path) {
  if (!path.ends_with(".prom")) {
    return usage_error("--textfile takes a file that ends in .prom: the collector reads no other");
  }
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string directory = parent.empty() ? "." : parent;
  if (access(directory.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return usage_error(fmt::format("--textfile: cannot write in {}: {}", directory, strerror(errno)));
}

}  // namespace

Options push_options() {
  const Options own = {
      option("push", Takes::text, "URL",
             "Send memory and verdict to a Prometheus-compatible database by remote write while "
             "the job runs: http://HOST:9090, or with the path for writes. Samples that cannot be "
             "delivered are kept on disk and sent later."),
      choice("push-format", "FORM", {"remote-write", "otlp"},
             "Protocol: remote-write (default), or otlp, OpenTelemetry's protocol as JSON over "
             "HTTP, for a collector: http://HOST:4318."),
      option("push-every", Takes::seconds, "T", "Send samples every T (default 15s)."),
      option("push-labels", Takes::text, "LIST",
             "Add these labels to every sample: cluster=a,team=vision."),
      option("push-spool", Takes::file, "DIR",
             "Keep samples that wait to be sent in DIR (default: ~/.local/state/plateau/push)."),
      option("push-spool-size", Takes::memory, "SIZE",
             "Largest size of DIR; beyond it the oldest samples are dropped (default 64MB)."),
      option("push-farewell", Takes::seconds, "T",
             "After the job has ended, keep sending for at most T (default 10s); the rest is "
             "sent by the next push to URL.")};
  const Options textfile = {
      option("textfile", Takes::file, "FILE",
             "Also write the metrics to FILE, such as DIR/NAME.prom, for node-exporter's textfile "
             "collector.")};
  return grouped("Pushing", together({own, credential_options("push-", "PLATEAU_PUSH"), textfile}));
}

Result<PushRequest> push_request(const Arguments& arguments) {
  PushRequest request;
  if (arguments.has("push")) {
    if (std::optional<Error> error = take_address(arguments, request.courier)) return *error;
  } else {
    for (const Option& row : push_options()) {
      const bool for_both = row.name == "push-every" || row.name == "push-labels";
      if (for_both && arguments.has("textfile")) continue;
      if (row.name.starts_with("push-") && arguments.has(row.name)) {
        return usage_error(fmt::format("--{} goes with --push", row.name));
      }
    }
  }
  request.courier.textfile = arguments.text("textfile").value_or("");
  if (arguments.has("textfile")) {
    if (std::optional<Error> error = check_textfile(request.courier.textfile)) return *error;
  }
  request.every_s = arguments.seconds("push-every").value_or(request.every_s);
  if (request.every_s < kShortestEveryS) return usage_error("--push-every takes at least 0.1s");
  const Result<push::LabelList> labels = labels_of(arguments.text("push-labels").value_or(""));
  if (!labels) return labels.error();
  request.labels = labels.value();
  return request;
}

}  // namespace plateau
