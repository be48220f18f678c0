// SPDX-License-Identifier: Apache-2.0
#include "import/text_context.h"

#include "base/text.h"

namespace plateau {
namespace {

struct Phrase {
  std::string_view words;  // Lower case.
  FactField fact;          // nullptr: not one yet, but
  size_t factor = 0;       // this factor of the batch.
};

// Longer phrases stand before those they contain.
constexpr Phrase kPhrases[] = {
    {"num examples", &Context::examples},
    {"num train examples", &Context::examples},
    {"num training examples", &Context::examples},
    {"number of examples", &Context::examples},
    {"number of training examples", &Context::examples},
    {"training examples", &Context::examples},
    {"train examples", &Context::examples},
    {"total train batch size", &Context::batch},
    {"total batch size", &Context::batch},
    {"effective batch size", &Context::batch},
    {"global batch size", &Context::batch},
    {"total optimization steps", &Context::total_steps},
    {"total training steps", &Context::total_steps},
    {"total train steps", &Context::total_steps},
    {"total steps", &Context::total_steps},
    {"steps per epoch", &Context::epoch_steps},
    {"batch size per device", nullptr, 0},
    {"gradient accumulation steps", nullptr, 1},
};

// The number after the phrase: a colon or an equals sign outside brackets, then digits.
double value_after(std::string_view line, size_t at) {
  int depth = 0;
  for (; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && (c == '=' || c == ':')) break;
    if (depth == 0 && (c == '|' || c == ',' || c == ';')) return 0;
  }
  ++at;
  while (at < line.size() && (line[at] == ' ' || line[at] == '*' || line[at] == '\t')) ++at;
  if (at >= line.size() || !is_digit(line[at])) return 0;
  double value = 0;
  for (; at < line.size() && (is_digit(line[at]) || line[at] == ','); ++at) {
    if (line[at] != ',') value = value * 10 + (line[at] - '0');
  }
  const bool fraction = at + 1 < line.size() && line[at] == '.' && is_digit(line[at + 1]);
  return !fraction && value < 1e15 ? value : 0;
}

}  // namespace

void TextContext::read(std::string_view line, const std::function<void(FactField, double)>& found) {
  line = line.substr(0, 1000);
  for (const Phrase& phrase : kPhrases) {
    const size_t at = find_ignoring_case(line, phrase.words);
    if (at == std::string_view::npos) continue;
    const double value = value_after(line, at + phrase.words.size());
    if (value < 1) continue;
    if (phrase.fact == nullptr) {
      factors_[phrase.factor] = value;
      continue;
    }
    has_total_batch_ = has_total_batch_ || phrase.fact == &Context::batch;
    found(phrase.fact, value);
  }
  if (!has_total_batch_ && factors_[0] > 0 && factors_[1] > 0) {
    found(&Context::batch, factors_[0] * factors_[1]);
  }
}

}  // namespace plateau
