// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_writer.h"
#include "base/units.h"

namespace plateau::train {
namespace {

constexpr size_t kNameColumns = 16;
constexpr size_t kAmountColumns = 10;
constexpr size_t kLeastFormulaColumns = 16;

std::string amount(int64_t bytes) {
  const std::string size = format_mb(std::abs(static_cast<double>(bytes)) / kBytesPerMb);
  return bytes < 0 ? "-" + size : size;
}

std::string measured_column(const Measurements* measured, const std::string& name) {
  if (measured == nullptr) return "";
  const auto found = measured->find(name);
  return fmt::format("{:>{}}", found == measured->end() ? "" : amount(found->second),
                     kAmountColumns);
}

// Words of `text` in lines of at most `columns`; a word that is longer has a line of its own.
std::vector<std::string> wrapped(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= columns) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
    begin = end + 1;
  }
  return lines;
}

std::string row(const std::string& name, const std::string& planned, const Measurements* measured,
                const std::string& text, size_t width) {
  std::string out = fmt::format("  {:<{}}{:>{}}{}", name, kNameColumns, planned, kAmountColumns,
                                measured_column(measured, name));
  const size_t indent = out.size() + 2;
  if (width >= indent + kLeastFormulaColumns) {
    const std::vector<std::string> lines = wrapped(text, width - indent);
    for (size_t i = 0; i < lines.size(); ++i) {
      out += i == 0 ? "  " : "\n" + std::string(indent, ' ');
      out += lines[i];
    }
  }
  return out + "\n";
}

}  // namespace

Measurements with_rest(const Plan& plan, Measurements measured) {
  const auto peak = measured.find("peak");
  if (peak == measured.end()) return measured;
  int64_t rest = peak->second;
  for (const PlanLine& line : plan.lines) {
    const auto found = measured.find(line.name);
    if (found != measured.end()) rest -= found->second;
  }
  measured["rest"] = rest;
  return measured;
}

std::string plan_table(const Plan& plan, const Measurements* measured, size_t width) {
  std::string out;
  if (measured != nullptr) {
    out += fmt::format("  {:<{}}{:>{}}{:>{}}\n", "", kNameColumns, "planned", kAmountColumns,
                       "measured", kAmountColumns);
  }
  for (const PlanLine& line : plan.lines) {
    out += row(line.name, amount(line.bytes), measured, line.formula, width);
  }
  if (measured != nullptr && measured->contains("rest")) {
    out += row("rest", "", measured, "of the peak, in none of these lines", width);
  }
  out += row("resident", amount(plan.resident_bytes), measured, "between steps", width);
  out += row("peak", amount(plan.peak_bytes), measured,
             fmt::format("least RAM {}, recommended {}", amount(plan.minimum_ram),
                         amount(plan.recommended_ram)),
             width);
  return out;
}

std::string plan_json(const Plan& plan, const PlanRequest& request,
                      const std::vector<PlanChange>& changes, std::optional<int64_t> limit_bytes) {
  JsonWriter json;
  json.begin_object();
  json.key("lines").begin_array();
  for (const PlanLine& line : plan.lines) {
    json.begin_object();
    json.key("name").value(line.name);
    json.key("bytes").value(line.bytes);
    json.key("transient").value(line.is_transient);
    json.key("formula").value(line.formula);
    json.end_object();
  }
  json.end_array();
  json.key("resident_bytes").value(plan.resident_bytes);
  json.key("peak_bytes").value(plan.peak_bytes);
  json.key("minimum_ram_bytes").value(plan.minimum_ram);
  json.key("recommended_ram_bytes").value(plan.recommended_ram);
  json.key("activations_with_checkpointing_bytes").value(plan.activations_with_checkpointing);
  json.key("activations_without_checkpointing_bytes").value(plan.activations_without_checkpointing);
  json.key("parameters").value(plan.parameters);
  json.key("trainable").value(plan.trainable);
  json.key("largest_example").begin_object();
  json.key("tokens").value(request.largest.tokens);
  json.key("labelled").value(request.largest.labelled);
  json.key("patches").value(request.largest.patches);
  json.end_object();
  if (request.packed.tokens > 0) {
    json.key("largest_row").begin_object();
    json.key("tokens").value(request.packed.tokens);
    json.key("labelled").value(request.packed.labelled);
    json.key("patches").value(request.packed.patches);
    json.end_object();
  }
  if (request.packed_rows > 0) json.key("packed_rows").value(request.packed_rows);
  if (limit_bytes) {
    json.key("limit_bytes").value(*limit_bytes);
    json.key("fits").value(plan.peak_bytes <= *limit_bytes);
    json.key("changes").begin_array();
    for (const PlanChange& change : changes) {
      json.begin_object();
      json.key("option").value(change.option);
      json.key("cost").value(change.cost);
      json.key("peak_bytes").value(change.peak_bytes);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string packing_text(const PlanRequest& request, int64_t accumulate, int64_t processes) {
  if (request.packed_rows == 0) return "";
  const int64_t of_a_batch = std::max<int64_t>(1, request.batch_size * processes);
  const int64_t batches = (request.packed_rows + of_a_batch - 1) / of_a_batch;
  const int64_t steps = (batches + accumulate - 1) / std::max<int64_t>(1, accumulate);
  return fmt::format("Packed: {} examples in {} rows of up to {} tokens, {} step{} an epoch.\n",
                     format_count(request.examples), format_count(request.packed_rows),
                     format_count(request.packed.tokens), format_count(steps),
                     steps == 1 ? "" : "s");
}

std::string fit_text(const Plan& plan, const std::vector<PlanChange>& changes,
                     int64_t limit_bytes) {
  if (plan.peak_bytes <= limit_bytes) {
    return fmt::format("Fits {}: {} are left at the peak.\n", amount(limit_bytes),
                       amount(limit_bytes - plan.peak_bytes));
  }
  std::string out = fmt::format("Does not fit {}: {} too much. What to change, cheapest first:\n",
                                amount(limit_bytes), amount(plan.peak_bytes - limit_bytes));
  for (const PlanChange& change : changes) {
    out += fmt::format("  {:<52} peak {:>8}  ({})\n", change.option, amount(change.peak_bytes),
                       change.cost);
  }
  if (changes.empty() || changes.back().peak_bytes > limit_bytes) {
    out += "All of it together is not enough: a smaller model, or shorter examples.\n";
  }
  return out;
}

}  // namespace plateau::train
