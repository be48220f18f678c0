// SPDX-License-Identifier: Apache-2.0
// One example of a dataset, whatever form it has: turns of a conversation, pictures, and what is
// learned.
//
// Forms, as LLaMA-Factory, ms-swift, TRL, Unsloth and axolotl document them:
//   messages       {"messages": [{"role": "user", "content": "..." or parts}, ...], "images":
//   [...]} conversations  {"conversations": [{"from": "human", "value": "..."}, ...]}: ShareGPT
//   prompt         {"prompt": ..., "completion": ...}, either a text or messages; also "chosen"
//   alpaca         {"instruction": "...", "input": "...", "output": "..."}
//   query          {"query": "...", "response": "...", "history": [[...]]}: ms-swift
//   text           {"text": "..."}: all of it is learned
// Pictures stand in the parts of a message, or beside the text under "images", "image" or
// "file_name", one "<image>" in the text for each.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

struct ExampleTurn {
  std::string role;  // "user", "assistant", "system", "tool", or what the file says.
  std::string text;
  bool is_learned = false;
};

struct ExamplePicture {
  std::string reference;  // A path, a URL, a data: URL; empty: `bytes` are the picture.
  std::string bytes;
};

struct TrainingExample {
  std::string_view form;
  std::vector<ExampleTurn> turns;
  std::vector<ExamplePicture> pictures;
  int64_t in_parts = 0;  // Pictures that stand in parts of messages, where no "<image>" is wanted.
  int64_t placeholders = 0;      // "<image>" in the texts.
  bool has_other_media = false;  // Videos or sound, which are not looked at.
};

// The error is a phrase for the problem list: "none of the known forms: has \"a\", \"b\"".
Result<TrainingExample> read_example(simdjson::dom::element element);

}  // namespace plateau
