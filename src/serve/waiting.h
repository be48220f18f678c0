// SPDX-License-Identifier: Apache-2.0
// Requests whose answer is not there yet: their connections sleep until the reader has done what
// they wait for, or their time is up. The others are served meanwhile.
//
// A wrong token waits for nothing but time. While kMostGuesses of one address wait, further tokens
// from there are not even looked at: however many connections somebody opens, they learn of so many
// guesses a second. Who has the right token and shares the address waits with them.
//
// One thread. Everybody must be awake before the library is stopped: wake_all().
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "serve/reader.h"

struct MHD_Connection;

namespace plateau {

class Waiting {
 public:
  static constexpr size_t kMostGuesses = 8;

  struct Place {
    MHD_Connection* connection = nullptr;
    uint64_t ticket = 0;  // 0: waits for the time only.
    double until_s = 0;
    std::string guesser;  // Where a wrong token came from; else empty.
  };

  // Puts the connection to sleep. Only from a callback of the library.
  void sleep(Place place);
  // Wakes those whose time has come. True if there were any: then MHD_run() must be called.
  bool wake(const Reader& reader, double now_s);
  void wake_all();

  [[nodiscard]] size_t guesses_from(const std::string& address) const;
  // When the next one's time is up; a large number if nobody sleeps.
  [[nodiscard]] double next_s() const;

 private:
  std::list<Place> places_;
};

}  // namespace plateau
