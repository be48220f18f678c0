// SPDX-License-Identifier: Apache-2.0
// What a database answers to `plateau fleet`: read, joined into lives, and never believed of
// anything. Whatever comes, samples are finite and in order, and what is quoted of it is one
// harmless line.
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "fleet/life_series.h"
#include "fleet/plan.h"
#include "fleet/query_answer.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace plateau::fleet;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const char c : refusal_text(body))
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  plateau::Result<QueryAnswer> answer = read_answer(body);
  if (!answer) return 0;
  for (const RawSeries& series : answer.value().series) {
    double last = -INFINITY;
    for (const Sample& sample : series.samples) {
      require(std::isfinite(sample.value) && sample.at_s > last);
      last = sample.at_s;
    }
    version_of(series.labels);
    member_of(series.labels, workload_of(series.labels, "pod"));
  }
  const Preset preset = preset_named("process").value();
  size_t dealt = 0;
  for (const Shard& shard : deal(answer.value().series, preset, 3)) dealt += shard.series();
  require(dealt == answer.value().series.size());
  if (answer.value().series.empty()) return 0;
  const LifeSeries joined = join_series(std::move(answer.value().series), {});
  double last = -INFINITY;
  for (const Sample& sample : joined.samples) {
    require(sample.at_s > last);
    last = sample.at_s;
  }
  run_of(joined, plateau::Metric::rss, 0);
  return 0;
}
