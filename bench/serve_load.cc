// SPDX-License-Identifier: Apache-2.0
// How long a server of many recordings keeps its clients waiting, calm and while files are read
// that were made to hold it up.
//
//   build/release/serve_load build/release/plateau [--runs 1000] [--clients 200] [--seconds 20]
//
// Given a folder of recordings, each of 200 samples of one process, and a server in a process of
// its own. When each client asks on a connection that it keeps, once a second, for /metrics and for
// /api/runs in turn, with gzip as Prometheus and browsers ask, then the time from the request's
// last byte to the answer's last byte is counted. Twice: with nothing to read, and with eight gzips
// in the folder that unpack to 1 GB each, rewritten all the while, so that the reader always has
// one. Client and server share the machine, and the client is one thread: what it is late by counts
// too.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/compression.h"
#include "base/fd.h"
#include "recording/recording.h"

namespace {

using plateau::Fd;
using plateau::monotonic_now_s;

constexpr std::array<const char*, 2> kPaths = {"/metrics", "/api/runs"};
constexpr int kBombs = 8;

struct Options {
  std::string plateau;
  int runs = 1000;
  int clients = 200;
  double seconds = 20;
};

void make_recording(const std::string& path, int number) {
  plateau::RecordingWriter writer =
      std::move(plateau::RecordingWriter::create(path, {.command = "python train.py"}).value());
  const size_t process = writer.process({.id = 4242, .id_is_pid = true, .name = "python"}, 1);
  const size_t column = writer.memory_column(process, plateau::Metric::anon);
  for (int step = 1; step <= 200; ++step) {
    plateau::Sample sample{.at = {.step = step, .time_s = 1.0 * step}};
    sample.set_kb(column, 1000000 + number * 10 * step + step * 7919 % 13);
    writer.row(sample);
  }
  writer.finish({.kind = plateau::Ending::Kind::exited});
}

// A gigabyte of zeros, as one gzip member a megabyte.
void make_bomb(const std::string& path) {
  static const std::string member = plateau::gzipped(std::string(size_t{1} << 20, '\0'), 9);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (int i = 0; i < 1024; ++i) file << member;
}

class Server {
 public:
  Server(const std::string& program, const std::string& directory) {
    int ends[2] = {-1, -1};
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      execl(program.c_str(), program.c_str(), "serve", directory.c_str(), "--listen", "127.0.0.1:0",
            nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string address;
    char c = 0;
    while (read(ends[0], &c, 1) == 1 && c != '\n') address += c;
    close(ends[0]);
    port_ = static_cast<uint16_t>(std::atoi(address.substr(address.rfind(':') + 1).c_str()));
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] uint16_t port() const { return port_; }

 private:
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

class Client {
 public:
  explicit Client(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      socket_.reset();
    }
  }
  bool ask(const char* path) {
    const std::string request =
        fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n", path);
    received_.clear();
    begin_s_ = monotonic_now_s();
    return ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) > 0;
  }
  // Seconds since the request once the answer is whole; else a negative number.
  double receive() {
    std::array<char, 65536> buffer{};
    const ssize_t n = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n <= 0) return -1;
    received_.append(buffer.data(), static_cast<size_t>(n));
    const size_t head = received_.find("\r\n\r\n");
    const size_t length = received_.find("Content-Length: ");
    if (head == std::string::npos || length == std::string::npos) return -1;
    const auto body = static_cast<size_t>(std::atol(received_.c_str() + length + 16));
    return received_.size() >= head + 4 + body ? monotonic_now_s() - begin_s_ : -1;
  }
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& received() const { return received_; }

  double next_s = 0;
  size_t which = 0;
  bool waits = false;

 private:
  Fd socket_;
  std::string received_;
  double begin_s_ = 0;
};

struct Latencies {
  std::array<std::vector<double>, 2> by_path;
  size_t failed = 0;
};

Latencies load(uint16_t port, const Options& options,
               const std::function<void(double)>& meanwhile) {
  std::mt19937 random(1);
  std::vector<Client> clients;
  const double begin_s = monotonic_now_s();
  for (int i = 0; i < options.clients; ++i) {
    clients.emplace_back(port);
    clients.back().next_s = begin_s + std::uniform_real_distribution(0.0, 1.0)(random);
    clients.back().which = static_cast<size_t>(i) % 2;
  }
  Latencies seen;
  while (monotonic_now_s() - begin_s < options.seconds) {
    const double now_s = monotonic_now_s();
    meanwhile(now_s - begin_s);
    std::vector<pollfd> polled;
    double soonest_s = now_s + 0.05;
    for (Client& client : clients) {
      if (!client.waits && now_s >= client.next_s) {
        client.waits = true;
        client.next_s += 1;
        if (!client.ask(kPaths[client.which])) ++seen.failed;
      }
      if (!client.waits) soonest_s = std::min(soonest_s, client.next_s);
      polled.push_back({client.fd(), POLLIN, 0});
    }
    const double wait_s = std::max(0.0, soonest_s - monotonic_now_s());
    poll(polled.data(), polled.size(), static_cast<int>(wait_s * 1000));
    for (size_t i = 0; i < clients.size(); ++i) {
      if (polled[i].revents == 0 || !clients[i].waits) continue;
      const double took_s = clients[i].receive();
      if (took_s < 0) continue;
      clients[i].waits = false;
      if (!clients[i].received().starts_with("HTTP/1.1 200")) ++seen.failed;
      seen.by_path[clients[i].which].push_back(took_s);
      clients[i].which = 1 - clients[i].which;
    }
  }
  return seen;
}

void print(const char* when, Latencies& seen) {
  for (size_t path = 0; path < kPaths.size(); ++path) {
    std::vector<double>& all = seen.by_path[path];
    std::sort(all.begin(), all.end());
    const auto at = [&all](double share) {
      return all.empty()
                 ? 0
                 : 1000 * all[static_cast<size_t>(share * (static_cast<double>(all.size()) - 1))];
    };
    fmt::print(
        "{:<22} {:<10} {:>6} answers  median {:>6.1f} ms  99 % {:>6.1f} ms  longest {:>6.1f} ms\n",
        when, kPaths[path], all.size(), at(0.5), at(0.99), at(1));
  }
  if (seen.failed > 0) fmt::print("{:<22} {} requests failed\n", when, seen.failed);
}

// Until every run of the list has been read.
void warm_up(uint16_t port) {
  for (int i = 0; i < 600; ++i) {
    Client client(port);
    client.ask("/api/runs");
    while (client.receive() < 0) {
      pollfd polled = {client.fd(), POLLIN, 0};
      poll(&polled, 1, 100);
    }
    const std::string& list = client.received();
    const bool listed = list.find("\"word\":") != std::string::npos;
    if (listed && list.find("\"word\":null") == std::string::npos) return;
    usleep(100000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const double value = i + 1 < argc ? std::atof(argv[i + 1]) : 0;
    if (word == "--runs") options.runs = static_cast<int>(value);
    if (word == "--clients") options.clients = static_cast<int>(value);
    if (word == "--seconds") options.seconds = value;
    if (word.starts_with("--"))
      ++i;
    else
      options.plateau = word;
  }
  if (options.plateau.empty()) {
    fmt::print(stderr, "usage: serve_load PLATEAU [--runs N] [--clients N] [--seconds N]\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  std::string directory = "/tmp/plateau-load-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) return 2;
  for (int i = 0; i < options.runs; ++i)
    make_recording(fmt::format("{}/{:04}.plateau", directory, i), i);
  {
    const Server server(options.plateau, directory);
    warm_up(server.port());
    Latencies calm = load(server.port(), options, [](double) {});
    print("calm", calm);
    double next_s = 0;
    int number = 0;
    Latencies hostile = load(server.port(), options, [&](double at_s) {
      if (at_s < next_s) return;
      make_bomb(fmt::format("{}/bomb-{}.plateau", directory, number++ % kBombs));
      next_s = at_s + 1;
    });
    print("while bombs are read", hostile);
  }
  std::filesystem::remove_all(directory);
  return 0;
}
