// SPDX-License-Identifier: Apache-2.0
// hear_steps: listens on a step socket as a watcher does, for the tests of clients.
//
// Prints the socket's path as its first line. Then prints each word it understood as one line, with
// the sender's pid in front, until "mark bye" comes; the last line counts what was not understood.
#include <poll.h>

#include <cstdio>
#include <string>

#include "session/step_socket.h"

namespace {

double value(const std::optional<plateau::Fact>& fact) {
  return fact ? fact->value : 0;
}

std::string shown(const plateau::StepWords& words) {
  using Kind = plateau::StepWords::Kind;
  char text[256];
  switch (words.kind) {
    case Kind::run:
      std::snprintf(text, sizeof(text), "run %g %g %g %g", value(words.facts.total_steps),
                    value(words.facts.examples), value(words.facts.batch),
                    value(words.facts.epoch_steps));
      return text;
    case Kind::step:
      std::snprintf(text, sizeof(text), "step %lld %g", static_cast<long long>(words.step),
                    words.epoch);
      return text;
    case Kind::begin:
      return "begin " + words.name;
    case Kind::end:
      return "end " + words.name;
    case Kind::gauge:
      std::snprintf(text, sizeof(text), " %.12g", words.value);
      return "gauge " + words.name + text;
    case Kind::mark:
      return "mark " + words.name;
    case Kind::subscribe:
      return "subscribe " + words.name;
  }
  return "";
}

}  // namespace

int main() {
  auto made = plateau::StepSocket::create();
  if (!made.ok()) {
    std::fprintf(stderr, "hear_steps: %s\n", made.error().message.c_str());
    return 2;
  }
  plateau::StepSocket& heard = made.value();
  std::printf("%s\n", heard.path().c_str());
  std::fflush(stdout);
  bool more = true;
  while (more) {
    pollfd ready{.fd = heard.fd(), .events = POLLIN, .revents = 0};
    // A minute of silence: whoever should speak is gone.
    if (poll(&ready, 1, 60000) <= 0) return 3;
    for (const plateau::StepWords& words : heard.receive()) {
      std::printf("%lld %s\n", static_cast<long long>(words.pid), shown(words).c_str());
      if (words.kind == plateau::StepWords::Kind::mark && words.name == "bye") more = false;
    }
    std::fflush(stdout);
  }
  std::printf("malformed %llu\n", static_cast<unsigned long long>(heard.malformed()));
  return 0;
}
