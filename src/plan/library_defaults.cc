// SPDX-License-Identifier: Apache-2.0
// Read off the configuration classes of transformers 5.22.
#include "plan/library_defaults.h"

#include <algorithm>
#include <array>

namespace plateau {
namespace {

struct Row {
  std::string_view family;
  DefaultSizes text;
  DefaultSizes vision;
};

constexpr DefaultSizes kQwen2Text = {
    .layers = 80, .hidden = 8192, .inner = 29568, .heads = 64, .kv_heads = 8, .vocabulary = 152064};

constexpr std::array<Row, 4> kRows = {
    {{"qwen2_vl", kQwen2Text, {.layers = 32, .hidden = 1280, .heads = 16}},
     {"qwen2_5_vl", kQwen2Text, {.layers = 32, .hidden = 3584, .inner = 3420, .heads = 16}},
     {"qwen3_vl",
      {.layers = 32,
       .hidden = 4096,
       .inner = 22016,
       .heads = 32,
       .kv_heads = 32,
       .vocabulary = 151936},
      {.layers = 27, .hidden = 1152, .inner = 4304, .heads = 16}},
     {"gemma3",
      {.layers = 26,
       .hidden = 2304,
       .inner = 9216,
       .heads = 8,
       .kv_heads = 4,
       .vocabulary = 262208},
      {.layers = 12, .hidden = 768, .inner = 3072, .heads = 12}}}};

Row row_of(std::string_view family) {
  const auto* const row = std::ranges::find(kRows, family, &Row::family);
  return row == kRows.end() ? Row{} : *row;
}

}  // namespace

DefaultSizes text_defaults(std::string_view family) {
  return row_of(family).text;
}

DefaultSizes vision_defaults(std::string_view family) {
  return row_of(family).vision;
}

}  // namespace plateau
