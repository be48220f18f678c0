// SPDX-License-Identifier: Apache-2.0
#include "fleet/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <tuple>

#include "base/units.h"
#include "fleet/closeup.h"
#include "fleet/roll_call.h"

namespace plateau::fleet {
namespace {

// The first shards are small: they tell how many samples a series has.
constexpr size_t kFirstSeries = 20;
constexpr double kLongestPauseS = 8;
// Who is busy is asked the same again after a pause, and then for less.
constexpr int kTriesBeforeLess = 2;
constexpr size_t kMostTroubles = 5;  // Sentences; the rest are counted.
// After as many shards in a row that nobody answered, nobody will.
constexpr size_t kGoneAfter = 3;

struct Task {
  Shard shard;
  int tries = 0;
};

class Round {
 public:
  explicit Round(RoundOptions& options) : options_(options) {}

  void add_shards(std::vector<Shard> shards) {
    for (Shard& shard : shards) {
      series_in_all_ += shard.series();
      tasks_.push_back({std::move(shard)});
    }
  }

  // Until nothing is left to do. Several threads run this.
  void work(Ask ask) {
    Database database(std::move(ask));
    while (std::optional<Task> task = take()) {
      ShardOutcome outcome = pull_shard(database, options_.question, task->shard);
      finish(std::move(*task), std::move(outcome));
    }
  }

  FleetAnswer answer() {
    FleetAnswer answer = std::move(answer_);
    answer.troubles = told(troubles_);
    answer.warnings = told(warnings_);
    answer.series_judged = verdicts_.size();
    answer.most_false = options_.most_false;
    answer.window_s = options_.question.window_s;
    answer.end_s = options_.question.end_s;
    // Whichever thread was first: the answer is the same.
    std::sort(verdicts_.begin(), verdicts_.end(),
              [](const SeriesVerdict& a, const SeriesVerdict& b) {
                return std::tie(a.name.cluster, a.name.space, a.name.workload, a.name.member,
                                a.name.container, a.name.version, a.first_s) <
                       std::tie(b.name.cluster, b.name.space, b.name.workload, b.name.member,
                                b.name.container, b.name.version, b.first_s);
              });
    find(verdicts_, answer);
    return answer;
  }

 private:
  std::optional<Task> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !tasks_.empty() || running_ == 0; });
    if (tasks_.empty()) return std::nullopt;
    if (gone_ >= kGoneAfter || (options_.stopped && options_.stopped())) {
      for (const Task& task : tasks_) answer_.series_failed += task.shard.series();
      tasks_.clear();
      changed_.notify_all();
      return std::nullopt;
    }
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    const double pause = task.tries == 0 ? 0 : options_.patience_s * std::exp2(task.tries - 1);
    lock.unlock();
    if (pause > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(pause, kLongestPauseS)));
    }
    return task;
  }

  void finish(Task task, ShardOutcome outcome) {
    const std::scoped_lock lock(mutex_);
    --running_;
    if (outcome.failure == Failure::none) {
      keep(task, std::move(outcome));
    } else {
      retry(std::move(task), outcome);
    }
    changed_.notify_all();
  }

  void keep(const Task& task, ShardOutcome outcome) {
    gone_ = 0;
    answer_.series_brief += outcome.brief;
    answer_.series_failed += outcome.unreadable;
    answer_.duplicates += outcome.duplicates;
    answer_.samples += outcome.samples;
    for (SeriesVerdict& verdict : outcome.verdicts) verdicts_.push_back(std::move(verdict));
    if (options_.question.with_closeups) keep_surest_closeups(verdicts_, kMostCloseups);
    warnings_.insert(warnings_.end(), outcome.warnings.begin(), outcome.warnings.end());
    troubles_.insert(troubles_.end(), outcome.troubles.begin(), outcome.troubles.end());
    series_done_ += task.shard.series();
    if (options_.progress) options_.progress(series_done_, series_in_all_);
    samples_of_shards_ += outcome.samples;
    series_of_shards_ += task.shard.series();
    cut_what_is_left();
  }

  // Shards were dealt before anybody knew how many samples a series has.
  void cut_what_is_left() {
    const double each = static_cast<double>(samples_of_shards_) /
                        static_cast<double>(std::max<size_t>(series_of_shards_, 1));
    const auto fits = static_cast<double>(options_.most_samples);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      while (tasks_[i].shard.values.size() > 1 &&
             each * static_cast<double>(tasks_[i].shard.series()) > fits) {
        auto [first, second] = halves(tasks_[i].shard);
        tasks_[i].shard = std::move(first);
        tasks_.insert(tasks_.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      {std::move(second), tasks_[i].tries});
      }
    }
  }

  void retry(Task task, const ShardOutcome& outcome) {
    const bool busy = outcome.failure == Failure::busy;
    const bool less_may_help = outcome.failure == Failure::too_much ||
                               outcome.failure == Failure::garbled ||
                               (busy && task.tries >= kTriesBeforeLess);
    if (less_may_help && task.shard.values.size() > 1) {
      auto [first, second] = halves(task.shard);
      tasks_.push_front({std::move(second), busy ? 1 : 0});
      tasks_.push_front({std::move(first), busy ? 1 : 0});
      return;
    }
    const bool patience_may_help = busy || outcome.failure == Failure::unreachable;
    if (patience_may_help && task.tries + 1 < options_.most_tries && gone_ == 0) {
      ++task.tries;
      tasks_.push_front(std::move(task));
      return;
    }
    if (outcome.failure == Failure::unreachable) ++gone_;
    answer_.series_failed += task.shard.series();
    troubles_.push_back(outcome.message);
  }

  // Each sentence once, the first few of them.
  static std::vector<std::string> told(std::vector<std::string>& sentences) {
    std::vector<std::string> few;
    size_t more = 0;
    for (std::string& sentence : sentences) {
      if (std::find(few.begin(), few.end(), sentence) != few.end()) continue;
      if (few.size() < kMostTroubles) {
        few.push_back(std::move(sentence));
      } else {
        ++more;
      }
    }
    if (more > 0) few.push_back(fmt::format("and {} like these", counted(more, "message")));
    return few;
  }

  RoundOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  size_t running_ = 0;
  size_t gone_ = 0;  // Shards in a row that nobody answered.
  size_t series_in_all_ = 0;
  size_t series_done_ = 0;
  size_t samples_of_shards_ = 0;
  size_t series_of_shards_ = 0;
  FleetAnswer answer_;
  std::vector<SeriesVerdict> verdicts_;
  std::vector<std::string> warnings_;
  std::vector<std::string> troubles_;
};

// Asks who is there, and puts a small shard first.
Result<std::vector<Shard>> plan(Database& database, RoundOptions& options,
                                std::vector<std::string>& warnings) {
  Question& question = options.question;
  const Reply all = roll_call(database, question);
  if (!all.ok()) return Error{Error::Kind::not_found, all.message};
  warnings = all.answer.warnings;
  if (all.answer.series.empty()) {
    return Error{Error::Kind::no_samples,
                 fmt::format("the database knows no series of {} in the last {}; try another "
                             "--preset or --query",
                             question.selector(""), format_seconds(question.window_s))};
  }
  std::vector<Shard> shards = deal(all.answer.series, question.preset, options.most_series);
  if (shards.front().values.size() > 1 && shards.front().series() > kFirstSeries) {
    Shard first = shards.front();
    const size_t few =
        std::clamp<size_t>(first.values.size() * kFirstSeries / std::max<size_t>(first.series(), 1),
                           1, first.values.size() - 1);
    Shard rest = first;
    const auto cut = static_cast<std::ptrdiff_t>(few);
    first.values.erase(first.values.begin() + cut, first.values.end());
    first.counts.erase(first.counts.begin() + cut, first.counts.end());
    rest.values.erase(rest.values.begin(), rest.values.begin() + cut);
    rest.counts.erase(rest.counts.begin(), rest.counts.begin() + cut);
    shards.front() = std::move(rest);
    shards.insert(shards.begin(), std::move(first));
  }
  return shards;
}

// Whether the metric that is added has any value: most machines swap nothing, and it would double
// what is asked for.
bool has_plus(Database& database, const Question& question) {
  if (question.preset.plus.empty() || question.metric != question.preset.metric) return false;
  const std::vector<std::string_view> matchers = {question.preset.matchers, question.matchers};
  const std::string plus = selector_text(question.preset.plus, matchers);
  const Reply reply = database.query(fmt::format("count({} > 0)", plus), question.end_s);
  return reply.ok() && !reply.answer.series.empty();
}

}  // namespace

Result<FleetAnswer> judge_fleet(const AskMaker& make_ask, RoundOptions options) {
  Result<Ask> first = make_ask();
  if (!first) return first.error();
  Database database(first.value());
  std::vector<std::string> warnings;
  Result<std::vector<Shard>> shards = plan(database, options, warnings);
  if (!shards) return shards.error();
  options.question.with_plus = has_plus(database, options.question);
  Round round(options);
  round.add_shards(std::move(shards.value()));
  {
    std::vector<std::jthread> others;
    for (size_t i = 1; i < options.transfers; ++i) {
      Result<Ask> ask = make_ask();
      if (ask) others.emplace_back([&round, ask = ask.value()] { round.work(ask); });
    }
    round.work(first.value());
  }
  FleetAnswer answer = round.answer();
  answer.warnings.insert(answer.warnings.begin(), warnings.begin(), warnings.end());
  if (answer.series_judged == 0 && answer.series_failed > 0 && !answer.troubles.empty()) {
    return Error{Error::Kind::not_found, answer.troubles.front()};
  }
  return answer;
}

}  // namespace plateau::fleet
