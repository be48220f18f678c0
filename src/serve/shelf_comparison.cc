// SPDX-License-Identifier: Apache-2.0
// Two runs of the shelf side by side, as `plateau report A B` shows them.
#include <algorithm>
#include <array>
#include <span>

#include "page/page_data.h"
#include "serve/shelf.h"
#include "verdict/compare.h"

namespace plateau {

Result<std::string> Shelf::comparison(const std::string& before, const std::string& after) {
  if (before == after) return Error{Error::Kind::bad_input, "that is one run, not two"};
  std::array<Run, 2> runs;
  std::array<Answer, 2> answers;
  const std::array<const std::string*, 2> ids = {&before, &after};
  for (size_t i = 0; i < ids.size(); ++i) {
    Item* item = ids[i]->empty() ? nullptr : item_of(*ids[i]);
    if (item == nullptr) return Error{Error::Kind::not_found, "there is no such run"};
    Result<Run> run = import(*item);
    if (!run) return run.error();
    runs[i] = std::move(run.value());
    answers[i] = detailed_answer(runs[i], answer_options());
  }
  const Comparison comparison = compare(std::span<const Run>(runs), options_.policy);
  return page_data_json(runs, answers, &comparison);
}

void Shelf::compare_runs(const std::string& ids) {
  list_files();
  const size_t comma = std::min(ids.find(','), ids.size());
  Compared made{.ids = ids, .document = {}, .trouble = {}};
  const Result<std::string> page =
      comparison(ids.substr(0, comma), ids.substr(std::min(comma + 1, ids.size())));
  if (page) {
    made.document = page.value();
  } else {
    made.trouble = page.error();
  }
  compared_ = std::make_shared<const Compared>(std::move(made));
}

}  // namespace plateau
