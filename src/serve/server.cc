// SPDX-License-Identifier: Apache-2.0
// The loop, and the glue between libmicrohttpd and routes.
//
// libmicrohttpd waits for its sockets in an epoll of its own. We wait for that epoll, for the stop
// descriptor and for the next tick, all in one poll(), and call MHD_run() whenever it is ready. A
// tick lets slow connections go, looks at files that somebody listens to and sends what changed.
#include "serve/server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "serve/connections.h"
#include "serve/events.h"
#include "serve/routes.h"

namespace plateau {
namespace {

constexpr double kTickS = 0.5;
constexpr double kInterestS = 30;  // After a request, files go on being looked at for so long.
constexpr double kLookS = 0.1;
constexpr unsigned kIdleS = 30;                   // Nothing sent or taken.
constexpr size_t kConnectionBytes = 24UL * 1024;  // A request's head must fit into it.
constexpr int kLastRounds = 100;
constexpr double kLastTakeS = 0.3;

std::string_view view_of(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

void free_body(void* body) {
  delete static_cast<std::shared_ptr<const std::string>*>(body);
}

MHD_Response* response_of(const HttpReply& reply) {
  auto* body = new std::shared_ptr<const std::string>(reply.body);
  // The library does not write to it; its interface predates that promise.
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      (*body)->size(), const_cast<char*>((*body)->data()), &free_body, body);
  if (response == nullptr) free_body(body);
  return response;
}

}  // namespace

struct Server::State {
  explicit State(ServeOptions given) : options(std::move(given)), shelf(options) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The library's callbacks; `state` is a State.
  static MHD_Result on_request(void* state, MHD_Connection* connection, const char* path,
                               const char* method, const char* version, const char* upload,
                               size_t* upload_size, void** request);
  static void on_completed(void* state, MHD_Connection* connection, void** request,
                           MHD_RequestTerminationCode why);
  static void on_connection(void* state, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what);

  bool start_daemon(Fd socket);
  MHD_Result answer(MHD_Connection* connection, const char* method, const char* path);
  MHD_Result queue(MHD_Connection* connection, const HttpReply& reply);
  Connections::Connection& who(MHD_Connection* connection);
  void wait(int stop_fd, bool& stop);
  void tick();
  void say_farewell(double most_s);

  ServeOptions options;
  ListenAddress address;
  Shelf shelf;
  std::unique_ptr<Routes> routes;
  EventStreams streams;
  Connections connections;
  ServerFigures figures;
  MHD_Daemon* daemon = nullptr;
  int epoll = -1;
  double next_tick_s = 0;
  double next_look_s = 0;
  double asked_s = -1e9;
  size_t pages_sent = 0;
};

MHD_Result Server::State::on_request(void* state, MHD_Connection* connection, const char* path,
                                     const char* method, const char* /*version*/,
                                     const char* /*upload*/, size_t* upload_size, void** request) {
  auto& self = *static_cast<State*>(state);
  const bool first = *request == nullptr;
  *request = state;
  const bool shows = view_of(method) == "GET" || view_of(method) == "HEAD";
  // A refusal need not wait for the body; the library ends the connection after it.
  if (first && shows) return MHD_YES;
  if (!first && *upload_size > 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  return self.answer(connection, method, path);
}

void Server::State::on_completed(void* state, MHD_Connection* connection, void** request,
                                 MHD_RequestTerminationCode /*why*/) {
  *request = nullptr;
  auto& self = *static_cast<State*>(state);
  Connections::note(self.who(connection), Connections::Doing::asking, monotonic_now_s());
}

void Server::State::on_connection(void* state, MHD_Connection* connection, void** context,
                                  MHD_ConnectionNotificationCode what) {
  auto& self = *static_cast<State*>(state);
  if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
    self.connections.leave(static_cast<Connections::Connection*>(*context));
    return;
  }
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  *context = self.connections.arrive(info == nullptr ? -1 : info->connect_fd, monotonic_now_s());
}

Server::State::~State() {
  if (daemon == nullptr) return;
  streams.end_all();
  for (int round = 0; round < kLastRounds && streams.size() > 0; ++round) MHD_run(daemon);
  MHD_stop_daemon(daemon);
}

bool Server::State::start_daemon(Fd socket) {
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  if (address.address.find(':') != std::string::npos) flags |= MHD_USE_IPv6;
  // The socket is the library's from here on.
  daemon = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &on_request, this, MHD_OPTION_LISTEN_SOCKET, socket.release(),
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(Connections::kMost),
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,
      MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this, MHD_OPTION_NOTIFY_CONNECTION,
      &on_connection, this, MHD_OPTION_END);
  if (daemon == nullptr) return false;
  epoll = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  return true;
}

Connections::Connection& Server::State::who(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return *static_cast<Connections::Connection*>(info->socket_context);
}

MHD_Result Server::State::answer(MHD_Connection* connection, const char* method, const char* path) {
  asked_s = monotonic_now_s();
  const auto header = [connection](const char* name) {
    return view_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
  };
  const auto query = [connection](const char* name) {
    return view_of(MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name));
  };
  HttpRequest request;
  request.method = view_of(method);
  request.path = view_of(path);
  request.run = query("run");
  request.accept = header("Accept");
  request.accept_encoding = header("Accept-Encoding");
  request.credentials.host = header("Host");
  request.credentials.authorization = header("Authorization");
  request.credentials.query_token = query("token");
  request.credentials.cookie_token =
      view_of(MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, routes->cookie().c_str()));
  figures.event_streams = streams.size();
  add_process_figures(figures);
  HttpReply reply = routes->answer(request, figures);
  if (reply.is_stream && streams.full()) {
    reply = error_reply(503, "too many live pages are open; close some");
    reply.headers.emplace_back("Retry-After", "30");
  }
  if (request.path == "/api/page" && reply.status == 200) ++pages_sent;
  return queue(connection, reply);
}

MHD_Result Server::State::queue(MHD_Connection* connection, const HttpReply& reply) {
  MHD_Response* response =
      reply.is_stream ? streams.open(connection, reply.stream_run) : response_of(reply);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply.content_type.c_str());
  for (const auto& [name, value] : reply.headers) {
    MHD_add_response_header(response, name.c_str(), value.c_str());
  }
  const MHD_Result queued = MHD_queue_response(connection, reply.status, response);
  MHD_destroy_response(response);
  if (queued == MHD_YES) ++figures.requests[reply.status];
  const auto doing =
      reply.is_stream ? Connections::Doing::streaming : Connections::Doing::answering;
  Connections::note(who(connection), doing, monotonic_now_s());
  next_tick_s = 0;  // A stream's first message is due at once.
  return queued;
}

void Server::State::wait(int stop_fd, bool& stop) {
  double most_s = std::clamp(next_tick_s - monotonic_now_s(), 0.0, kTickS);
  MHD_UNSIGNED_LONG_LONG library_ms = 0;
  if (MHD_get_timeout(daemon, &library_ms) == MHD_YES) {
    most_s = std::min(most_s, static_cast<double>(library_ms) / 1000);
  }
  pollfd polled[2] = {{epoll, POLLIN, 0}, {stop_fd, POLLIN, 0}};
  poll(polled, 2, static_cast<int>(std::ceil(most_s * 1000)));
  MHD_run(daemon);
  stop = polled[1].revents != 0;
}

void Server::State::tick() {
  const double now_s = monotonic_now_s();
  if (now_s < next_tick_s) return;
  connections.expire(now_s, options.ask_s, options.answer_s);
  for (const std::string& run : streams.runs()) shelf.look_at(run);
  if (now_s - asked_s < kInterestS && now_s >= next_look_s) {
    shelf.look(kLookS);
    // Those that nobody looks at right now take a third of the time at most.
    next_look_s = monotonic_now_s() + std::max(kTickS, 2 * (monotonic_now_s() - now_s));
  }
  streams.pump(shelf, monotonic_now_s());
  MHD_run(daemon);
  next_tick_s = monotonic_now_s() + kTickS;
}

// Pages hear of the end and fetch what they have not got.
void Server::State::say_farewell(double most_s) {
  const size_t pages = streams.size();
  if (pages == 0) return;
  double until_s = monotonic_now_s() + most_s;
  for (const std::string& run : streams.runs()) shelf.look_at(run, true);
  pages_sent = 0;
  bool taken = false;
  while (monotonic_now_s() < until_s && streams.size() > 0) {
    streams.pump(shelf, monotonic_now_s());
    MHD_run(daemon);
    bool stop = false;
    wait(-1, stop);
    if (!taken && pages_sent >= pages && streams.all_sent()) {
      taken = true;
      until_s = std::min(until_s, monotonic_now_s() + kLastTakeS);
    }
    next_tick_s = monotonic_now_s() + kLastTakeS / 2;
  }
}

Result<Server> Server::start(ServeOptions options) {
  if (options.token.empty() && !is_loopback(options.address)) {
    return usage_error(options.address + " can be reached from outside: a token is needed");
  }
  auto state = std::make_unique<State>(std::move(options));
  state->address = {state->options.address, state->options.port};
  Result<Fd> socket = listen_at(state->address);
  if (!socket) return socket.error();
  AccessRules rules = {state->options.token, is_loopback(state->address.address)};
  // Browsers keep cookies by host, whatever the port: two servers must not share one.
  state->routes = std::make_unique<Routes>(state->shelf, std::move(rules),
                                           fmt::format("plateau_{}", state->address.port));
  state->figures.started_unix_s = unix_now_s();
  if (!state->start_daemon(std::move(socket.value()))) {
    return usage_error(
        "the HTTP library cannot start; is the limit of open files "
        "('ulimit -n') very low?");
  }
  return Server(std::move(state));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() = default;

std::string Server::url() const {
  const std::string url = url_of(state_->address);
  return state_->options.token.empty() ? url : url + "?token=" + state_->options.token;
}

uint16_t Server::port() const {
  return state_->address.port;
}

void Server::run(int stop_fd, double farewell_s) {
  bool stop = false;
  while (!stop) {
    state_->wait(stop_fd, stop);
    state_->tick();
  }
  if (farewell_s > 0) state_->say_farewell(farewell_s);
}

}  // namespace plateau
