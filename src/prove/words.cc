// SPDX-License-Identifier: Apache-2.0
#include "prove/words.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace plateau {
namespace {

constexpr std::string_view kMine = "prove ";
constexpr int64_t kMost = 1'000'000'000;  // Of any count: far beyond what a run has.
constexpr double kMostMb = 1e9;

// Looks a word "key=value" up. Lines are short, so each key is looked for anew.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  [[nodiscard]] std::optional<std::string_view> text(std::string_view key) const {
    std::string_view rest = text_;
    for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
      const size_t equals = word.find('=');
      if (equals != std::string_view::npos && word.substr(0, equals) == key) {
        return word.substr(equals + 1);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<int64_t> count(std::string_view key) const {
    const std::optional<std::string_view> word = text(key);
    const std::optional<int64_t> number = word ? parse_int(*word) : std::nullopt;
    return number && *number >= 0 && *number <= kMost ? number : std::nullopt;
  }

  [[nodiscard]] std::optional<double> mb() const {
    const std::optional<std::string_view> word = text("mb");
    const std::optional<double> number = word ? parse_double(*word) : std::nullopt;
    return number && std::isfinite(*number) && std::abs(*number) <= kMostMb ? number : std::nullopt;
  }

 private:
  std::string_view text_;
};

std::optional<ProveWords> state_of(const Words& words) {
  const std::optional<int64_t> at = words.count("at");
  const std::optional<std::string_view> kind = words.text("kind");
  const std::optional<int64_t> block = words.count("block");
  const std::optional<int64_t> place = words.count("place");
  const std::optional<int64_t> size = words.count("size");
  const std::optional<double> mb = words.mb();
  if (!at || !kind || kind->size() != 1 || !block || !place || !size || !mb) return std::nullopt;
  return ProveState{*at, kind->front(), *block, *place, *size, *mb};
}

std::optional<ProveWords> design_of(const Words& words) {
  ProveDesign design;
  design.stream = words.text("mode") == "stream";
  const std::optional<int64_t> size = words.count("size");
  if (!size) return std::nullopt;
  design.size = *size;
  design.lag = words.count("lag").value_or(0);
  design.ahead = words.count("ahead").value_or(0);
  design.batch = std::max<int64_t>(1, words.count("batch").value_or(1));
  design.examples = words.count("examples").value_or(0);
  design.read = words.text("read").value_or("");
  design.rank = words.text("rank").value_or("-");
  return design;
}

}  // namespace

std::optional<ProveWords> parse_prove_words(std::string_view mark) {
  if (!mark.starts_with(kMine)) return std::nullopt;
  mark.remove_prefix(kMine.size());
  const Words words(mark);
  if (mark.starts_with("design ")) return design_of(words);
  if (mark.starts_with("refused ")) {
    return ProveRefused{std::string(mark.substr(std::string_view("refused ").size()))};
  }
  if (mark.starts_with("skipped ")) {
    const std::optional<int64_t> saves = words.count("saves");
    return saves ? std::optional<ProveWords>(ProveSkipped{*saves}) : std::nullopt;
  }
  if (mark.starts_with("acted ")) {
    const std::optional<int64_t> times = words.count("times");
    return times ? std::optional<ProveWords>(ProveActed{*times}) : std::nullopt;
  }
  if (mark.starts_with("idle ")) {
    const std::optional<int64_t> block = words.count("block");
    return block ? std::optional<ProveWords>(ProveIdle{*block}) : std::nullopt;
  }
  if (mark.starts_with("wrote ")) {
    const std::optional<int64_t> files = words.count("files");
    std::string_view rest = mark;
    next_word(rest);
    next_word(rest);
    return files ? std::optional<ProveWords>(ProveWrote{*files, std::string(trim(rest))})
                 : std::nullopt;
  }
  if (mark.starts_with("over ")) return ProveOver{words.count("at").value_or(0)};
  return state_of(words);
}

}  // namespace plateau
