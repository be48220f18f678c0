// SPDX-License-Identifier: Apache-2.0
// What a text log says about the job: examples, batch size, planned steps.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "recording/facts.h"

namespace plateau {

// Remembers what trainers print at their start ("Num examples = 663", "Total batch size (2 x 4 x 1)
// = 8", "Total optimization steps = 250"). A batch per device and an accumulation count without a
// total give their product, which holds for one device.
class TextContext {
 public:
  // Reads one line; calls `found` for each fact in it.
  void read(std::string_view line, const std::function<void(FactField, double)>& found);

 private:
  std::array<double, 2> factors_{};  // A batch per device, and the accumulation count.
  bool has_total_batch_ = false;
};

}  // namespace plateau
