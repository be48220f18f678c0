// SPDX-License-Identifier: Apache-2.0
#include "serve/routes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/compression.h"
#include "base/json_writer.h"
#include "page/page_file.h"
#include "serve/gzip.h"

namespace plateau {
namespace {

// How long an answer waits for what is being read: hardly, where the last known state is an answer;
// longer while nothing was read yet; and for a page until it is there.
constexpr double kListWaitS = 0.05;
constexpr double kFirstWaitS = 2;
constexpr double kRunWaitS = 5;
constexpr double kPageWaitS = 15;
constexpr double kGuessWaitS = 1;
constexpr double kFreshS = 0.6;  // A little more than the server's tick.
constexpr double kMetricsKeptS = 0.5;
constexpr size_t kWorthPacking = 1024;
constexpr const char* kNothingAllowed = "default-src 'none'; frame-ancestors 'none'";

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

// A run that is not there, or one that cannot be read.
HttpReply run_trouble(const Error& error) {
  return error_reply(error.kind == Error::Kind::not_found ? 404 : 422, error.message);
}

// "a,b": the baseline and what is compared with it.
std::pair<std::string_view, std::string_view> two_ids(std::string_view run) {
  const size_t comma = std::min(run.find(','), run.size());
  return {run.substr(0, comma), run.substr(std::min(comma + 1, run.size()))};
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

bool brings_token(const Credentials& credentials) {
  return bearer_token(credentials.authorization) || !credentials.query_token.empty() ||
         !credentials.cookie_token.empty();
}

// Why there is nothing to show of a run: its file cannot be read, or was not read yet.
HttpReply not_yet(const RunFacts& facts) {
  if (facts.version > 0 && !facts.verdict) return error_reply(422, facts.trouble);
  HttpReply reply = error_reply(503, "the file is still being read; ask again in a moment");
  reply.headers.emplace_back("Retry-After", "2");
  return reply;
}

}  // namespace

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

Routes::Routes(const Reader& reader, AccessRules rules, std::string cookie)
    : reader_(reader),
      rules_(std::move(rules)),
      cookie_(std::move(cookie)),
      live_page_(shared(live_page())),
      page_policy_(policy_of_page(*live_page_)) {}

HttpReply Routes::answer(const IncomingRequest& request, const ServerFigures& figures) {
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

HttpReply Routes::admitted(const IncomingRequest& request, const ServerFigures& figures) {
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

Routes::Wait Routes::wait_for(const IncomingRequest& request, double uptime_s) const {
  if (request.method != "GET" && request.method != "HEAD") return {};
  const Admission admission = admit(rules_, request.credentials);
  if (admission == Admission::no_token && brings_token(request.credentials)) {
    return {std::nullopt, kGuessWaitS, true};
  }
  if (admission == Admission::no_token || admission == Admission::wrong_host) return {};
  const bool first = !catalogue().complete && uptime_s < kFirstWaitS;
  // What was looked at a moment ago is good enough, and who is busy for longer than we would wait
  // is not waited for.
  const bool waits = reader_.age_s() > kFreshS && reader_.busy_s() < kListWaitS;
  const double list_s = first ? kFirstWaitS : waits ? kListWaitS : 0;
  const Reader::Wish list = {.kind = Reader::Wish::Kind::list};
  if (request.path == "/api/runs" || request.path == "/metrics") return {list, list_s};
  if (request.path == "/api/compare") {
    const auto [before, after] = two_ids(request.run);
    if (before == after) return {};
    if (!are_known(before, after)) return {.wish = list, .most_s = list_s};
    return {{{Reader::Wish::Kind::comparison, std::string(request.run)}}, kPageWaitS};
  }
  const bool of_run =
      request.path == "/api/page" || request.path == "/api/verdict" || request.path == "/events";
  if (!of_run) return {};
  // A run that is not known may be new; only those that are known are asked for by name.
  const ServedRun* run = catalogue().find(request.run);
  if (run == nullptr) return {.wish = list, .most_s = list_s, .look_again = true};
  const std::string& id = run->facts.id;
  if (request.path == "/api/page") return {{{Reader::Wish::Kind::page, id}}, kPageWaitS};
  return {{{Reader::Wish::Kind::run, id}}, request.path == "/events" ? kListWaitS : kRunWaitS};
}

HttpReply Routes::run_list() {
  if (list_.of != reader_.catalogue()) {
    std::string list = R"({"runs":[)";
    const char* separator = "";
    for (const std::shared_ptr<const ServedRun>& run : catalogue().runs) {
      list += separator + run->summary;
      separator = ",";
    }
    list_ = {reader_.catalogue(), 0, {}};
    list_.reply.body = shared(list + "]}");
  }
  return list_.reply;
}

// Both by name: "" would be the newest.
bool Routes::are_known(std::string_view before, std::string_view after) const {
  const auto known = [this](std::string_view id) {
    return !id.empty() && catalogue().find(id) != nullptr;
  };
  return known(before) && known(after);
}

HttpReply Routes::comparison(const IncomingRequest& request) {
  const std::shared_ptr<const Compared>& made = catalogue().compared;
  const auto [before, after] = two_ids(request.run);
  if (before == after) return error_reply(422, "that is one run, not two");
  if (!are_known(before, after)) return error_reply(404, "there is no such run");
  if (made == nullptr || made->ids != request.run) {
    return error_reply(503, "the comparison is still being made; ask again");
  }
  if (made->trouble) return run_trouble(*made->trouble);
  HttpReply reply;
  put_body(reply, made->document, request.accept_encoding);
  return reply;
}

HttpReply Routes::page(const IncomingRequest& request) {
  const ServedRun* run = catalogue().find(request.run);
  if (run == nullptr) return error_reply(404, "there is no such run");
  if (run->page.plain == nullptr) return not_yet(run->facts);
  HttpReply reply;
  reply.headers.emplace_back("Vary", "Accept-Encoding");
  const bool packed = accepts_gzip(request.accept_encoding) && !run->page.packed->empty();
  if (packed) reply.headers.emplace_back("Content-Encoding", "gzip");
  reply.body = packed ? run->page.packed : run->page.plain;
  return reply;
}

HttpReply Routes::verdict(const IncomingRequest& request) {
  const ServedRun* run = catalogue().find(request.run);
  if (run == nullptr) return error_reply(404, "there is no such run");
  if (!run->facts.verdict) return not_yet(run->facts);
  HttpReply reply;
  put_body(reply, run->facts.verdict_json + "\n", request.accept_encoding);
  return reply;
}

HttpReply Routes::events(const IncomingRequest& request) {
  if (!request.run.empty() && catalogue().find(request.run) == nullptr) {
    return error_reply(404, "there is no such run");
  }
  HttpReply reply;
  reply.content_type = "text/event-stream; charset=utf-8";
  reply.is_stream = request.method == "GET";
  reply.stream_run = request.run;
  reply.body = shared("");
  return reply;
}

HttpReply Routes::metrics(const IncomingRequest& request, const ServerFigures& figures) {
  const Dialect dialect = dialect_for(request.accept);
  Kept& kept = metrics_[{dialect, accepts_gzip(request.accept_encoding)}];
  const double now_s = monotonic_now_s();
  if (kept.of == reader_.catalogue() && now_s - kept.made_s < kMetricsKeptS) return kept.reply;
  std::vector<const MetricsText*> known;
  for (const std::shared_ptr<const ServedRun>& run : catalogue().runs) {
    if (run->facts.version > 0) known.push_back(&(*run->metrics)[static_cast<size_t>(dialect)]);
  }
  kept = {reader_.catalogue(), now_s, {}};
  kept.reply.content_type = content_type_of(dialect);
  put_body(kept.reply, exposition(known, figures, dialect), request.accept_encoding);
  return kept.reply;
}

}  // namespace plateau
