// SPDX-License-Identifier: Apache-2.0
#include "session/step_hub.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>

namespace plateau {

bool send_step_words(int socket, const std::string& path, const std::string& line) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  path.copy(address.sun_path, path.size());
  return sendto(socket, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

StepHub::StepHub() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  facts_.kind = StepWords::Kind::run;
  last_step_.kind = StepWords::Kind::step;
}

// A full queue loses this line only; any other failure means that nobody is there.
bool StepHub::send(const std::string& path, const std::string& line) const {
  return send_step_words(socket_.get(), path, line) || errno == EAGAIN || errno == ENOBUFS;
}

void StepHub::subscribe(const std::string& path) {
  const bool known = std::find(paths_.begin(), paths_.end(), path) != paths_.end();
  if (known || paths_.size() >= kMaxSubscribers) return;
  if (!send(path, format_step_words(facts_))) return;
  if (last_step_.step >= 0 && !send(path, format_step_words(last_step_))) return;
  paths_.push_back(path);
}

void StepHub::words(const StepWords& words) {
  switch (words.kind) {
    case StepWords::Kind::subscribe:
      subscribe(words.name);
      return;
    case StepWords::Kind::run:
      for (const FactKind& fact : kFacts) {
        if (words.facts.*fact.field) facts_.facts.*fact.field = words.facts.*fact.field;
      }
      break;
    case StepWords::Kind::step:
      last_step_ = words;
      break;
    default:
      break;
  }
  if (paths_.empty()) return;
  const std::string line = format_step_words(words);
  std::erase_if(paths_, [&](const std::string& path) { return !send(path, line); });
}

}  // namespace plateau
