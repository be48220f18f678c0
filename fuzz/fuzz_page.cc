// SPDX-License-Identifier: Apache-2.0
// From bytes to the page's document: whatever a log says, it is one JSON object in ASCII-safe UTF-8
// and the page around it has no element that the log wrote.
#include <optional>
#include <span>
#include <vector>

#include "import_fuzz.h"
#include "page/page_data.h"
#include "page/page_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using plateau::require;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto runs = plateau::import_bytes("fuzz", bytes, {});
  if (!runs.ok()) return 0;
  // Two are enough to be compared; a thousand tiny ones would only be slow.
  if (runs.value().size() > 2) runs.value().resize(2);
  std::vector<plateau::Answer> answers;
  for (const plateau::Run& run : runs.value()) {
    answers.push_back(plateau::detailed_answer(run, {.policy = {}, .name = {}, .moments = 4}));
  }
  std::optional<plateau::Comparison> comparison;
  if (answers.size() > 1) {
    comparison = plateau::compare(std::span<const plateau::Run>(runs.value()));
  }
  const std::string json =
      plateau::page_data_json(runs.value(), answers, comparison ? &*comparison : nullptr);
  require(json.front() == '{' && json.back() == '}', "the document is one object");
  for (const char c : json) require(static_cast<unsigned char>(c) >= 0x20, "no control characters");
  const std::string page = plateau::report_page(runs.value().front().source, json, bytes);
  const size_t text = page.find("<noscript><pre>") + 15;
  const size_t end = page.find('<', text);
  require(page.compare(end, 6, "</pre>") == 0, "text of a log is no markup");
  return 0;
}
