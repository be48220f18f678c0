// SPDX-License-Identifier: Apache-2.0
#include "session/step_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace plateau {
namespace {

constexpr size_t kMaxBytes = 4096;
constexpr size_t kMaxSourceBytes = 200;
constexpr std::string_view kAuto = "auto";
// First on each line, by StepWords::Kind.
constexpr std::array<std::string_view, 7> kVerbs = {"run",   "step", "begin",    "end",
                                                    "gauge", "mark", "subscribe"};

struct KeyValue {
  std::string_view key, value;
};

// "epoch=1.45" as its two halves; an empty key for a word without '='.
KeyValue split_pair(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::optional<double> finite(std::string_view text) {
  const auto number = parse_double(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// A pid that the kernel could have given; -1 for anything else.
int64_t pid_of(std::string_view text) {
  constexpr int64_t kMaxPid = int64_t{1} << 22;
  const auto pid = parse_int(text);
  return pid && *pid > 0 && *pid <= kMaxPid ? *pid : -1;
}

// Takes the last word off `rest` if `taken` takes its key and value. Any other last word stays.
template <typename Taken>
bool take_last(std::string_view& rest, const Taken& taken) {
  const std::string_view text = trim(rest);
  const size_t space = text.find_last_of(" \t");
  const size_t start = space == std::string_view::npos ? 0 : space + 1;
  const auto [key, value] = split_pair(text.substr(start));
  if (!taken(key, value)) return false;
  rest = trim(text.substr(0, start));
  return true;
}

// "from=auto" and "pid=N", in any order, at the end of every kind of line.
void take_sender(std::string_view& rest, StepWords& words) {
  const auto taken = [&words](std::string_view key, std::string_view value) {
    if (key == "from" && value == kAuto) return words.from_auto = true;
    if (key != "pid" || words.pid > 0) return false;
    words.pid = pid_of(value);
    return words.pid > 0;
  };
  while (take_last(rest, taken)) {
  }
}

// "the_DataLoader:_663_examples" as words for a reader.
std::string source_of(std::string_view text) {
  std::string words(text.substr(0, kMaxSourceBytes));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

void read_facts(std::string_view rest, StepWords& words) {
  std::string source(StepWords::kSource);
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const auto [key, value] = split_pair(word);
    if (key == "source" && !value.empty()) source = source_of(value);
    const auto number = finite(value);
    if (!number || *number < 0) continue;
    for (const FactKind& fact : kFacts) {
      if (!fact.loop_says || key != fact.key || (*number == 0 && !fact.may_be_zero())) continue;
      words.facts.*fact.field = Fact{*number, ""};
    }
  }
  for (const FactKind& fact : kFacts) {
    if (words.facts.*fact.field) (words.facts.*fact.field)->source = source;
  }
}

bool read_step(std::string_view rest, StepWords& words) {
  const auto step = parse_int(next_word(rest));
  if (!step || *step < 0) return false;
  words.step = *step;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    const auto [key, value] = split_pair(word);
    const auto number = finite(value);
    if (key == "epoch" && number && *number >= 0) words.epoch = *number;
  }
  return true;
}

bool read_gauge(std::string_view rest, StepWords& words) {
  words.name = next_word(rest);
  const auto value = finite(next_word(rest));
  if (value) words.value = *value;
  return value && !words.name.empty();
}

// What follows the verb of a line; false if it is not what that verb needs.
bool read_rest(std::string_view rest, StepWords& words) {
  switch (words.kind) {
    case StepWords::Kind::run:
      read_facts(rest, words);
      return true;
    case StepWords::Kind::step:
      return read_step(rest, words);
    case StepWords::Kind::gauge:
      return read_gauge(rest, words);
    case StepWords::Kind::begin:
    case StepWords::Kind::end:
      words.name = next_word(rest);
      return !words.name.empty();
    case StepWords::Kind::mark:
      words.name = trim(rest);
      return !words.name.empty();
    case StepWords::Kind::subscribe:
      // Only a path from the root: a relative one would be ours, not the sender's.
      words.name = trim(rest);
      return words.name.starts_with('/');
  }
  return false;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

std::optional<StepWords> parse_step_words(std::string_view line) {
  std::string_view rest = trim(line.substr(0, kMaxBytes));
  // A line of text has no control characters but tabs; names go to terminals and pages later.
  if (std::any_of(rest.begin(), rest.end(), [](char c) { return is_control(c) && c != '\t'; })) {
    return std::nullopt;
  }
  const auto* verb = std::find(kVerbs.begin(), kVerbs.end(), next_word(rest));
  if (verb == kVerbs.end()) return std::nullopt;
  StepWords words;
  words.kind = static_cast<StepWords::Kind>(verb - kVerbs.begin());
  take_sender(rest, words);
  return read_rest(rest, words) ? std::optional(std::move(words)) : std::nullopt;
}

namespace {

// The facts of `words` that have `source`, as one line without its end.
std::string facts_line(const StepWords& words, std::string_view source) {
  std::string line(kVerbs[static_cast<size_t>(StepWords::Kind::run)]);
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = words.facts.*kind.field;
    if (fact && fact->source == source) line += fmt::format(" {}={}", kind.key, fact->value);
  }
  if (source == StepWords::kSource) return line;
  std::string joined(source);
  std::replace(joined.begin(), joined.end(), ' ', '_');
  return line + " source=" + joined;
}

// Who said it: " from=auto pid=4242".
std::string sender_of(const StepWords& words) {
  std::string text = words.from_auto ? fmt::format(" from={}", kAuto) : "";
  if (words.pid > 0) text += fmt::format(" pid={}", words.pid);
  return text;
}

std::string format_facts(const StepWords& words) {
  std::vector<std::string_view> sources;
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = words.facts.*kind.field;
    if (fact && std::find(sources.begin(), sources.end(), fact->source) == sources.end()) {
      sources.push_back(fact->source);
    }
  }
  if (sources.empty()) sources.push_back(StepWords::kSource);
  std::string lines;
  for (const std::string_view source : sources) {
    lines += (lines.empty() ? "" : "\n") + facts_line(words, source) + sender_of(words);
  }
  return lines;
}

}  // namespace

std::string format_step_words(const StepWords& words) {
  if (words.kind == StepWords::Kind::run) return format_facts(words);
  std::string line(kVerbs[static_cast<size_t>(words.kind)]);
  if (words.kind == StepWords::Kind::step) {
    line += fmt::format(" {}", words.step);
    if (std::isfinite(words.epoch)) line += fmt::format(" epoch={}", words.epoch);
  } else {
    line += " " + words.name;
    if (words.kind == StepWords::Kind::gauge) line += fmt::format(" {}", words.value);
  }
  return line + sender_of(words);
}

}  // namespace plateau
