// SPDX-License-Identifier: Apache-2.0
#include "report/job_json.h"

namespace plateau {
namespace {

std::optional<int64_t> known(int64_t number) {
  return value_if(number >= 0, number);
}

std::optional<double> known_confidence(double confidence) {
  return value_if(confidence != 0, confidence);
}

void rank(JsonWriter& json, const RankVerdict& rank) {
  json.value(json_object("rank", rank.rank, "node", text_or_null(rank.node), "verdict",
                         word_name(rank.word), "confidence", known_confidence(rank.confidence),
                         "first_mb", rank.first_mb, "last_mb", rank.last_mb, "rate_mb_per_step",
                         rank.rate_mb_per_step, "lives", rank.lives, "ended_step", rank.ended_step,
                         "odd", rank.odd, "saves", rank.saves));
}

void node(JsonWriter& json, const NodeVerdict& node) {
  const Risk& risk = node.risk;
  json.value(json_object(
      "name", text_or_null(node.name), "ranks", node.ranks, "verdict", word_name(node.word),
      "confidence", known_confidence(node.confidence), "first_mb", node.first_mb, "last_mb",
      node.last_mb, "risk",
      json_object("oom", risk.oom, "at_step", risk.at_step, "limit_mb", risk.limit_mb)));
}

void launched(JsonWriter& json, const Launched& part) {
  json.value(json_object("job", text_or_null(part.job), "rank", known(part.rank), "world",
                         known(part.world), "node", text_or_null(part.node), "attempt",
                         known(part.attempt)));
}

void job(JsonWriter& json, const JobVerdict& job) {
  json.value(json_object("id", text_or_null(job.id), "world", value_if(job.world > 0, job.world),
                         "missing", job.missing, "missing_count", job.missing_count, "reach",
                         reach_name(job.reach), "ranks", json_list(job.ranks, rank), "nodes",
                         json_list(job.nodes, node)));
}

}  // namespace

void write_job(JsonWriter& json, const Verdict& verdict) {
  json.members("launched", json_if(verdict.launched, launched));
  json.members("job", json_if(verdict.job, job));
}

}  // namespace plateau
