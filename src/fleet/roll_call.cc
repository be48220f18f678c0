// SPDX-License-Identifier: Apache-2.0
#include "fleet/roll_call.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "fleet/preset.h"

namespace plateau::fleet {
namespace {

// Few values first: each is a part of a question.
constexpr std::array<std::string_view, 6> kLabels = {"cluster", "namespace", "job",
                                                     "node",    "instance",  "pod"};

class RollCall {
 public:
  RollCall(Database& database, const Question& question)
      : database_(database), question_(question) {}

  Reply run() {
    ask("", 0);
    return std::move(all_);
  }

 private:
  // Everybody that `matchers` leave, by the labels from `next` on if that is too much.
  void ask(const std::string& matchers, size_t next) {
    if (!all_.ok()) return;
    Reply reply =
        database_.series(question_.selector(matchers), question_.begin_s(), question_.end_s);
    if (reply.failure != Failure::too_much) {
      take(std::move(reply));
      return;
    }
    for (; next < kLabels.size(); ++next) {
      const std::vector<std::string> values = values_of(kLabels.at(next), matchers);
      if (values.size() < 2) continue;
      ask_halves(matchers, values, next);
      std::string others = matcher_of(kLabels.at(next), values);
      others.replace(others.find("=~"), 2, "!~");
      ask(joined(matchers, others), next + 1);
      return;
    }
    take(std::move(reply));
  }

  void ask_halves(const std::string& matchers, std::span<const std::string> values, size_t label) {
    const size_t half = values.size() / 2;
    for (const std::span<const std::string> part : {values.first(half), values.subspan(half)}) {
      if (!all_.ok()) return;
      const std::string some = joined(matchers, matcher_of(kLabels.at(label), part));
      if (part.size() == 1) {
        ask(some, label + 1);
        continue;
      }
      Reply reply =
          database_.series(question_.selector(some), question_.begin_s(), question_.end_s);
      if (reply.failure == Failure::too_much) {
        ask_halves(matchers, part, label);
      } else {
        take(std::move(reply));
      }
    }
  }

  [[nodiscard]] std::vector<std::string> values_of(std::string_view label,
                                                   const std::string& matchers) {
    const Reply reply = database_.query(
        fmt::format("count by({})({})", label, question_.selector(matchers)), question_.end_s);
    std::vector<std::string> values;
    values.reserve(reply.answer.series.size());
    for (const RawSeries& each : reply.answer.series) values.emplace_back(each.labels.of(label));
    return values;
  }

  static std::string joined(const std::string& matchers, const std::string& more) {
    return matchers.empty() ? more : matchers + "," + more;
  }

  void take(Reply reply) {
    if (!reply.ok()) {
      all_ = std::move(reply);
      return;
    }
    const auto append = [](auto& from, auto& to) {
      to.insert(to.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
    };
    append(reply.answer.series, all_.answer.series);
    append(reply.answer.warnings, all_.answer.warnings);
  }

  Database& database_;
  const Question& question_;
  Reply all_;
};

}  // namespace

Reply roll_call(Database& database, const Question& question) {
  return RollCall(database, question).run();
}

}  // namespace plateau::fleet
