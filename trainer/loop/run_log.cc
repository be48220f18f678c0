// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/json_writer.h"
#include "trainer/loop/durable.h"

namespace plateau::train {
namespace {

Error log_failed(const std::filesystem::path& path, int code) {
  return {.kind = Error::Kind::not_found,
          .message = fmt::format("cannot write {}: {}", path.string(), std::strerror(code))};
}

}  // namespace

size_t kept_log_bytes(std::string_view log, int64_t step) {
  simdjson::dom::parser parser;
  size_t kept = 0;
  while (kept < log.size()) {
    const size_t end = log.find('\n', kept);
    if (end == std::string_view::npos) break;
    int64_t at = 0;
    if (parser.parse(log.data() + kept, end - kept)["step"].get_int64().get(at) !=
            simdjson::SUCCESS ||
        at > step) {
      break;
    }
    kept = end + 1;
  }
  return kept;
}

RunLog::RunLog(std::filesystem::path path, Fd file)
    : path_(std::move(path)), file_(std::move(file)) {}

Result<RunLog> RunLog::open(const std::filesystem::path& output_directory, int64_t resumed_at) {
  std::error_code code;
  std::filesystem::create_directories(output_directory, code);
  std::filesystem::path path = output_directory / "log.jsonl";
  if (code) return log_failed(path, code.value());
  size_t kept = 0;
  if (resumed_at >= 0) {
    if (const auto text = read_whole(path); text.ok()) {
      kept = kept_log_bytes(text.value(), resumed_at);
    }
  }
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return log_failed(path, errno);
  if (::ftruncate(file.get(), static_cast<off_t>(kept)) != 0) return log_failed(path, errno);
  return RunLog(std::move(path), std::move(file));
}

Result<std::monostate> RunLog::append(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return log_failed(path_, errno);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  return std::monostate{};
}

Result<std::monostate> RunLog::add(const StepReport& report) {
  JsonWriter json;
  json.begin_object().key("step").value(report.step).key("epoch").value(report.epoch);
  json.key("loss").value(report.loss).key("learning_rate").value(report.learning_rate);
  json.key("grad_norm").value(report.grad_norm).key("tokens").value(report.tokens);
  json.key("seconds").value(report.seconds).key("resident_bytes").value(report.resident_bytes);
  json.key("tensor_bytes").value(report.tensor_bytes);
  json.key("tensor_storages").value(report.tensor_storages);
  json.key("tensor_peak_bytes").value(report.tensor_peak_bytes).end_object();
  return append(json.take());
}

Result<std::monostate> RunLog::add(const EvalReport& report) {
  JsonWriter json;
  json.begin_object().key("step").value(report.step).key("eval_loss").value(report.loss);
  for (const auto& [name, value] : measures_of(report)) json.key("eval_" + name).value(value);
  if (report.answers) {
    json.key("answers").value(report.answers->asked);
    json.key("fields").value(report.answers->fields);
    json.key("fields_extra").value(report.answers->fields_extra);
  }
  json.key("seconds").value(report.seconds).key("best").value(report.is_best).end_object();
  return append(json.take());
}

Result<std::monostate> RunLog::add_checkpoint(int64_t step,
                                              const std::filesystem::path& directory) {
  JsonWriter json;
  json.begin_object().key("step").value(step);
  json.key("checkpoint").value(directory.filename().string()).end_object();
  return append(json.take());
}

}  // namespace plateau::train
