// SPDX-License-Identifier: Apache-2.0
// The loop, and the glue between libmicrohttpd and routes.
//
// libmicrohttpd waits for its sockets in an epoll of its own. We wait for that epoll, for those
// whom the doorman has not let in yet, for the reader, for the stop descriptor and for the next
// tick, all in one poll(), and call MHD_run() whenever it is ready. A tick lets slow connections
// go, asks the reader for files that somebody listens to and sends what changed. Nothing here reads
// a file.
#include "serve/server.h"

#include <fmt/format.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "serve/connections.h"
#include "serve/doorman.h"
#include "serve/events.h"
#include "serve/http_glue.h"
#include "serve/reader.h"
#include "serve/routes.h"
#include "serve/waiting.h"

namespace plateau {
namespace {

constexpr double kTickS = 0.5;
constexpr double kInterestS = 30;  // After a request, files go on being looked at for so long.
constexpr unsigned kIdleS = 30;    // Nothing sent or taken.
constexpr size_t kConnectionBytes = 64UL * 1024;  // A head that is longer ends the connection.
constexpr int kLastRounds = 100;
constexpr double kLastTakeS = 0.3;

}  // namespace

struct Server::State {
  explicit State(ServeOptions given) : options(std::move(given)), reader(options) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The library's callbacks; `state` is a State.
  static MHD_Result on_request(void* state, MHD_Connection* connection, const char* path,
                               const char* method, const char* version, const char* upload,
                               size_t* upload_size, void** request);
  static void* on_address(void* state, const char* address, MHD_Connection* connection);
  static void on_completed(void* state, MHD_Connection* connection, void** request,
                           MHD_RequestTerminationCode why);
  static void on_connection(void* state, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what);

  bool start_daemon(Fd socket);
  MHD_Result answer(MHD_Connection* connection, const char* method, const char* path);
  // The refusal of a request that is not looked at; without a body if it is.
  HttpReply refusal_of(MHD_Connection* connection, const IncomingRequest& request);
  bool sleeps(MHD_Connection* connection, const IncomingRequest& request);
  MHD_Result queue(MHD_Connection* connection, const HttpReply& reply);
  Connections::Connection& who(MHD_Connection* connection);
  void wait(int stop_fd, bool& stop);
  void tick();
  void let_in();
  void say_farewell(double most_s);

  ServeOptions options;
  ListenAddress address;
  Reader reader;
  std::unique_ptr<Routes> routes;
  EventStreams streams;
  Waiting waiting;
  Connections connections;
  Doorman doorman;
  std::vector<pollfd> polled;
  ServerFigures figures;
  MHD_Daemon* daemon = nullptr;
  int epoll = -1;
  double next_tick_s = 0;
  double next_look_s = 0;
  double started_s = monotonic_now_s();
  double asked_s = -1e9;
  size_t pages_sent = 0;
};

MHD_Result Server::State::on_request(void* state, MHD_Connection* connection, const char* path,
                                     const char* method, const char* version,
                                     const char* /*upload*/, size_t* upload_size, void** request) {
  auto& self = *static_cast<State*>(state);
  const bool first = *request == nullptr;
  // The version follows the address, with one blank between; a zero byte in the address hides its
  // rest from whoever reads it as text.
  Connections::Connection& asker = self.who(connection);
  if (first && version != asker.address_end + 1) asker.bad_address = "the address is malformed";
  *request = state;
  const std::string_view verb(method);
  const bool shows = verb == "GET" || verb == "HEAD";
  // A refusal need not wait for the body; the library ends the connection after it.
  if (first && shows) return MHD_YES;
  if (!first && *upload_size > 0) {
    *upload_size = 0;
    return MHD_YES;
  }
  return self.answer(connection, method, path);
}

// The address as it came, before anything in it is decoded.
void* Server::State::on_address(void* state, const char* address, MHD_Connection* connection) {
  auto& self = *static_cast<State*>(state);
  Connections::Connection& asker = self.who(connection);
  asker.bad_address = refused_address(address);
  asker.address_end = address + std::strlen(address);
  return nullptr;
}

void Server::State::on_completed(void* state, MHD_Connection* connection, void** request,
                                 MHD_RequestTerminationCode /*why*/) {
  *request = nullptr;
  auto& self = *static_cast<State*>(state);
  Connections::Connection& asker = self.who(connection);
  asker.waited = false;
  asker.look_again = false;
  Connections::note(asker, Connections::Doing::asking, monotonic_now_s());
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
  waiting.wake_all();
  for (int round = 0; round < kLastRounds && streams.size() > 0; ++round) MHD_run(daemon);
  MHD_stop_daemon(daemon);
}

bool Server::State::start_daemon(Fd socket) {
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  if (address.address.find(':') != std::string::npos) flags |= MHD_USE_IPv6;
  // The library must listen to set itself up, but it is the doorman who accepts.
  daemon = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &on_request, this, MHD_OPTION_LISTEN_SOCKET, socket.release(),
      MHD_OPTION_CONNECTION_LIMIT, static_cast<unsigned>(Connections::kMost),
      MHD_OPTION_CONNECTION_TIMEOUT, kIdleS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes,
      MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this, MHD_OPTION_NOTIFY_CONNECTION,
      &on_connection, this, MHD_OPTION_URI_LOG_CALLBACK, &on_address, this, MHD_OPTION_END);
  if (daemon == nullptr) return false;
  epoll = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  doorman = Doorman(Fd(MHD_quiesce_daemon(daemon)));
  return true;
}

// Hands over those whose first request may be understood. The socket is the library's then, which
// closes it if it has no place for it.
void Server::State::let_in() {
  std::vector<unsigned> refused;
  for (Doorman::Guest& guest : doorman.look(monotonic_now_s(), options.ask_s, refused)) {
    MHD_add_connection(daemon, guest.socket.release(),
                       reinterpret_cast<const sockaddr*>(&guest.address), guest.address_size);
  }
  for (const unsigned status : refused) ++figures.requests[status];
}

Connections::Connection& Server::State::who(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return *static_cast<Connections::Connection*>(info->socket_context);
}

// Whether the request sleeps before it is answered; it is looked at again when it wakes up.
bool Server::State::sleeps(MHD_Connection* connection, const IncomingRequest& request) {
  Connections::Connection& asker = who(connection);
  if (asker.waited && !asker.look_again) return false;
  const double now_s = monotonic_now_s();
  const Routes::Wait wait = routes->wait_for(request, now_s - started_s);
  if ((!wait.wish && !wait.wrong_token) || (asker.waited && wait.look_again)) return false;
  asker.look_again = wait.look_again;
  Waiting::Place place;
  place.connection = connection;
  place.until_s = now_s + wait.most_s;
  if (wait.wish) place.ticket = reader.ask(*wait.wish);
  if (wait.wrong_token) place.guesser = address_of_client(connection);
  if (wait.most_s <= 0) return false;
  asker.waited = true;
  Connections::note(asker, Connections::Doing::answering, now_s);
  waiting.sleep(std::move(place));
  return true;
}

HttpReply Server::State::refusal_of(MHD_Connection* connection, const IncomingRequest& request) {
  if (const std::string_view why = who(connection).bad_address; !why.empty()) {
    return error_reply(400, why);
  }
  if (std::optional<HttpReply> refused = refused_head(connection)) return *refused;
  const bool guessing =
      waiting.guesses_from(address_of_client(connection)) >= Waiting::kMostGuesses;
  if (guessing && routes->asks_for_token() && request.path != "/healthz") {
    HttpReply reply = error_reply(429, "too many wrong tokens from this address; wait a second");
    reply.headers.emplace_back("Retry-After", "1");
    return reply;
  }
  return {};
}

MHD_Result Server::State::answer(MHD_Connection* connection, const char* method, const char* path) {
  asked_s = monotonic_now_s();
  const IncomingRequest request = request_of(connection, method, path, routes->cookie());
  HttpReply reply = refusal_of(connection, request);
  if (reply.body == nullptr) {
    if (sleeps(connection, request)) return MHD_YES;
    figures.event_streams = streams.size();
    add_process_figures(figures);
    reply = routes->answer(request, figures);
  } else {
    add_common_headers(reply);
  }
  if (reply.is_stream && streams.full()) {
    reply = error_reply(503, "too many live pages are open; close some");
    reply.headers.emplace_back("Retry-After", "30");
    add_common_headers(reply);
  }
  if (request.path == "/api/page" && reply.status == 200) ++pages_sent;
  return queue(connection, reply);
}

MHD_Result Server::State::queue(MHD_Connection* connection, const HttpReply& reply) {
  MHD_Response* response =
      reply.is_stream ? streams.open(connection, reply.stream_run) : response_of(reply);
  if (response == nullptr) return MHD_NO;
  add_headers(response, reply);
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
  const double wake_s = std::min(next_tick_s, waiting.next_s());
  double most_s = std::clamp(wake_s - monotonic_now_s(), 0.0, kTickS);
  MHD_UNSIGNED_LONG_LONG library_ms = 0;
  if (MHD_get_timeout(daemon, &library_ms) == MHD_YES) {
    most_s = std::min(most_s, static_cast<double>(library_ms) / 1000);
  }
  polled = {{epoll, POLLIN, 0}, {reader.fd(), POLLIN, 0}, {stop_fd, POLLIN, 0}};
  doorman.add_to(polled);
  poll(polled.data(), polled.size(), static_cast<int>(std::ceil(most_s * 1000)));
  if (polled[1].revents != 0) {
    reader.news();
    next_tick_s = 0;  // Those who listen hear of it at once.
  }
  waiting.wake(reader, monotonic_now_s());
  let_in();
  MHD_run(daemon);
  stop = polled[2].revents != 0;
}

void Server::State::tick() {
  const double now_s = monotonic_now_s();
  if (now_s < next_tick_s) return;
  reader.news();
  connections.expire(now_s, options.ask_s, options.answer_s);
  if (now_s >= next_look_s) {
    for (const std::string& run : streams.runs()) reader.ask({Reader::Wish::Kind::run, run});
    if (now_s - asked_s < kInterestS) reader.ask({Reader::Wish::Kind::list});
    next_look_s = now_s + kTickS;
  }
  streams.pump(*reader.catalogue(), monotonic_now_s());
  MHD_run(daemon);
  next_tick_s = monotonic_now_s() + kTickS;
}

// Pages hear of the end and fetch what they have not got.
void Server::State::say_farewell(double most_s) {
  const size_t pages = streams.size();
  if (pages == 0) return;
  double until_s = monotonic_now_s() + most_s;
  uint64_t last = 0;
  for (const std::string& run : streams.runs()) {
    last = reader.ask({Reader::Wish::Kind::run, run, true});
  }
  pages_sent = 0;
  bool taken = false;
  while (monotonic_now_s() < until_s && streams.size() > 0) {
    reader.news();
    streams.pump(*reader.catalogue(), monotonic_now_s());
    MHD_run(daemon);
    bool stop = false;
    wait(-1, stop);
    if (!taken && reader.done(last) && pages_sent >= pages && streams.all_sent()) {
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
  state->routes = std::make_unique<Routes>(state->reader, std::move(rules),
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
