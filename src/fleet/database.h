// SPDX-License-Identifier: Apache-2.0
// Questions to a Prometheus-compatible database over its HTTP API, and what became of them.
//
// Prometheus, VictoriaMetrics, Thanos and Mimir answer the same three paths. Raw samples are asked
// for by an instant query with a range vector (`metric{...}[6h]`): query_range would invent samples
// between those that there are. A question that fails says why in a way that the asker can act on:
// ask for less, wait, or give up.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fleet/query_answer.h"
#include "http/client.h"

namespace plateau::fleet {

// Where the database is and who we are to it. Secrets come from files or the environment.
struct Access {
  std::string url;                   // "http://prometheus:9090", with or without a path.
  std::vector<std::string> headers;  // Authorization, tenant, ...
  std::string certificate_file;
  std::string key_file;
  std::string authority_file;
  double timeout_s = 120;          // As long as Prometheus itself tries.
  size_t most_bytes = 64UL << 20;  // Of one answer.
};

enum class Failure : uint8_t {
  none,
  unreachable,  // Nobody answers, or not to the end: wait and try again.
  too_much,     // Too large or too slow: ask for less.
  busy,         // Too many questions: wait, and ask for less.
  refused,      // It will not answer this, however often it is asked.
  garbled,      // What it says is no answer.
};

struct Reply {
  Failure failure = Failure::none;
  std::string message;  // One sentence, if it failed.
  QueryAnswer answer;
  [[nodiscard]] bool ok() const { return failure == Failure::none; }
};

// Sends a form to a path below the database's address. One thread at a time.
using Ask = std::function<Result<HttpAnswer>(const std::string& path, const std::string& form)>;
// Over HTTP; fails where libcurl is missing or the address is none.
Result<Ask> ask_over_http(const Access& access);

class Database {
 public:
  explicit Database(Ask ask) : ask_(std::move(ask)) {}

  // All label sets that had samples between the two times.
  Reply series(const std::string& selector, double begin_s, double end_s);
  Reply query(const std::string& expression, double at_s);
  Reply query_range(const std::string& expression, double begin_s, double end_s, double step_s);

 private:
  Reply ask(const std::string& path,
            const std::vector<std::pair<std::string, std::string>>& fields);
  Ask ask_;
};

// What an answer of this status means.
Failure failure_of(int status);

// "a=b&c=d" with everything but letters, digits and "-._~" escaped.
std::string form_of(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace plateau::fleet
