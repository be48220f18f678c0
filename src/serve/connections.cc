// SPDX-License-Identifier: Apache-2.0
#include "serve/connections.h"

#include <sys/socket.h>

#include <algorithm>

namespace plateau {

Connections::Connection* Connections::arrive(int socket, double now_s) {
  const auto place = connections_.emplace(connections_.end());
  place->socket = socket;
  place->since_s = now_s;
  place->place = place;
  if (connections_.size() > kMost - kSpare) make_room();
  return &*place;
}

void Connections::leave(Connection* connection) {
  connections_.erase(connection->place);
}

void Connections::note(Connection& connection, Doing doing, double now_s) {
  connection.doing = doing;
  connection.since_s = now_s;
}

void Connections::shut(Connection& connection) {
  if (!connection.shut) shutdown(connection.socket, SHUT_RDWR);
  connection.shut = true;
}

// Of those that ask nothing the one that has waited longest; never the newcomer.
void Connections::make_room() {
  Connection* oldest = nullptr;
  for (Connection& connection : connections_) {
    if (connection.doing != Doing::asking || connection.shut) continue;
    if (&connection == &connections_.back()) continue;
    if (oldest == nullptr || connection.since_s < oldest->since_s) oldest = &connection;
  }
  if (oldest != nullptr) shut(*oldest);
}

bool Connections::expire(double now_s, double ask_s, double answer_s) {
  bool any = false;
  for (Connection& connection : connections_) {
    if (connection.shut || connection.doing == Doing::streaming) continue;
    const double most_s = connection.doing == Doing::asking ? ask_s : answer_s;
    if (now_s - connection.since_s < most_s) continue;
    shut(connection);
    any = true;
  }
  return any;
}

}  // namespace plateau
