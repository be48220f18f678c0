// SPDX-License-Identifier: Apache-2.0
#include "serve/waiting.h"

#include <microhttpd.h>

#include <algorithm>

namespace plateau {

void Waiting::sleep(Place place) {
  MHD_suspend_connection(place.connection);
  places_.push_back(std::move(place));
}

bool Waiting::wake(const Reader& reader, double now_s) {
  bool any = false;
  std::erase_if(places_, [&](const Place& place) {
    const bool ready = place.ticket > 0 && reader.done(place.ticket);
    if (!ready && now_s < place.until_s) return false;
    MHD_resume_connection(place.connection);
    any = true;
    return true;
  });
  return any;
}

void Waiting::wake_all() {
  for (const Place& place : places_) MHD_resume_connection(place.connection);
  places_.clear();
}

size_t Waiting::guesses_from(const std::string& address) const {
  return static_cast<size_t>(std::ranges::count_if(places_, [&address](const Place& place) {
    return !place.guesser.empty() && place.guesser == address;
  }));
}

double Waiting::next_s() const {
  double next_s = 1e300;
  for (const Place& place : places_) next_s = std::min(next_s, place.until_s);
  return next_s;
}

}  // namespace plateau
