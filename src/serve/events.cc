// SPDX-License-Identifier: Apache-2.0
#include "serve/events.h"

#include <microhttpd.h>

#include <algorithm>

namespace plateau {
namespace {

constexpr size_t kBlockBytes = 4096;
// A page that lost its server asks again after so long.
constexpr const char* kGreeting = "retry: 2000\n\n";
constexpr const char* kPing = ": ping\n\n";

}  // namespace

std::vector<std::string> EventStreams::runs() const {
  std::vector<std::string> ids;
  for (const Stream& stream : streams_) {
    if (std::find(ids.begin(), ids.end(), stream.run) == ids.end()) ids.push_back(stream.run);
  }
  return ids;
}

ssize_t EventStreams::read(void* stream, uint64_t /*position*/, char* to, size_t most) {
  Stream& self = *static_cast<Stream*>(stream);
  if (self.waiting.empty()) {
    if (self.ending) return MHD_CONTENT_READER_END_OF_STREAM;
    MHD_suspend_connection(self.connection);
    self.suspended = true;
    return 0;
  }
  const size_t size = std::min(most, self.waiting.size());
  std::copy_n(self.waiting.data(), size, to);
  self.waiting.erase(0, size);
  return static_cast<ssize_t>(size);
}

void EventStreams::forget(void* stream) {
  const Stream& self = *static_cast<Stream*>(stream);
  self.home->streams_.erase(self.place);
}

MHD_Response* EventStreams::open(MHD_Connection* connection, std::string run) {
  const auto place = streams_.emplace(streams_.end());
  place->home = this;
  place->place = place;
  place->connection = connection;
  place->run = std::move(run);
  place->waiting = kGreeting;
  MHD_Response* response =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kBlockBytes, &read, &*place, &forget);
  if (response == nullptr) streams_.erase(place);
  return response;
}

void EventStreams::wake(Stream& stream) {
  if (!stream.suspended) return;
  stream.suspended = false;
  MHD_resume_connection(stream.connection);
}

bool EventStreams::pump(const Catalogue& catalogue, double now_s) {
  bool woken = false;
  for (Stream& stream : streams_) {
    if (!stream.waiting.empty() || stream.ending) continue;
    const ServedRun* run = catalogue.find(stream.run);
    const RunFacts* facts = run == nullptr ? nullptr : &run->facts;
    if (facts != nullptr && facts->version != stream.version && facts->version > 0) {
      stream.run = facts->id;  // Whoever takes the newest stays with it.
      stream.version = facts->version;
      stream.waiting = "event: state\ndata: " + run->state + "\n\n";
    } else if (now_s - stream.told_s >= kPingS) {
      stream.waiting = kPing;
    } else {
      continue;
    }
    stream.told_s = now_s;
    wake(stream);
    woken = true;
  }
  return woken;
}

bool EventStreams::all_sent() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return stream.waiting.empty(); });
}

void EventStreams::end_all() {
  for (Stream& stream : streams_) {
    stream.ending = true;
    wake(stream);
  }
}

}  // namespace plateau
