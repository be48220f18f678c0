// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/compression.h"
#include "base/json_writer.h"
#include "page/page_file.h"
#include "serve/gzip.h"

namespace plateau {
namespace {

// How long one request may spend on reading files that changed.
constexpr double kListBudgetS = 0.3;
constexpr double kMetricsBudgetS = 2;
constexpr size_t kWorthPacking = 1024;
constexpr const char* kNothingAllowed = "default-src 'none'; frame-ancestors 'none'";

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// A run that is not there, or one that cannot be read.
HttpReply run_trouble(const Error& error) {
  return error_reply(error.kind == Error::Kind::not_found ? 404 : 422, error.message);
}

void put_body(HttpReply& reply, std::string text, std::string_view accept_encoding) {
  if (text.size() >= kWorthPacking && accepts_gzip(accept_encoding)) {
    if (std::string packed = gzipped(text, kLivePageLevel); !packed.empty()) {
      reply.headers.emplace_back("Content-Encoding", "gzip");
      reply.headers.emplace_back("Vary", "Accept-Encoding");
      text = std::move(packed);
    }
  }
  reply.body = shared(std::move(text));
}

// What holds for every answer: kept nowhere, taken for nothing else, framed by nobody.
void add_common_headers(HttpReply& reply) {
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  for (const auto& [name, value] : reply.headers) {
    if (name == "Content-Security-Policy") return;
  }
  reply.headers.emplace_back("Content-Security-Policy", kNothingAllowed);
}

}  // namespace

HttpReply error_reply(unsigned status, std::string_view message) {
  HttpReply reply;
  reply.status = status;
  reply.body = shared(JsonWriter().begin_object().key("error").value(message).end_object().take());
  return reply;
}

std::string policy_of_page(std::string_view html) {
  constexpr std::string_view kStart = "http-equiv=\"Content-Security-Policy\" content=\"";
  const size_t at = html.find(kStart);
  if (at == std::string_view::npos) return kNothingAllowed;
  const std::string_view rest = html.substr(at + kStart.size());
  const std::string_view policy = rest.substr(0, rest.find('"'));
  return fmt::format("{}; frame-ancestors 'none'", policy);
}

Routes::Routes(Shelf& shelf, AccessRules rules, std::string cookie)
    : shelf_(shelf),
      rules_(std::move(rules)),
      cookie_(std::move(cookie)),
      live_page_(shared(live_page())),
      page_policy_(policy_of_page(*live_page_)) {}

HttpReply Routes::answer(const HttpRequest& request, const ServerFigures& figures) {
  HttpReply reply;
  if (request.method != "GET" && request.method != "HEAD") {
    reply = error_reply(405, "this server only shows: GET and HEAD");
    reply.headers.emplace_back("Allow", "GET, HEAD");
  } else if (request.path == "/healthz") {
    reply.content_type = "text/plain; charset=utf-8";
    reply.body = shared("ok\n");
  } else {
    reply = admitted(request, figures);
  }
  add_common_headers(reply);
  return reply;
}

HttpReply Routes::admitted(const HttpRequest& request, const ServerFigures& figures) {
  const Admission admission = admit(rules_, request.credentials);
  if (admission == Admission::wrong_host) {
    return error_reply(403, "ask for this server by 127.0.0.1, [::1] or localhost");
  }
  if (admission == Admission::no_token) {
    HttpReply reply =
        error_reply(401,
                    "a token is needed: open the address that plateau printed, or send the header "
                    "'Authorization: Bearer TOKEN'");
    reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"plateau\"");
    return reply;
  }
  HttpReply reply = request.path == "/"              ? start_page()
                    : request.path == "/api/runs"    ? run_list()
                    : request.path == "/api/page"    ? page(request)
                    : request.path == "/api/compare" ? comparison(request)
                    : request.path == "/api/verdict" ? verdict(request)
                    : request.path == "/events"      ? events(request)
                    : request.path == "/metrics"     ? metrics(request, figures)
                                                     : error_reply(404, "there is no such page");
  if (admission == Admission::welcome_by_query) {
    reply.headers.emplace_back("Set-Cookie", fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict",
                                                         cookie_, rules_.token));
  }
  return reply;
}

HttpReply Routes::start_page() const {
  HttpReply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back("Content-Security-Policy", page_policy_);
  reply.body = live_page_;
  return reply;
}

HttpReply Routes::run_list() {
  shelf_.look(kListBudgetS);
  std::string list = R"({"runs":[)";
  const char* separator = "";
  for (const RunFacts* run : shelf_.runs()) {
    list += separator + run_summary_json(*run, false);
    separator = ",";
  }
  HttpReply reply;
  reply.body = shared(list + "]}");
  return reply;
}

HttpReply Routes::comparison(const HttpRequest& request) {
  shelf_.look_at("");
  const size_t comma = std::min(request.run.find(','), request.run.size());
  const std::string before(request.run.substr(0, comma));
  const std::string after(request.run.substr(std::min(comma + 1, request.run.size())));
  const Result<std::string> page = shelf_.comparison(before, after);
  if (!page) return run_trouble(page.error());
  HttpReply reply;
  put_body(reply, page.value(), request.accept_encoding);
  return reply;
}

HttpReply Routes::page(const HttpRequest& request) {
  const Result<PageBytes> page = shelf_.page(std::string(request.run));
  if (!page) return run_trouble(page.error());
  HttpReply reply;
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  const bool packed = accepts_gzip(request.accept_encoding) && !page.value().packed->empty();
  if (packed) reply.headers.emplace_back("Content-Encoding", "gzip");
  reply.body = packed ? page.value().packed : page.value().plain;
  return reply;
}

HttpReply Routes::verdict(const HttpRequest& request) {
  const std::string id(request.run);
  shelf_.look_at(id);
  const RunFacts* run = shelf_.find(id);
  if (run == nullptr) return error_reply(404, "there is no such run");
  if (!run->verdict) return error_reply(422, run->trouble);
  HttpReply reply;
  put_body(reply, run->verdict_json + "\n", request.accept_encoding);
  return reply;
}

HttpReply Routes::events(const HttpRequest& request) {
  shelf_.look_at(std::string(request.run));
  if (!request.run.empty() && shelf_.find(request.run) == nullptr) {
    return error_reply(404, "there is no such run");
  }
  HttpReply reply;
  reply.content_type = "text/event-stream; charset=utf-8";
  reply.is_stream = request.method == "GET";
  reply.stream_run = request.run;
  reply.body = shared("");
  return reply;
}

HttpReply Routes::metrics(const HttpRequest& request, const ServerFigures& figures) {
  shelf_.look(kMetricsBudgetS);
  std::vector<const RunFacts*> known;
  for (const RunFacts* run : shelf_.runs()) {
    if (run->version > 0) known.push_back(run);
  }
  const Dialect dialect = dialect_for(request.accept);
  HttpReply reply;
  reply.content_type = content_type_of(dialect);
  put_body(reply, exposition(known, figures, dialect), request.accept_encoding);
  return reply;
}

}  // namespace plateau
