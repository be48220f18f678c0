// SPDX-License-Identifier: Apache-2.0
// The process that pushes for a watcher: takes letters from a socket, keeps what is to be sent in
// the spool, and sends it, in order, for as long as it takes.
//
// The watcher never waits for any of this; it writes to the socket what the socket takes
// (letters.h). Two threads: one reads letters and puts them on the disk, however long the receiver
// takes over an answer; the other sends. When the other side of the socket closes, because the job
// is over or the watcher was killed, sending goes on for `farewell_s` at most; what is left stays
// in the spool for the next one who pushes to the same address.
//
// Remarks for the user go back through the socket, each kind once: an outage and its end, a refusal
// by status, samples that were dropped, a disk that takes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "http/client.h"
#include "push/spool.h"

namespace plateau::push {

// How figures are told.
enum class Format : uint8_t {
  remote_write,  // Prometheus's, version 1: compressed by snappy.
  otlp,          // OpenTelemetry's, as JSON.
};

struct CourierOptions {
  Format format = Format::remote_write;
  std::string url;       // Empty: nothing is pushed.
  HttpRequest identity;  // Headers and certificates of each request.
  std::string spool;     // The directory for this address.
  uint64_t spool_bytes = 0;
  std::string textfile;  // Empty: none.
  double request_s = 30;
  double farewell_s = 10;
};

class Courier {
 public:
  // Fails if libcurl is missing or the spool cannot be made.
  static Result<Courier> prepare(const CourierOptions& options);

  // Until the other side of `socket` has closed and the farewell is over. Once. Threads may still
  // run when it returns: the process is to end then.
  void run(Fd socket);

 private:
  struct Inside;
  explicit Courier(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
  std::shared_ptr<Inside> inside_;
};

// Puts `text` at `path` in one step: whoever reads it finds the old or the new one, whole. "" or
// what went wrong. For all to read: node-exporter is another user.
std::string replace_textfile(const std::string& path, const std::string& text);

}  // namespace plateau::push
