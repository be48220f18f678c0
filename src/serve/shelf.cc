// SPDX-License-Identifier: Apache-2.0
#include "serve/shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/compression.h"
#include "import/import.h"
#include "page/page_data.h"
#include "recording/facts.h"
#include "recording/redact_run.h"
#include "report/json.h"
#include "serve/gzip.h"

namespace plateau {
namespace {

constexpr double kListEveryS = 0.25;  // Looking into directories.
constexpr double kOpenEveryS = 2;     // Asking who writes: that looks at every process.
constexpr double kLiveS = 5;          // A file that changed so recently is taken for live.
constexpr size_t kMostAnswers = 8;    // That are kept, with their documents.
constexpr double kPageOpenS = 60;     // A page that was asked for so recently is likely open.
constexpr size_t kMoments = 48;

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// Says for how long a file is being worked on.
class Busy {
 public:
  Busy(const ShelfOptions& options, const std::string& path, const FileStamp& stamp)
      : options_(options) {
    options_.reading(path, stamp);
  }
  ~Busy() { options_.reading("", {}); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  const ShelfOptions& options_;
};

}  // namespace

Shelf::Shelf(ShelfOptions options) : options_(std::move(options)) {}

void Shelf::list_files() {
  const double now_s = monotonic_now_s();
  if (now_s < next_list_s_) return;
  order_.clear();
  for (const ListedFile& file : list_runs(options_.paths, options_.later, kMostRuns)) {
    Item& item = items_[file.path];
    item.facts.path = file.path;
    item.facts.name = file.name;
    if (item.facts.id.empty()) item.facts.id = id_of_path(file.path);
    item.seen = file.stamp;
    item.facts.changed_unix_s = static_cast<double>(item.seen.mtime_ns) * 1e-9;
    item.beneath = file.beneath;
    order_.push_back(file.path);
  }
  if (order_.size() < items_.size()) {
    const std::set<std::string> listed(order_.begin(), order_.end());
    std::erase_if(items_, [&listed](const auto& item) { return !listed.contains(item.first); });
  }
  next_list_s_ = monotonic_now_s() + kListEveryS;
  for (auto& [path, item] : items_) note_live(item);
}

// Live: not ended, and a running Plateau has it open or it changed a moment ago.
void Shelf::note_live(Item& item) {
  bool live = item.seen.exists && !item.facts.ended;
  if (live) {
    const double now_s = monotonic_now_s();
    if (now_s >= next_open_s_ && options_.open_recordings) {
      open_ = options_.open_recordings();
      next_open_s_ = monotonic_now_s() + kOpenEveryS;
    }
    const double age_s = unix_now_s() - static_cast<double>(item.seen.mtime_ns) * 1e-9;
    live = age_s < kLiveS ||
           std::find(open_.begin(), open_.end(), real_path(item.facts.path)) != open_.end();
  }
  if (live == item.facts.live) return;
  item.facts.live = live;
  if (item.facts.version > 0) ++item.facts.version;
}

bool Shelf::is_due(const Item& item, bool even_if_soon) const {
  if (item.facts.version == 0) return true;
  if (item.stamp == item.seen) return false;
  return even_if_soon || monotonic_now_s() >= item.next_read_s;
}

// The last run of the file, with the facts of the command line.
Result<Run> Shelf::import(const Item& item) const {
  const std::string& path = item.facts.path;
  Result<LimitedBytes> read = read_limited(path, item.beneath, options_.limits);
  Result<std::vector<Run>> runs =
      read ? import_bytes(path, read.value().bytes) : Result<std::vector<Run>>(read.error());
  if (!runs) {
    const bool damaged = read && !read.value().damage.empty();
    return damaged ? Error{Error::Kind::bad_input, path + ": " + read.value().damage}
                   : runs.error();
  }
  if (runs.value().empty()) {
    return Error{Error::Kind::no_samples, path + ": no memory figures found"};
  }
  Run run = std::move(runs.value().back());
  if (!read.value().damage.empty()) {
    run.notes.push_back(read.value().damage + "; what came before was read");
  }
  redact(run);
  apply_facts(options_.given, run.context);
  return run;
}

void Shelf::read(Item& item) {
  const Busy busy(options_, item.facts.path, item.seen);
  const double start_s = monotonic_now_s();
  item.stamp = item.seen;
  item.answer.reset();
  item.facts.verdict.reset();
  item.facts.verdict_json.clear();
  item.facts.trouble.clear();
  item.facts.ended = false;
  try {
    read_and_judge(item);
  } catch (const std::exception& error) {
    // More memory than there is, mostly. It costs this file its reading, not the others theirs.
    item.facts.trouble = fmt::format("{}: cannot be read: {}", item.facts.path, error.what());
  }
  item.facts.version = std::max(item.facts.version, options_.first_version) + 1;
  note_live(item);
  const double end_s = monotonic_now_s();
  item.cost_s = end_s - start_s;
  item.next_read_s = end_s + std::max(kLeastRestS, kRest * item.cost_s);
}

void Shelf::read_and_judge(Item& item) {
  const auto given_up = options_.given_up.find(item.facts.path);
  if (given_up != options_.given_up.end() && given_up->second == item.seen) {
    item.facts.trouble = item.facts.path + ": takes too long to read";
    return;
  }
  Result<Run> run = import(item);
  if (!run) {
    item.facts.trouble = run.error().message;
    return;
  }
  keep(item, answer_run(run.value(), answer_options()));
  item.facts.verdict_json = verdict_json(item.answer->verdict);
  item.facts.ended = run.value().ending.kind != Ending::Kind::unknown;
  item.facts.verdict = item.answer->verdict;
  item.facts.course = short_course(item.facts.verdict->plot);
  item.facts.verdict->plot.clear();
  item.facts.verdict->marks.clear();
  forget_last_run();
  if (monotonic_now_s() - item.page_used_s > kPageOpenS) return;
  last_run_ = std::move(run.value());
  last_run_path_ = item.facts.path;
}

void Shelf::forget_last_run() {
  last_run_ = {};
  last_run_path_.clear();
}

void Shelf::look(double budget_s, bool even_if_soon) {
  if (even_if_soon) next_list_s_ = 0;
  const double until_s = monotonic_now_s() + budget_s;
  list_files();
  for (const std::string& path : order_) {
    Item& item = items_[path];
    if (!is_due(item, even_if_soon)) continue;
    read(item);
    if (monotonic_now_s() >= until_s) return;
  }
}

void Shelf::look_at(const std::string& id, bool even_if_soon) {
  if (even_if_soon) next_list_s_ = 0;
  list_files();
  Item* item = item_of(id);
  if (item != nullptr && is_due(*item, even_if_soon)) read(*item);
}

std::vector<const RunFacts*> Shelf::runs() const {
  std::vector<const RunFacts*> all;
  all.reserve(order_.size());
  for (const std::string& path : order_) all.push_back(&items_.at(path).facts);
  return all;
}

const RunFacts* Shelf::find(std::string_view id) const {
  for (const std::string& path : order_) {
    const RunFacts& facts = items_.at(path).facts;
    if (id.empty() || facts.id == id) return &facts;
  }
  return nullptr;
}

Shelf::Item* Shelf::item_of(std::string_view id) {
  const RunFacts* facts = find(id);
  return facts == nullptr ? nullptr : &items_[facts->path];
}

void Shelf::recall(Item& item) {
  if (last_run_path_ == item.facts.path) return;
  item.seen = stamp_of(item.facts.path);
  if (!item.answer || item.seen != item.stamp) return read(item);
  Result<Run> run = import(item);
  if (!run) return read(item);
  last_run_ = std::move(run.value());
  last_run_path_ = item.facts.path;
}

Result<PageBytes> Shelf::page(const std::string& id) {
  list_files();
  Item* item = item_of(id);
  if (item == nullptr) return Error{Error::Kind::not_found, "there is no such run"};
  const double start_s = monotonic_now_s();
  item->used_s = item->page_used_s = start_s;
  if (is_due(*item, false)) read(*item);
  const Busy busy(options_, item->facts.path, item->seen);
  const bool is_new = item->page_version != item->facts.version;
  if (item->facts.verdict && is_new) recall(*item);
  if (!item->facts.verdict) return Error{Error::Kind::bad_input, item->facts.trouble};
  if (!is_new) return item->page;
  try {
    build_page(*item);
  } catch (const std::exception& error) {
    forget_last_run();
    return Error{Error::Kind::bad_input, error.what()};
  }
  forget_last_run();
  const double end_s = monotonic_now_s();
  item->next_read_s = std::max(item->next_read_s, end_s + kRest * (item->cost_s + end_s - start_s));
  return item->page;
}

// Requires: last_run_ is the item's.
void Shelf::build_page(Item& item) {
  add_detail(last_run_, answer_options(), item.known, *item.answer);
  std::string json = page_data_json({&last_run_, 1}, {&*item.answer, 1});
  json.shrink_to_fit();
  item.page.packed = std::make_shared<const std::string>(gzipped(json, kLivePageLevel));
  item.page.plain = std::make_shared<const std::string>(std::move(json));
  item.page_version = item.facts.version;
}

Catalogue Shelf::catalogue() {
  Catalogue all;
  all.complete = next_list_s_ > 0;
  for (const std::string& path : order_) {
    Item& item = items_[path];
    all.complete &= item.facts.version > 0;
    const bool same = item.served && item.served->facts.version == item.facts.version &&
                      item.served->facts.name == item.facts.name &&
                      item.served_page == item.page_version;
    if (!same) {
      const bool same_facts = item.served && item.served->facts.version == item.facts.version &&
                              item.served->facts.name == item.facts.name;
      auto metrics = same_facts ? item.served->metrics
                                : std::make_shared<const std::array<MetricsText, 2>>(
                                      std::array{run_metrics(item.facts, Dialect::prometheus_text),
                                                 run_metrics(item.facts, Dialect::open_metrics)});
      item.served = std::make_shared<const ServedRun>(
          ServedRun{item.facts, run_summary_json(item.facts, false),
                    run_summary_json(item.facts, true), item.page, std::move(metrics)});
      item.served_page = item.page_version;
    }
    all.runs.push_back(item.served);
  }
  all.compared = compared_;
  return all;
}

AnswerOptions Shelf::answer_options() const {
  return {.policy = options_.policy, .name = {}, .moments = kMoments};
}

// So that its page need not judge again. What was longest not used makes room for it.
void Shelf::keep(Item& item, Answer answer) {
  item.answer = std::move(answer);
  item.used_s = monotonic_now_s();
  std::vector<Item*> kept;
  for (auto& [path, each] : items_) {
    if (each.answer) kept.push_back(&each);
  }
  if (kept.size() <= kMostAnswers) return;
  Item* oldest = *std::min_element(
      kept.begin(), kept.end(), [](const Item* a, const Item* b) { return a->used_s < b->used_s; });
  oldest->answer.reset();
  oldest->known = {};
  oldest->page = {};
  oldest->page_version = 0;
}

}  // namespace plateau
