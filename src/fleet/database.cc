// SPDX-License-Identifier: Apache-2.0
#include "fleet/database.h"

#include <fmt/format.h>

#include <memory>

#include "base/text.h"

namespace plateau::fleet {
namespace {

constexpr double kConnectS = 10;

// To the millisecond, which is what databases store.
std::string time_text(double unix_s) {
  return fmt::format("{:.3f}", unix_s);
}

// Libraries below name what happened; of those, only an answer that is too long or too slow becomes
// better when less is asked for.
Failure failure_of(const Error& error) {
  if (error.kind == Error::Kind::bad_input) return Failure::too_much;
  if (error.kind == Error::Kind::usage) return Failure::refused;
  const bool slow = find_ignoring_case(error.message, "timed out") != std::string_view::npos ||
                    find_ignoring_case(error.message, "timeout") != std::string_view::npos;
  return slow ? Failure::too_much : Failure::unreachable;
}

std::string advice_for(int status) {
  if (status == 401 || status == 403) {
    return "; give a token by --bearer-file, or a user by --basic-file";
  }
  if (status == 404) return "; --url must name the API's root, such as http://HOST:9090";
  return "";
}

}  // namespace

Failure failure_of(int status) {
  if (status >= 200 && status < 300) return Failure::none;
  switch (status) {
    case 413:
    case 422:
    case 504:
      return Failure::too_much;
    case 408:
    case 429:
    case 503:
      return Failure::busy;
    case 500:
    case 502:
      return Failure::unreachable;
    default:
      return Failure::refused;
  }
}

std::string form_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string form;
  for (const auto& [name, value] : fields) {
    if (!form.empty()) form += '&';
    form += name + '=';
    for (const char c : value) {
      const bool plain =
          is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
      form += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return form;
}

Result<Ask> ask_over_http(const Access& access) {
  if (const Result<void> fine = check_url(access.url); !fine) return fine.error();
  for (const std::string& header : access.headers) {
    if (const Result<void> fine = check_header(header); !fine) return fine.error();
  }
  Result<HttpClient> client = HttpClient::open();
  if (!client) return client.error();
  auto shared = std::make_shared<HttpClient>(std::move(client.value()));
  std::string root = access.url;
  while (root.ends_with('/')) root.pop_back();
  return Ask([shared, access, root](const std::string& path, const std::string& form) {
    return shared->post({.url = root + path,
                         .headers = access.headers,
                         .body = form,
                         .content_type = "application/x-www-form-urlencoded",
                         .connect_s = kConnectS,
                         .total_s = access.timeout_s,
                         .most_bytes = access.most_bytes,
                         .certificate_file = access.certificate_file,
                         .key_file = access.key_file,
                         .authority_file = access.authority_file});
  });
}

Reply Database::series(const std::string& selector, double begin_s, double end_s) {
  return ask("/api/v1/series",
             {{"match[]", selector}, {"start", time_text(begin_s)}, {"end", time_text(end_s)}});
}

Reply Database::query(const std::string& expression, double at_s) {
  return ask("/api/v1/query", {{"query", expression}, {"time", time_text(at_s)}});
}

Reply Database::query_range(const std::string& expression, double begin_s, double end_s,
                            double step_s) {
  return ask("/api/v1/query_range", {{"query", expression},
                                     {"start", time_text(begin_s)},
                                     {"end", time_text(end_s)},
                                     {"step", time_text(step_s)}});
}

Reply Database::ask(const std::string& path,
                    const std::vector<std::pair<std::string, std::string>>& fields) {
  const Result<HttpAnswer> answered = ask_(path, form_of(fields));
  if (!answered) return {failure_of(answered.error()), answered.error().message, {}};
  const HttpAnswer& answer = answered.value();
  if (const Failure failure = failure_of(answer.status); failure != Failure::none) {
    return {failure,
            fmt::format("the database answers {} with status {}: {}{}", path, answer.status,
                        refusal_text(answer.body), advice_for(answer.status)),
            {}};
  }
  Result<QueryAnswer> read = read_answer(answer.body);
  if (!read) {
    return {Failure::garbled,
            fmt::format("the database answers {} with {}", path, read.error().message),
            {}};
  }
  return {Failure::none, "", std::move(read.value())};
}

}  // namespace plateau::fleet
