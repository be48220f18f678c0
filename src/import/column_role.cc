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
  std::string_view words;
  Kind kind;
  int rank;
};

// Names that mean one thing as a whole. Rank orders rivals: a wall-clock stamp beats an elapsed
// time, the optimizer's step beats a batch index.
constexpr Named kNamed[] = {
    {"global step", Kind::step, 9},
    {"trainer global step", Kind::step, 9},
    {"train global step", Kind::step, 9},
    {"step", Kind::step, 8},
    {"train step", Kind::step, 7},
    {"iteration", Kind::step, 6},
    {"iter", Kind::step, 6},
    {"it", Kind::step, 5},
    {"batch", Kind::step, 4},
    {"batch idx", Kind::step, 4},
    {"t s", Kind::time, 9},
    {"t", Kind::time, 8},
    {"t ms", Kind::time, 8},
    {"timestamp", Kind::time, 7},
    {"timestamp s", Kind::time, 7},
    {"timestamp ms", Kind::time, 7},
    {"ts", Kind::time, 7},
    {"datetime", Kind::time, 6},
    {"date time", Kind::time, 6},
    {"time", Kind::time, 6},
    {"time s", Kind::time, 6},
    {"time sec", Kind::time, 6},
    {"time ms", Kind::time, 6},
    {"wall time", Kind::time, 6},
    {"walltime", Kind::time, 6},
    {"date", Kind::time, 5},
    {"elapsed", Kind::time, 5},
    {"elapsed s", Kind::time, 5},
    {"elapsed time", Kind::time, 5},
    {"elapsed seconds", Kind::time, 5},
    {"elapsed ms", Kind::time, 5},
    {"runtime", Kind::time, 4},
    {"relative time process", Kind::time, 4},
    {"relative time wall", Kind::time, 3},
    {"seconds", Kind::time, 3},
    {"uptime", Kind::time, 3},
    {"epoch", Kind::epoch, 9},
    {"train epoch", Kind::epoch, 8},
    {"event", Kind::event, 9},
    {"mark", Kind::event, 8},
    {"annotation", Kind::event, 7},
    {"pid", Kind::pid, 9},
    {"process id", Kind::pid, 8},
    {"proc", Kind::process, 9},
    {"process", Kind::process, 8},
    {"rank", Kind::process, 7},
    {"local rank", Kind::process, 6},
    {"worker", Kind::process, 5},
    {"parent", Kind::parent, 9},
    {"ppid", Kind::parent, 8},
    {"parent pid", Kind::parent, 8},
    {"name", Kind::name, 9},
    {"comm", Kind::name, 8},
    {"command", Kind::name, 7},
    {"cmd", Kind::name, 6},
    {"cmdline", Kind::name, 5},
    {"process name", Kind::name, 9},
    {"run", Kind::run, 9},
    {"run id", Kind::run, 8},
};

// Beside "context.KEY", as write_tidy_csv() names them.
struct FactName {
  std::string_view words;
  FactField fact;
};
constexpr FactName kFactNames[] = {
    {"num examples", &Context::examples},   {"examples", &Context::examples},
    {"epoch steps", &Context::epoch_steps}, {"steps per epoch", &Context::epoch_steps},
    {"total steps", &Context::total_steps}, {"max steps", &Context::total_steps},
    {"limit mb", &Context::limit_mb},       {"memory limit mb", &Context::limit_mb},
    {"limit bytes", &Context::limit_mb},
};

// nullptr if the words, joined by spaces, name none.
FactField fact_of(std::string_view words) {
  static constexpr std::string_view kOwn = "context ";
  if (words.starts_with(kOwn)) {
    std::string key(words.substr(kOwn.size()));
    std::replace(key.begin(), key.end(), ' ', '_');
    for (const FactKind& fact : kFacts) {
      if (fact.key == key) return fact.field;
    }
  }
  for (const FactName& fact : kFactNames) {
    if (words == fact.words) return fact.fact;
  }
  return nullptr;
}

double time_scale_of(std::string_view words) {
  if (words.ends_with(" ms")) return 1e-3;
  if (words.ends_with(" us")) return 1e-6;
  if (words.ends_with(" ns")) return 1e-9;
  return 1;
}

bool is_thread_gauge(std::string_view words) {
  return words == "threads" || words == "num threads" || words == "nthreads" || words == "nlwp";
}

// "pss_shmem_mb" and its like, as write_tidy_csv() names them: taken at their word, because no set
// of words tells pss_file from pss or shmem_unmapped from shmem.
std::optional<Metric> own_metric(std::string_view name) {
  static constexpr std::string_view kSuffix = "_mb";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  return metric_from_name(name.substr(0, name.size() - kSuffix.size()));
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
    if (words.joined != named.words) continue;
    role.kind = named.kind;
    role.rank = named.rank;
    role.time_scale = time_scale_of(words.joined);
    return role;
  }
  if (is_thread_gauge(words.joined)) {
    role.kind = Kind::gauge;
    role.label = "threads";
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
