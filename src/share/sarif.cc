// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/json_writer.h"
#include "base/version.h"
#include "share/ci_case.h"
#include "words/cause_table.h"

namespace plateau {
namespace {

bool worth_a_result(const CiCase& told) {
  return told.outcome == CaseOutcome::failed || told.outcome == CaseOutcome::open;
}

std::string_view level_of(const CiCase& told) {
  return told.outcome == CaseOutcome::failed ? "error" : "note";
}

// A path as a relative URI reference: what would mean something in one is spelled by its number.
std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

void write_rule(JsonWriter& json, const std::string& id) {
  const CauseWords& words = cause_words(id);
  const std::string title(words.title.empty() ? "memory that grows" : words.title);
  const std::string help =
      words.fix.empty() ? title : fmt::format("Confirm: {}. Fix: {}.", words.confirm, words.fix);
  json.begin_object().members("id", id, "shortDescription", json_object("text", title));
  json.members("help", json_object("text", help)).end_object();
}

void write_result(JsonWriter& json, const CiCase& told) {
  json.begin_object().members("ruleId", told.rule, "level", level_of(told));
  json.members("message", json_object("text", told.message)).key("locations").begin_array();
  const std::string uri = uri_of(told.file);
  const auto artifact = json_object("uri", uri);
  const auto region = json_object("startLine", told.line);
  const auto place = json_object("artifactLocation", artifact, "region", region);
  json.value(json_object("physicalLocation", place)).end_array();
  // The same finding of another run is the same alert: its place and its cause, never its numbers.
  const std::string same = fmt::format("{}:{}", told.rule, told.name);
  json.members("partialFingerprints", json_object("plateau/v1", same));
  json.end_object();
}

}  // namespace

std::string sarif_json(const std::vector<CiCase>& cases) {
  std::vector<CiCase> results;
  std::ranges::copy_if(cases, std::back_inserter(results), worth_a_result);
  std::vector<std::string> rules;
  for (const CiCase& told : results) {
    if (std::ranges::find(rules, told.rule) == rules.end()) rules.push_back(told.rule);
  }
  JsonWriter json;
  json.begin_object().members("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.members("version", "2.1.0").key("runs").begin_array().begin_object();
  json.key("tool").begin_object().key("driver").begin_object();
  json.members("name", "plateau", "version", version());
  json.members("rules", json_list(rules, write_rule)).end_object().end_object();
  json.members("results", json_list(results, write_result));
  json.end_object().end_array().end_object();
  return json.take() + "\n";
}

}  // namespace plateau
