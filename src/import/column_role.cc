// SPDX-License-Identifier: Apache-2.0
#include "import/column_role.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text.h"
#include "base/units.h"

namespace plateau {
namespace {

using Kind = ColumnRole::Kind;

// The words of a name in lower case, joined by single spaces: "trainer/global_step" -> "trainer
// global step". Digits are separators too.
struct NameWords {
  std::string joined;
  WordBits bits = 0;
  double unit_mb = 0;
  bool percent = false;
};

NameWords words_of(std::string_view name) {
  NameWords words;
  for (size_t at = 0; at < name.size();) {
    if (name[at] == '%') words.percent = true;
    if (!is_letter(name[at])) {
      ++at;
      continue;
    }
    const size_t end = word_end(name, at);
    const std::string_view word = name.substr(at, end - at);
    if (!words.joined.empty()) words.joined.push_back(' ');
    for (const char c : word) words.joined.push_back(ascii_lower(c));
    const WordBits bits = word_bits(word);
    words.bits |= bits;
    if ((bits & kWordUnit) != 0) words.unit_mb = unit_in_mb(word).value_or(0);
    at = end;
  }
  return words;
}

struct Named {
  Kind kind;
  int rank;
  std::string_view names;  // Between commas.
};

// Names that mean one thing as a whole. Rank orders rivals: a wall-clock stamp beats an elapsed
// time, the optimizer's step beats a batch index.
constexpr Named kNamed[] = {
    {Kind::step, 9, "global step, trainer global step, train global step"},
    {Kind::step, 8, "step"},
    {Kind::step, 7, "train step"},
    {Kind::step, 6, "iteration, iter"},
    {Kind::step, 5, "it"},
    {Kind::step, 4, "batch, batch idx"},
    {Kind::time, 9, "t s"},
    {Kind::time, 8, "t, t ms"},
    {Kind::time, 7, "timestamp, timestamp s, timestamp ms, ts"},
    {Kind::time, 6, "datetime, date time, time, time s, time sec, time ms, wall time, walltime"},
    {Kind::time, 5, "date, elapsed, elapsed s, elapsed time, elapsed seconds, elapsed ms"},
    {Kind::time, 4, "runtime, relative time process"},
    {Kind::time, 3, "relative time wall, seconds, uptime"},
    {Kind::epoch, 9, "epoch"},
    {Kind::epoch, 8, "train epoch"},
    {Kind::event, 9, "event"},
    {Kind::event, 8, "mark"},
    {Kind::event, 7, "annotation"},
    {Kind::pid, 9, "pid"},
    {Kind::pid, 8, "process id"},
    {Kind::process, 9, "proc"},
    {Kind::process, 8, "process"},
    {Kind::process, 7, "rank"},
    {Kind::process, 6, "local rank"},
    {Kind::process, 5, "worker"},
    {Kind::parent, 9, "parent"},
    {Kind::parent, 8, "ppid, parent pid"},
    {Kind::name, 9, "name, process name"},
    {Kind::name, 8, "comm"},
    {Kind::name, 7, "command"},
    {Kind::name, 6, "cmd"},
    {Kind::name, 5, "cmdline"},
    {Kind::run, 9, "run"},
    {Kind::run, 8, "run id"},
};

// Beside "context.KEY", as write_tidy_csv() names them.
struct FactName {
  std::string_view words;
  FactField fact;
};
constexpr FactName kFactNames[] = {
    {"num examples, examples", &Context::examples},
    {"epoch steps, steps per epoch", &Context::epoch_steps},
    {"total steps, max steps", &Context::total_steps},
    {"limit mb, memory limit mb, limit bytes", &Context::limit_mb},
};

// nullptr if the words, joined by spaces, name none.
FactField fact_of(std::string_view words) {
  static constexpr std::string_view kOwn = "context ";
  if (words.starts_with(kOwn)) {
    std::string key(words.substr(kOwn.size()));
    std::replace(key.begin(), key.end(), ' ', '_');
    for (const FactKind& fact : kFacts) {
      if (fact.key == key && !fact.is_name()) return fact.field;
    }
  }
  for (const FactName& fact : kFactNames) {
    if (lists(fact.words, ", ", words)) return fact.fact;
  }
  return nullptr;
}

double time_scale_of(std::string_view words) {
  if (words.ends_with(" ms")) return 1e-3;
  if (words.ends_with(" us")) return 1e-6;
  if (words.ends_with(" ns")) return 1e-9;
  return 1;
}

// "pss_shmem_mb" and its like, as write_tidy_csv() names them: taken at their word, because no set
// of words tells pss_file from pss or shmem_unmapped from shmem.
std::optional<Metric> own_metric(std::string_view name) {
  static constexpr std::string_view kSuffix = "_mb";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  return metric_from_name(name.substr(0, name.size() - kSuffix.size()));
}

// What counts the work of a server, under the names that the verdict knows (verdict/load.h).
struct LoadName {
  std::string_view words;
  std::string_view gauge;
};
constexpr LoadName kLoadNames[] = {
    {"requests, requests per s, requests per sec, requests per second, req per s, req s, reqs, "
     "requests s, http requests, http requests per second, active requests",
     "requests"},
    {"rps", "rps"},
    {"qps, queries per second, queries per s", "qps"},
    {"in flight, inflight, requests in flight, inflight requests", "in_flight"},
    {"connections, active connections, open connections, current connections, conns",
     "connections"},
    {"sessions, active sessions, open sessions", "sessions"},
    {"clients, connected clients, active clients", "clients"},
    {"concurrency", "concurrency"},
};

// Empty if the words, joined by spaces, name none.
std::string_view load_of(std::string_view words) {
  for (const LoadName& load : kLoadNames) {
    if (lists(load.words, ", ", words)) return load.gauge;
  }
  return {};
}

}  // namespace

ColumnRole classify_column(std::string_view name) {
  name = trim(name);
  ColumnRole role;
  role.label = name.substr(0, 200);
  if (name.starts_with("gauge.") && name.size() > 6) {
    role.kind = Kind::gauge;
    role.label = role.label.substr(6);
    return role;
  }
  const NameWords words = words_of(name.substr(0, 400));
  if (const FactField fact = fact_of(words.joined); fact != nullptr) {
    role.kind = Kind::fact;
    role.fact = fact;
    role.unit_mb = words.unit_mb > 0 ? words.unit_mb : 1;
    return role;
  }
  for (const Named& named : kNamed) {
    if (!lists(named.names, ", ", words.joined)) continue;
    role.kind = named.kind;
    role.rank = named.rank;
    role.time_scale = time_scale_of(words.joined);
    return role;
  }
  if (lists("threads, num threads, nthreads, nlwp", ", ", words.joined)) {
    role.kind = Kind::gauge;
    role.label = "threads";
  } else if (const std::string_view load = load_of(words.joined); !load.empty()) {
    role.kind = Kind::gauge;
    role.label = load;
  } else if ((words.bits & kWordTensors) != 0 && (words.bits & kWordUnit) == 0) {
    role.kind = Kind::gauge;
    role.label = (words.bits & kWordCpu) != 0   ? "tensors.cpu"
                 : (words.bits & kWordGpu) != 0 ? "tensors.gpu"
                                                : "tensors";
  } else if (const auto own = own_metric(name)) {
    role.kind = Kind::memory;
    role.metric = *own;
    role.unit_mb = 1;
  } else if (const auto metric = metric_of(words.bits, words.unit_mb > 0);
             metric && !words.percent && (words.bits & (kWordStep | kWordEpoch)) == 0) {
    role.kind = Kind::memory;
    role.metric = *metric;
    role.unit_mb = words.unit_mb;
  }
  return role;
}

}  // namespace plateau
