// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/units.h"

namespace plateau::train {
namespace {

constexpr size_t kNameColumns = 16;
constexpr size_t kAmountColumns = 10;

std::string amount(int64_t bytes) {
  return format_mb(static_cast<double>(bytes) / kBytesPerMb);
}

std::string measured_column(const Measurements* measured, const std::string& name) {
  if (measured == nullptr) return "";
  const auto found = measured->find(name);
  return fmt::format("{:>{}}", found == measured->end() ? "" : amount(found->second),
                     kAmountColumns);
}

std::string row(const std::string& name, int64_t bytes, const Measurements* measured,
                const std::string& text, size_t width) {
  std::string line = fmt::format("  {:<{}}{:>{}}{}", name, kNameColumns, amount(bytes),
                                 kAmountColumns, measured_column(measured, name));
  if (!text.empty() && width > line.size() + 12)
    line += "  " + text.substr(0, width - line.size() - 2);
  return line + "\n";
}

}  // namespace

std::string plan_table(const Plan& plan, const Measurements* measured, size_t width) {
  std::string out;
  if (measured != nullptr) {
    out += fmt::format("  {:<{}}{:>{}}{:>{}}\n", "", kNameColumns, "planned", kAmountColumns,
                       "measured", kAmountColumns);
  }
  for (const PlanLine& line : plan.lines) {
    out += row(line.name, line.bytes, measured, line.formula, width);
  }
  out += row("resident", plan.resident_bytes, measured, "between steps", width);
  out += row("peak", plan.peak_bytes, measured,
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
