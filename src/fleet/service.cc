// SPDX-License-Identifier: Apache-2.0
#include "fleet/service.h"

#include <microhttpd.h>

#include <map>
#include <mutex>

#include "serve/http_glue.h"
#include "serve/routes.h"

namespace plateau::fleet {
namespace {

constexpr unsigned kIdleS = 30;
constexpr unsigned kMostConnections = 100;
constexpr size_t kConnectionBytes = 64UL * 1024;

using Text = std::shared_ptr<const std::string>;

HttpReply reply_of(Text body, std::string_view type) {
  HttpReply reply;
  reply.body = std::move(body);
  reply.content_type = type;
  return reply;
}

}  // namespace

struct Service::State {
  ListenAddress address;
  AccessRules rules;
  MHD_Daemon* daemon = nullptr;
  std::mutex mutex;
  Text page = std::make_shared<std::string>("<!doctype html><p>The first round is not over yet.\n");
  Text findings = std::make_shared<std::string>();
  std::map<Dialect, Text> metrics;
  std::optional<FleetAnswer> last;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (daemon != nullptr) MHD_stop_daemon(daemon);
  }

  static MHD_Result on_request(void* state, MHD_Connection* connection, const char* path,
                               const char* method, const char* /*version*/, const char* /*upload*/,
                               size_t* upload_size, void** request) {
    auto& self = *static_cast<State*>(state);
    if (*request == nullptr) {
      *request = state;
      return MHD_YES;
    }
    if (*upload_size > 0) {
      *upload_size = 0;
      return MHD_YES;
    }
    HttpReply reply = self.answer(connection, method, path);
    add_common_headers(reply);
    MHD_Response* response = response_of(reply);
    if (response == nullptr) return MHD_NO;
    add_headers(response, reply);
    const MHD_Result queued = MHD_queue_response(connection, reply.status, response);
    MHD_destroy_response(response);
    return queued;
  }

  HttpReply answer(MHD_Connection* connection, const char* method, const char* path) {
    if (std::optional<HttpReply> refused = refused_head(connection)) return *refused;
    const IncomingRequest request = request_of(connection, method, path, "plateau_fleet");
    if (request.method != "GET" && request.method != "HEAD") {
      return error_reply(405, "only GET and HEAD are answered");
    }
    if (request.path == "/healthz") {
      return reply_of(std::make_shared<std::string>("ok\n"), "text/plain; charset=utf-8");
    }
    switch (admit(rules, request.credentials)) {
      case Admission::wrong_host:
        return error_reply(403, "asked for by a name of another machine");
      case Admission::no_token:
        return error_reply(401, "a token is needed");
      case Admission::welcome:
      case Admission::welcome_by_query:
        break;
    }
    const std::scoped_lock lock(mutex);
    if (request.path == "/") {
      HttpReply reply = reply_of(page, "text/html; charset=utf-8");
      reply.headers.emplace_back("Content-Security-Policy", policy_of_page(*page));
      return reply;
    }
    if (request.path == "/api/fleet") {
      return reply_of(findings, "application/x-ndjson; charset=utf-8");
    }
    if (request.path == "/metrics") {
      const Dialect dialect = dialect_for(request.accept);
      return reply_of(metrics[dialect], content_type_of(dialect));
    }
    return error_reply(404, "there are /, /api/fleet, /metrics and /healthz");
  }
};

Service::Service(std::unique_ptr<State> state) : state_(std::move(state)) {}
Service::Service(Service&&) noexcept = default;
Service& Service::operator=(Service&&) noexcept = default;
Service::~Service() = default;

Result<Service> Service::start(ListenAddress address, std::string token) {
  if (token.empty() && !is_loopback(address.address)) {
    return usage_error(address.address + " can be reached from outside: a token is needed");
  }
  auto state = std::make_unique<State>();
  Result<Fd> socket = listen_at(address);
  if (!socket) return socket.error();
  state->address = address;
  state->rules = {std::move(token), is_loopback(address.address)};
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD;
  if (address.address.find(':') != std::string::npos) flags |= MHD_USE_IPv6;
  state->daemon = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &State::on_request, state.get(), MHD_OPTION_LISTEN_SOCKET,
      socket.value().release(), MHD_OPTION_CONNECTION_LIMIT, kMostConnections,
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,
      MHD_OPTION_END);
  if (state->daemon == nullptr) return usage_error("the HTTP library cannot start");
  Service service(std::move(state));
  service.show(nullptr, {}, {});
  return service;
}

std::string Service::url() const {
  const std::string url = url_of(state_->address);
  return state_->rules.token.empty() ? url : url + "?token=" + state_->rules.token;
}

void Service::show(const FleetAnswer* answer, const Asked& asked, const ServiceFigures& figures) {
  const std::scoped_lock lock(state_->mutex);
  if (answer != nullptr) {
    state_->last = *answer;
    state_->page = std::make_shared<std::string>(fleet_page(*answer, asked));
    state_->findings = std::make_shared<std::string>(fleet_json(*answer));
  }
  const FleetAnswer* known = state_->last ? &*state_->last : nullptr;
  for (const Dialect dialect : {Dialect::prometheus_text, Dialect::open_metrics}) {
    state_->metrics[dialect] =
        std::make_shared<std::string>(fleet_metrics(known, figures, dialect));
  }
}

}  // namespace plateau::fleet
