// SPDX-License-Identifier: Apache-2.0
#include "words/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "words/last_words_table.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// The key that explains a number, by its name in a finding; numbers not listed are part of the
// evidence and explained there.
struct FieldOf {
  std::string_view name;
  std::string_view field;
};
constexpr std::array kFields = std::to_array<FieldOf>({
    {"rate_mb_per_step", "growth.rate_mb_per_step"},
    {"rate_low", "growth.rate_low"},
    {"rate_high", "growth.rate_high"},
    {"first_mb", "first_mb"},
    {"last_mb", "last_mb"},
    {"first_step", "steps.first"},
    {"last_step", "steps.last"},
    {"settled_step", "settled.step"},
    {"settled_mb", "settled.mb"},
    {"epoch_steps", "epoch_steps"},
    {"mb_per_example", "mb_per_example"},
    {"plateau_mb", "forecast.plateau_mb"},
    {"limit_mb", "risk.limit_mb"},
    {"limit_step", "risk.at_step"},
    {"samples", "samples"},
    {"spikes", "spikes.count"},
    {"height_mb", "spikes.height_mb"},
    {"max_mb", "highest_mb"},
    {"weight", "explanations[].weight"},
    {"sigma_mb", "explanations[].for"},
    {"odds", "explanations[].against"},
    {"one_off_steps", "explanations[].against"},
    {"since_step", "explanations[].for"},
    {"expected_mb", "explanations[].against"},
    {"seen_mb", "explanations[].for"},
    {"share", "processes[].share"},
});

std::string_view field_of(std::string_view name) {
  for (const FieldOf& each : kFields) {
    if (each.name == name) return each.field;
  }
  return "evidence[]";
}

// Where a slot's value comes from: prepared texts, or the numbers and names of a finding.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::optional<Fragment> value(std::string_view name) const = 0;
  [[nodiscard]] virtual std::optional<Fragment> pair(std::string_view from, std::string_view to,
                                                     bool range) const = 0;
  [[nodiscard]] virtual std::optional<double> number(std::string_view name) const = 0;
};

class SlotSource final : public Source {
 public:
  explicit SlotSource(const std::vector<Slot>& slots) : slots_(slots) {}
  [[nodiscard]] std::optional<Fragment> value(std::string_view name) const override {
    for (const Slot& slot : slots_) {
      if (slot.name == name && !slot.text.empty()) return Fragment{slot.text, slot.field};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Fragment> pair(std::string_view, std::string_view,
                                             bool) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> number(std::string_view name) const override {
    const std::optional<Fragment> found = value(name);
    if (!found) return std::nullopt;
    return found->text == "1" ? 1 : 2;
  }

 private:
  const std::vector<Slot>& slots_;
};

class FindingSource final : public Source {
 public:
  FindingSource(const Finding& finding, const Telling& telling)
      : finding_(finding), telling_(telling) {}

  [[nodiscard]] std::optional<Fragment> value(std::string_view name) const override {
    if (const Number* number = finding_.number(name)) {
      return Fragment{formatted(*number), field_of(name)};
    }
    if (const Name* found = finding_.named(name); found != nullptr && !found->text.empty()) {
      return Fragment{told(*found), ""};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Fragment> pair(std::string_view from, std::string_view to,
                                             bool range) const override {
    const Number* low = finding_.number(from);
    const Number* high = finding_.number(to);
    if (low == nullptr || high == nullptr) return std::nullopt;
    const bool memory = low->unit == Unit::mb && !telling_.counts;
    std::string text;
    if (low->unit == Unit::rate) {
      text = rate_range_phrase(telling_.clock, {low->value, high->value});
    } else if (memory) {
      text =
          range ? range_phrase({low->value, high->value}) : from_to_phrase(low->value, high->value);
    } else {
      text = formatted(*low) + (range ? "–" : " → ") + formatted(*high);
    }
    return Fragment{std::move(text), field_of(from)};
  }
  [[nodiscard]] std::optional<double> number(std::string_view name) const override {
    const Number* found = finding_.number(name);
    if (found == nullptr) return std::nullopt;
    return found->value;
  }

 private:
  [[nodiscard]] std::string formatted(const Number& number) const {
    const double value = number.value;
    switch (number.unit) {
      case Unit::mb:
        return telling_.counts ? count_phrase(value) : format_mb(value);
      case Unit::change:
        return telling_.counts ? (value < 0 ? "" : "+") + count_phrase(value)
                               : format_mb_signed(value);
      case Unit::rate:
        return rate_phrase(telling_.clock, value);
      case Unit::moment:
        return moment_phrase(telling_.clock, value);
      case Unit::length:
        return length_phrase(telling_.clock, value);
      case Unit::count:
        return count_phrase(value);
      case Unit::share:
        return percent_phrase(value);
      case Unit::ratio:
        return fmt::format("{:.1f}", value);
    }
    return "?";
  }
  [[nodiscard]] std::string told(const Name& name) const {
    if (name.kind == NameKind::text) return name.text;
    if (name.kind == NameKind::message) return std::string(last_words_told(name.text).meaning);
    if (name.kind == NameKind::remedy) return std::string(last_words_told(name.text).remedy);
    for (const Explanation& each : telling_.explanations) {
      if (each.name == name.text) return explanation_phrase(each, telling_.clock);
    }
    return name.text;
  }

  const Finding& finding_;
  const Telling& telling_;
};

void add_words(Sentence& sentence, std::string_view text) {
  if (text.empty()) return;
  if (sentence.empty() || !sentence.back().field.empty()) sentence.push_back({"", ""});
  sentence.back().text += text;
}

class Filler {
 public:
  Filler(std::string_view pattern, const Source& source) : rest_(pattern), source_(source) {}

  // Fills until the end or a closing bracket. False: a slot directly in it has no value.
  bool fill(Sentence& out, bool optional) {
    bool complete = true;
    while (!rest_.empty() && rest_.front() != ']') {
      const size_t special = std::min(rest_.find_first_of("{[]"), rest_.size());
      add_words(out, rest_.substr(0, special));
      rest_.remove_prefix(special);
      if (rest_.empty()) break;
      if (rest_.front() == '[') {
        rest_.remove_prefix(1);
        Sentence part;
        const bool whole = fill(part, true);
        rest_.remove_prefix(std::min<size_t>(1, rest_.size()));
        if (whole) append_as_is(out, part);
      } else if (rest_.front() == '{') {
        const size_t close = std::min(rest_.find('}'), rest_.size() - 1);
        complete = slot(rest_.substr(1, close - 1), out, optional) && complete;
        rest_.remove_prefix(close + 1);
      }
    }
    return complete;
  }

 private:
  static void append_as_is(Sentence& out, const Sentence& part) {
    for (const Fragment& fragment : part) {
      if (fragment.field.empty()) {
        add_words(out, fragment.text);
      } else {
        out.push_back(fragment);
      }
    }
  }

  bool slot(std::string_view inside, Sentence& out, bool optional) {
    if (const size_t colon = inside.find(':'); colon != std::string_view::npos) {
      const std::optional<double> number = source_.number(inside.substr(0, colon));
      const std::string_view forms = inside.substr(colon + 1);
      const size_t bar = std::min(forms.find('|'), forms.size());
      const std::string_view form =
          number == 1 ? forms.substr(0, bar) : forms.substr(std::min(bar + 1, forms.size()));
      const size_t place = std::min(form.find('#'), form.size());
      add_words(out, form.substr(0, place));
      if (place < form.size()) {
        slot(inside.substr(0, colon), out, optional);
        add_words(out, form.substr(place + 1));
      }
      return number.has_value();
    }
    const size_t joint = inside.find_first_of(">-");
    const std::optional<Fragment> found =
        joint == std::string_view::npos
            ? source_.value(inside)
            : source_.pair(inside.substr(0, joint), inside.substr(joint + 1), inside[joint] == '-');
    if (found && found->field.empty()) {
      add_words(out, found->text);
    } else if (found) {
      out.push_back(*found);
    } else if (!optional) {
      add_words(out, "?");
    }
    return found.has_value();
  }

  std::string_view rest_;
  const Source& source_;
};

Sentence filled(std::string_view pattern, const Source& source) {
  Sentence sentence;
  Filler(pattern, source).fill(sentence, false);
  return sentence;
}

}  // namespace

std::string plain(const Sentence& sentence) {
  std::string text;
  for (const Fragment& fragment : sentence) text += fragment.text;
  return text;
}

Sentence fill(std::string_view pattern, const std::vector<Slot>& slots) {
  return filled(pattern, SlotSource(slots));
}

Sentence fill(std::string_view pattern, const Finding& finding, const Telling& telling) {
  return filled(pattern, FindingSource(finding, telling));
}

std::string explanation_phrase(const Explanation& explanation, Clock clock) {
  if (explanation.phrase.empty()) return explanation.name;
  return plain(fill(explanation.phrase, {{"when", moment_phrase(clock, explanation.when), ""},
                                         {"end", moment_phrase(clock, explanation.end), ""}}));
}

void append(Sentence& sentence, const Sentence& more) {
  if (more.empty()) return;
  if (!sentence.empty()) add_words(sentence, " ");
  sentence.insert(sentence.end(), more.begin(), more.end());
}

Sentence as_sentence(Sentence sentence) {
  if (sentence.empty()) return sentence;
  std::string& first = sentence.front().text;
  if (sentence.front().field.empty() && !first.empty() && first[0] >= 'a' && first[0] <= 'z') {
    first[0] = static_cast<char>(first[0] - 32);
  }
  return ended(std::move(sentence));
}

Sentence ended(Sentence sentence) {
  const std::string& last = sentence.back().text;
  if (last.empty() || std::string_view(".!?:").find(last.back()) == std::string_view::npos) {
    add_words(sentence, ".");
  }
  return sentence;
}

Sentence as_clause(Sentence sentence) {
  if (sentence.empty()) return sentence;
  std::string& first = sentence.front().text;
  const bool word = first.size() > 1 && first[1] >= 'a' && first[1] <= 'z';
  if (sentence.front().field.empty() && word && first[0] >= 'A' && first[0] <= 'Z') {
    first[0] = static_cast<char>(first[0] + 32);
  }
  std::string& last = sentence.back().text;
  if (last.ends_with('.')) last.pop_back();
  if (last.empty()) sentence.pop_back();
  return sentence;
}

}  // namespace plateau
