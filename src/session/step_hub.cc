// SPDX-License-Identifier: Apache-2.0
#include "session/step_hub.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/own_directory.h"

namespace plateau {

namespace {

bool send_to_pinned(int socket, const Fd& pinned, const std::string& line) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string path = path_of_descriptor(pinned.get());
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return sendto(socket, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

}  // namespace

bool send_step_words(int socket, const std::string& path, uid_t owner, const std::string& line) {
  const Fd pinned = pin_socket_of(path, owner);
  return pinned && send_to_pinned(socket, pinned, line);
}

StepHub::StepHub() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  facts_.kind = auto_facts_.kind = StepWords::Kind::run;
  auto_facts_.from_auto = true;
  last_step_.kind = StepWords::Kind::step;
}

// A full queue loses this line only; any other failure means that nobody is there.
bool StepHub::send(const Subscriber& to, const std::string& line) const {
  return send_to_pinned(socket_.get(), to.pinned, line) || errno == EAGAIN || errno == ENOBUFS;
}

void StepHub::subscribe(const StepWords& words) {
  const bool known =
      std::ranges::find(subscribers_, words.name, &Subscriber::path) != subscribers_.end();
  if (known || subscribers_.size() >= kMaxSubscribers) return;
  const uid_t owner = words.uid < 0 ? geteuid() : static_cast<uid_t>(words.uid);
  Subscriber to{words.name, pin_socket_of(words.name, owner)};
  if (!to.pinned || !send(to, format_step_words(facts_))) return;
  if (auto_spoke_ && !send(to, format_step_words(auto_facts_))) return;
  if (last_step_.step >= 0 && !send(to, format_step_words(last_step_))) return;
  subscribers_.push_back(std::move(to));
}

void StepHub::words(const StepWords& words) {
  switch (words.kind) {
    case StepWords::Kind::subscribe:
      subscribe(words);
      return;
    case StepWords::Kind::run:
      auto_spoke_ = auto_spoke_ || words.from_auto;
      for (const FactKind& fact : kFacts) {
        if (fact.field == &Context::rank) continue;  // Of one process, not of the job.
        Context& known = (words.from_auto ? auto_facts_ : facts_).facts;
        if (words.facts.*fact.field) known.*fact.field = words.facts.*fact.field;
      }
      break;
    case StepWords::Kind::step:
      last_step_ = words;
      break;
    default:
      break;
  }
  if (subscribers_.empty()) return;
  const std::string line = format_step_words(words);
  std::erase_if(subscribers_, [&](const Subscriber& to) { return !send(to, line); });
}

}  // namespace plateau
