// SPDX-License-Identifier: Apache-2.0
// The question: how do several threads make batches ahead, while the order, the errors and the
// memory stay those of one thread?
//
// Method: batches of an epoch are numbered. Under the lock a worker claims the lowest number that
// nobody has, makes that batch without the lock, and puts it into `ready`; next() waits for the
// number whose turn it is. A worker may claim only while fewer than workers + queue numbers are
// between claimed and handed out: that bounds memory, whatever the speed of either side. What a
// batch holds follows from its number alone, so neither the number of workers nor their speed can
// be seen in the results.
//
// start() begins another turn: numbers of an earlier one are thrown away when they are finished,
// and their makers are asked to stop before every picture. So is everybody on destruction.
#include "trainer/data/loader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "trainer/data/ahead.h"
#include "trainer/data/collate.h"
#include "trainer/data/split_mix.h"

namespace plateau::train {
namespace {

struct Made {
  Result<Batch> batch;
  std::vector<BadExample> bad;
};

int64_t bytes_of(const Made& made) {
  return made.batch ? made.batch.value().bytes() : 0;
}

std::mutex ahead_mutex;
BatchesAhead all_ahead;

}  // namespace

std::vector<size_t> epoch_order(size_t examples, uint64_t seed, int64_t epoch, bool shuffle) {
  std::vector<size_t> order(examples);
  for (size_t i = 0; i < examples; ++i) order[i] = i;
  if (!shuffle) return order;
  // The epoch goes through the mix before it meets the seed: seed 1 epoch 2 is not seed 2 epoch 1.
  SplitMix64 random(seed ^ SplitMix64(static_cast<uint64_t>(epoch)).next());
  for (size_t i = examples; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

struct Loader::State {
  State(const Dataset& data, const Tokenizer& text, LoaderOptions given)
      : dataset(data), tokenizer(text), options(std::move(given)) {}

  const Dataset& dataset;
  const Tokenizer& tokenizer;
  const LoaderOptions options;

  std::mutex mutex;
  std::condition_variable has_work;
  std::condition_variable has_ready;
  // Written under the lock; read without it by those who want to know whether to go on.
  std::atomic<uint64_t> turn{0};
  std::atomic<bool> is_stopping{false};
  std::shared_ptr<const std::vector<size_t>> order;
  int64_t claimed = 0;
  int64_t handed_out = 0;
  std::map<int64_t, Made> ready;
  int64_t ahead_bytes = 0;  // Of `ready`.
  std::vector<std::thread> threads;

  // Of the thread that calls next().
  std::vector<BadExample> skipped;
  std::set<size_t> reported;

  [[nodiscard]] size_t rows() const {
    return options.packs ? options.packs->rows() : dataset.size();
  }
  [[nodiscard]] std::vector<size_t> examples_of(size_t row) const;
  [[nodiscard]] int64_t batches() const;
  [[nodiscard]] std::vector<std::vector<size_t>> rows_of(const std::vector<size_t>& positions,
                                                         int64_t number) const;
  [[nodiscard]] Made make(const std::vector<size_t>& positions, int64_t number,
                          const IsCancelled& is_cancelled) const;
  [[nodiscard]] std::optional<Error> options_error() const;
  [[nodiscard]] bool may_claim() const;
  void start_threads();
  void work();
  Made take(std::unique_lock<std::mutex>& lock);
  void count_ahead(int64_t bytes);  // More, or less, in `ready`. Requires: the lock is held.
};

void Loader::State::count_ahead(int64_t bytes) {
  ahead_bytes += bytes;
  const std::lock_guard lock(ahead_mutex);
  all_ahead.bytes += bytes;
  all_ahead.most_bytes = std::max(all_ahead.most_bytes, all_ahead.bytes);
}

int64_t Loader::State::batches() const {
  const int64_t global = options.batch_size * options.world;
  if (global < 1) return 0;
  return (static_cast<int64_t>(rows()) + global - 1) / global;
}

std::vector<size_t> Loader::State::examples_of(size_t row) const {
  if (!options.packs) return {row};
  const std::span<const size_t> packed = options.packs->row(row);
  return {packed.begin(), packed.end()};
}

// A full global batch gives every rank batch_size rows; the last one is shared as evenly as it can
// be, lower ranks first.
std::vector<std::vector<size_t>> Loader::State::rows_of(const std::vector<size_t>& positions,
                                                        int64_t number) const {
  const int64_t global = options.batch_size * options.world;
  const int64_t begin = number * global;
  const int64_t size = std::min(global, static_cast<int64_t>(positions.size()) - begin);
  const int64_t each = size / options.world;
  const int64_t more = size % options.world;
  const int64_t first = begin + options.rank * each + std::min(options.rank, more);
  const int64_t count = each + (options.rank < more ? 1 : 0);
  std::vector<std::vector<size_t>> out;
  for (int64_t i = first; i < first + count; ++i) {
    out.push_back(examples_of(positions[static_cast<size_t>(i)]));
  }
  return out;
}

Made Loader::State::make(const std::vector<size_t>& positions, int64_t number,
                         const IsCancelled& is_cancelled) const {
  std::vector<BadExample> bad;
  const auto too_large = [&](const char* what) {
    const auto first = static_cast<size_t>(number * options.batch_size * options.world);
    return Error{Error::Kind::bad_input, "batch " + std::to_string(number + 1) +
                                             " of the epoch, from " +
                                             dataset.where(examples_of(positions[first]).front()) +
                                             " on, does not fit into memory: " + what};
  };
  try {
    Result<Batch> batch =
        collate_until(dataset, tokenizer, options, rows_of(positions, number), bad, is_cancelled);
    return {std::move(batch), std::move(bad)};
  } catch (const std::bad_alloc& error) {
    return {too_large(error.what()), {}};
  } catch (const std::length_error& error) {
    return {too_large(error.what()), {}};
  }
}

std::optional<Error> Loader::State::options_error() const {
  if (!order) return Error{Error::Kind::usage, "the loader was not started"};
  if (options.batch_size < 1) {
    return Error{Error::Kind::usage,
                 "batch size " + std::to_string(options.batch_size) + "; at least 1 is expected"};
  }
  if (options.world < 1 || options.rank < 0 || options.rank >= options.world) {
    return Error{Error::Kind::usage, "rank " + std::to_string(options.rank) + " of " +
                                         std::to_string(options.world) + " processes"};
  }
  return std::nullopt;
}

bool Loader::State::may_claim() const {
  const int64_t ahead = static_cast<int64_t>(threads.size()) + std::max<int64_t>(options.queue, 0);
  return order && claimed < batches() && claimed - handed_out < ahead;
}

void Loader::State::work() {
  std::unique_lock lock(mutex);
  while (true) {
    has_work.wait(lock, [&] { return is_stopping || may_claim(); });
    if (is_stopping) return;
    const uint64_t mine = turn;
    const int64_t number = claimed++;
    const std::shared_ptr<const std::vector<size_t>> positions = order;
    lock.unlock();
    std::optional<Made> made =
        make(*positions, number, [&] { return is_stopping || turn != mine; });
    if (is_stopping || turn != mine) made.reset();  // Freed without the lock.
    lock.lock();
    if (is_stopping || turn != mine || !made) continue;
    count_ahead(bytes_of(*made));
    ready.emplace(number, std::move(*made));
    has_ready.notify_all();
  }
}

// Fewer threads than asked for do the same work more slowly; with none the caller does it.
void Loader::State::start_threads() {
  const std::lock_guard lock(mutex);  // Workers count `threads`.
  while (static_cast<int64_t>(threads.size()) < options.workers) {
    try {
      threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      return;
    }
  }
}

Made Loader::State::take(std::unique_lock<std::mutex>& lock) {
  if (threads.empty()) {
    const std::shared_ptr<const std::vector<size_t>> positions = order;
    const int64_t number = handed_out++;
    lock.unlock();
    return make(*positions, number, [] { return false; });
  }
  has_ready.wait(lock, [&] { return ready.contains(handed_out); });
  Made made = std::move(ready.extract(handed_out).mapped());
  count_ahead(-bytes_of(made));
  ++handed_out;
  has_work.notify_one();
  lock.unlock();
  return made;
}

Loader::Loader(const Dataset& dataset, const Tokenizer& tokenizer, LoaderOptions options)
    : state_(std::make_unique<State>(dataset, tokenizer, std::move(options))) {}

Loader::~Loader() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->has_work.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
  state_->count_ahead(-state_->ahead_bytes);
}

void Loader::start(int64_t epoch, int64_t batch) {
  State& state = *state_;
  auto order = std::make_shared<const std::vector<size_t>>(
      epoch_order(state.rows(), state.options.seed, epoch, state.options.shuffle));
  std::map<int64_t, Made> old;  // Freed without the lock.
  {
    const std::lock_guard lock(state.mutex);
    ++state.turn;
    state.order = std::move(order);
    state.claimed = state.handed_out = std::max<int64_t>(batch, 0);
    old.swap(state.ready);
    state.count_ahead(-state.ahead_bytes);
  }
  if (!state.options_error()) state.start_threads();
  state.has_work.notify_all();
}

Result<std::optional<Batch>> Loader::next() {
  State& state = *state_;
  if (const std::optional<Error> error = state.options_error()) return *error;
  std::unique_lock lock(state.mutex);
  if (state.handed_out >= state.batches()) return std::optional<Batch>();
  Made made = state.take(lock);
  for (BadExample& bad : made.bad) {
    if (state.reported.insert(bad.index).second) state.skipped.push_back(std::move(bad));
  }
  if (!made.batch) return made.batch.error();
  return std::optional<Batch>(std::move(made.batch.value()));
}

int64_t Loader::batches_per_epoch() const {
  return state_->batches();
}

const std::vector<BadExample>& Loader::skipped() const {
  return state_->skipped;
}

BatchesAhead batches_ahead() {
  const std::lock_guard lock(ahead_mutex);
  return all_ahead;
}

}  // namespace plateau::train
