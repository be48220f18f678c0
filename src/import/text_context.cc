// SPDX-License-Identifier: Apache-2.0
#include "import/text_context.h"

#include "base/text.h"

namespace plateau {
namespace {

enum class What { examples, batch, total_steps, epoch_steps, per_device, accumulation };

struct Phrase {
  std::string_view words;  // Lower case.
  What what;
};

// Longer phrases stand before those they contain.
constexpr Phrase kPhrases[] = {
    {"num examples", What::examples},
    {"num train examples", What::examples},
    {"num training examples", What::examples},
    {"number of examples", What::examples},
    {"number of training examples", What::examples},
    {"training examples", What::examples},
    {"train examples", What::examples},
    {"total train batch size", What::batch},
    {"total batch size", What::batch},
    {"effective batch size", What::batch},
    {"global batch size", What::batch},
    {"total optimization steps", What::total_steps},
    {"total training steps", What::total_steps},
    {"total train steps", What::total_steps},
    {"total steps", What::total_steps},
    {"steps per epoch", What::epoch_steps},
    {"batch size per device", What::per_device},
    {"gradient accumulation steps", What::accumulation},
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
    switch (phrase.what) {
      case What::examples:
        found(&Context::examples, value);
        break;
      case What::batch:
        has_total_batch_ = true;
        found(&Context::batch, value);
        break;
      case What::total_steps:
        found(&Context::total_steps, value);
        break;
      case What::epoch_steps:
        found(&Context::epoch_steps, value);
        break;
      case What::per_device:
        per_device_ = value;
        break;
      case What::accumulation:
        accumulation_ = value;
        break;
    }
  }
  if (!has_total_batch_ && per_device_ > 0 && accumulation_ > 0) {
    found(&Context::batch, per_device_ * accumulation_);
  }
}

}  // namespace plateau
