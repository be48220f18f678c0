// SPDX-License-Identifier: Apache-2.0
// The files that are served: which there are, which changed, and what was read of them.
//
// Reading and judging a file takes from a millisecond to a second, and a live file changes several
// times a second. So nothing is read unless somebody asks, and no file sooner than kRest times as
// long as it took the last time: a server whose pages are open in ten browsers spends at most a
// sixth of a core on one run. What was read stays; a file whose size and time are the same is never
// read twice. Versions count what was read, so a page knows that there is something new. What was
// read is judged once: its page shows that Answer.
//
// A file is read within limits (limited_file.h). Not synchronised, and blocks while a file is read:
// it belongs to the reader's thread (reader.h), and what the server sees is a catalogue().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer.h"
#include "base/result.h"
#include "recording/run.h"
#include "serve/catalogue.h"
#include "serve/limited_file.h"
#include "serve/shelf_files.h"

namespace plateau {

struct ShelfOptions {
  std::vector<std::string> paths;  // Files, and directories whose recordings are listed.
  std::vector<std::string> later;  // Files that may come; not listed before they exist.
  Context given;                   // Facts from the command line, put over each run's own.
  Policy policy;
  // Recordings that running programs hold open, by their full path. May be empty.
  std::function<std::vector<std::string>()> open_recordings;
  ReadLimits limits;
  // Files that were given up, as they were then: not read again until they change.
  std::map<std::string, FileStamp> given_up;
  uint64_t first_version = 0;  // Versions count on from here.
  // Called before a file is read, and with "" after that.
  std::function<void(const std::string& path, const FileStamp& stamp)> reading =
      [](const std::string&, const FileStamp&) {};
};

class Shelf {
 public:
  static constexpr double kRest = 5;          // Times the cost of the last reading.
  static constexpr double kLeastRestS = 0.5;  // Between two readings of one file.
  static constexpr size_t kMostRuns = 500;    // Of a directory, the newest.

  explicit Shelf(ShelfOptions options);

  // Looks which files there are and reads those that changed, in the order of runs(), until
  // `budget_s` is used up; at least one if any is due. With `even_if_soon` the rest is not kept.
  void look(double budget_s, bool even_if_soon = false);
  // The same for one run alone; every other is left as it is.
  void look_at(const std::string& id, bool even_if_soon = false);

  // Newest first. Valid until the next look.
  [[nodiscard]] std::vector<const RunFacts*> runs() const;
  // "": the newest. nullptr if there is none.
  [[nodiscard]] const RunFacts* find(std::string_view id) const;

  // The document of web/src/data.ts for what was last read of the run.
  Result<PageBytes> page(const std::string& id);
  // The document of two runs side by side, the first being the baseline. Read and judged anew each
  // time: nobody keeps asking for it.
  Result<std::string> comparison(const std::string& before, const std::string& after);
  // The same of "before,after", for the catalogue.
  void compare_runs(const std::string& ids);

  // All of it, for others to look at.
  Catalogue catalogue();

 private:
  struct Item {
    RunFacts facts;
    FileStamp stamp;      // Of what was read.
    FileStamp seen;       // Of the last look.
    std::string beneath;  // See ListedFile.
    std::shared_ptr<const ServedRun> served;
    uint64_t served_page = 0;  // Its page_version.
    double next_read_s = 0;    // On the monotonic clock.
    double cost_s = 0;
    std::optional<Answer> answer;  // To what was read, if it is still kept.
    KnownMoments known;
    PageBytes page;
    uint64_t page_version = 0;
    double used_s = 0;
    double page_used_s = -1e300;  // When its page was last asked for.
  };

  void list_files();
  void note_live(Item& item);
  [[nodiscard]] bool is_due(const Item& item, bool even_if_soon) const;
  void read(Item& item);
  void read_and_judge(Item& item);
  void build_page(Item& item);
  Result<Run> import(const Item& item) const;
  // Sees to it that last_run_ is the run that the item's answer is about: imports it if another was
  // read since, reads it anew if it changed since.
  void recall(Item& item);
  [[nodiscard]] AnswerOptions answer_options() const;
  void keep(Item& item, Answer answer);
  void forget_last_run();
  [[nodiscard]] Item* item_of(std::string_view id);

  ShelfOptions options_;
  std::map<std::string, Item> items_;  // By path.
  std::vector<std::string> order_;     // Paths, newest first.
  double next_list_s_ = 0;
  double next_open_s_ = 0;
  std::vector<std::string> open_;
  std::shared_ptr<const Compared> compared_;
  // The run that was read last, if its page is likely asked for next. It is by far the largest
  // thing here, a row of every process that ever was for each sample, so it is kept no longer.
  Run last_run_;
  std::string last_run_path_;
};

}  // namespace plateau
