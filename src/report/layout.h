// SPDX-License-Identifier: Apache-2.0
// Lays out the report: labels in a margin, wrapped text beside them.
//
//   Why   growth stopped where the first pass over the data ended: 663 / 8 =
//         step 83.
#pragma once

#include <string>
#include <string_view>

#include "report/text.h"

namespace plateau {

class Layout {
 public:
  static constexpr size_t kMargin = 8;  // Columns before the text.

  explicit Layout(const View& view) : view_(view) {}

  // A line as it is, painted or not.
  void line(std::string_view text);
  // A paragraph beside `label`. The label is shown once for paragraphs that follow each other
  // under the same one; `lead` ("Confirm:") is painted bold. An empty text adds nothing.
  void say(std::string_view label, std::string_view text, std::string_view lead = "");
  // A line beside `label` that is not wrapped: a row of a table.
  void row(std::string_view label, std::string_view text);
  // Ready-made lines, such as a plot.
  void append(std::string_view lines) { text_ += lines; }

  // The result; ASCII when the view is.
  [[nodiscard]] std::string take();

 private:
  void start_line(std::string_view label);

  const View& view_;
  std::string text_;
  std::string last_label_;
};

}  // namespace plateau
