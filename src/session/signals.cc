// SPDX-License-Identifier: Apache-2.0
#include "session/signals.h"

#include <sys/signalfd.h>

namespace plateau {

SignalReader::SignalReader(std::initializer_list<int> signals) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : signals) sigaddset(&wanted, number);
  sigprocmask(SIG_BLOCK, &wanted, &before_);
  fd_ = Fd(signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
}

SignalReader::~SignalReader() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::vector<int> SignalReader::read_all() {
  std::vector<int> signals;
  signalfd_siginfo info = {};
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    signals.push_back(static_cast<int>(info.ssi_signo));
  }
  return signals;
}

}  // namespace plateau
