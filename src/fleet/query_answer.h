// SPDX-License-Identifier: Apache-2.0
// What a Prometheus-compatible database answered, understood.
//
// /api/v1/query with a range vector gives a matrix, with an instant one a vector, /api/v1/series a
// list of label sets; all are read into the same plain table. Values that are no numbers (staleness
// markers, NaN, infinities) are left out: a gap is what they mean. The bytes come from a network
// and may be anything: whatever cannot be read is counted or refused, and nothing is believed of
// sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/labels.h"

namespace plateau::fleet {

struct Sample {
  double at_s = 0;  // Since 1970.
  double value = 0;
};

struct RawSeries {
  Labels labels;
  std::vector<Sample> samples;  // By rising time, finite. Empty in the answer of /series.
};

struct QueryAnswer {
  std::vector<RawSeries> series;
  std::vector<std::string> warnings;  // As the database gave them: "partial response: ...".
  size_t bad_samples = 0;             // That are not [time, "value"].

  [[nodiscard]] size_t samples() const;
};

// Fails if `body` is no JSON, or not the answer of such a database, or an error of it; the message
// quotes that.
Result<QueryAnswer> read_answer(std::string_view body);

// The "error" of a refusal's body, or its beginning; printable, one line, short.
std::string refusal_text(std::string_view body);

}  // namespace plateau::fleet
