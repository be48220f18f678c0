// SPDX-License-Identifier: Apache-2.0
// Whatever arrives on the socket: words that are accepted keep the promises of their header.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "session/step_words.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

void check(const plateau::StepWords& words) {
  using Kind = plateau::StepWords::Kind;
  require(words.pid == -1 || words.pid > 0);
  require(words.name.size() <= 4096);
  for (const char c : words.name) require(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
  if (words.kind == Kind::step) require(words.step >= 0);
  require(std::isnan(words.epoch) || (words.epoch >= 0 && std::isfinite(words.epoch)));
  if (words.kind == Kind::gauge) require(std::isfinite(words.value));
  if (words.kind != Kind::run && words.kind != Kind::step) require(!words.name.empty());
  for (const plateau::FactKind& kind : plateau::kFacts) {
    const auto& fact = words.facts.*kind.field;
    require(!fact || (fact->value > 0 && std::isfinite(fact->value)));
    require(!fact || (!fact->source.empty() && fact->source.size() <= 200));
  }
}

// What is passed on to another watcher means the same there.
void check_passed_on(const plateau::StepWords& words) {
  const auto again = plateau::parse_step_words(plateau::format_step_words(words));
  // A name may end in what looks like a sender; a step or a fact may not.
  if (words.kind != plateau::StepWords::Kind::run) return;
  require(again.has_value() && again->from_auto == words.from_auto && again->pid == words.pid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto words =
      plateau::parse_step_words(std::string_view(reinterpret_cast<const char*>(data), size));
  if (words) check(*words);
  if (words) check_passed_on(*words);
  return 0;
}
