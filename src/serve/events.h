// SPDX-License-Identifier: Apache-2.0
// Server-sent events: who listens to which run, and what is still to be sent.
//
// A stream has at most one message waiting. While it has none its connection is suspended, which
// libmicrohttpd allows only from its callbacks, so a stream suspends itself when it is asked for
// bytes and has none, and pump() wakes it when there are some. A suspended connection does not
// notice that its client left; a comment every kPingS does. A client that does not read keeps its
// one message, and the library's timeout ends it. Every stream must be awake when the library is
// stopped: end_all().
//
// One thread. Streams are owned by the library's responses, which outlive none of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

#include "serve/catalogue.h"

struct MHD_Connection;
struct MHD_Response;

namespace plateau {

class EventStreams {
 public:
  static constexpr size_t kMost = 64;
  static constexpr double kPingS = 15;

  EventStreams() = default;
  EventStreams(const EventStreams&) = delete;
  EventStreams& operator=(const EventStreams&) = delete;

  [[nodiscard]] bool full() const { return streams_.size() >= kMost; }
  [[nodiscard]] size_t size() const { return streams_.size(); }
  // Ids of the runs that are listened to; "" for a stream that takes the newest.
  [[nodiscard]] std::vector<std::string> runs() const;

  // A response whose body never ends by itself; nullptr without memory. `run` as for
  // Catalogue::find.
  MHD_Response* open(MHD_Connection* connection, std::string run);

  // Queues what changed since, or a ping, and wakes those that have something to send. True if any
  // was woken: then MHD_run() must be called before waiting again.
  bool pump(const Catalogue& catalogue, double now_s);
  // Nothing is waiting to be sent.
  [[nodiscard]] bool all_sent() const;
  // Wakes every stream and lets it end.
  void end_all();

 private:
  struct Stream {
    EventStreams* home = nullptr;
    std::list<Stream>::iterator place;
    MHD_Connection* connection = nullptr;
    std::string run;
    std::string waiting;
    uint64_t version = 0;  // The last that was told.
    double told_s = 0;
    bool suspended = false;
    bool ending = false;
  };
  static ssize_t read(void* stream, uint64_t position, char* to, size_t most);
  static void forget(void* stream);
  void wake(Stream& stream);

  std::list<Stream> streams_;
};

}  // namespace plateau
