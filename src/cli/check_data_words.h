// SPDX-License-Identifier: Apache-2.0
// A survey of a dataset for readers: a screen, and JSON (docs/formats/check-data.md).
#pragma once

#include <cstdint>
#include <string>

#include "dataset/survey.h"
#include "report/text.h"

namespace plateau {

struct EpochOptions {
  int64_t batch = 1;
  int64_t accumulation = 1;
  int64_t ranks = 1;
  int64_t max_length = 0;
};

// `shape` may be null: no model was named.
std::string survey_text(const Survey& survey, const EpochOptions& epoch, const ModelShape* shape,
                        const View& view);
std::string survey_json(const Survey& survey, const EpochOptions& epoch);

// What is learned of an example: each turn on a line, "learned" or "masked" in front.
std::string mask_text(const TrainingExample& example, const View& view);

}  // namespace plateau
