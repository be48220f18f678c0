// SPDX-License-Identifier: Apache-2.0
// The small phrases that reports are made of: steps, rates, spans, shares. Formatting only.
#pragma once

#include <string>
#include <string_view>

#include "verdict/verdict.h"

namespace plateau {

std::string word_upper(Word word);  // "PLATEAU"

// "87 %", "99.9 %", "> 99.9 %", "< 1 %": as many digits as mean something near the ends.
std::string percent_phrase(double share);
// "likely", "possible", "less likely": how well a cause matches, which is ranked by hand and is no
// probability.
std::string_view likelihood_phrase(double weight);

// The same for a confidence, of which 0 means that none can be given: "-".
std::string confidence_phrase(double confidence);

// A whole number with its thousands apart; small fractions keep a digit: "1,250", "0.5".
std::string count_phrase(double value);

// "step 83", "12 min", "sample 40"; samples are numbered from 1.
std::string moment_phrase(Clock clock, double at);
// "steps 10–82", "0 s – 12 min", "samples 1–40".
std::string span_phrase(Clock clock, double from, double to);
// "150 steps", "12 min", "40 samples".
std::string length_phrase(Clock clock, double length);
// "+168 MB/step", "+1.2 GB/h", "+3 MB/sample": per step, or per a time that gives a plain number.
std::string rate_phrase(Clock clock, double mb_per_step);
// "165–173 MB/step", in the unit of rate_phrase.
std::string rate_range_phrase(Clock clock, const Interval& range);
// "5.43 → 17.7 GB", "900 MB → 1.20 GB": the unit once if both share it.
std::string from_to_phrase(double from_mb, double to_mb);
// "17.2–17.7 GB".
std::string range_phrase(const Interval& range);
// "17.4 GB ± 0.3 GB" from the half width of the range.
std::string band_phrase(double mb, const Interval& range);
// "PSS + swap, summed over 4 processes".
std::string measure_phrase(const Measure& measure);
// "python (pid 4242, data worker)", "process 3".
std::string process_phrase(const ProcessGrowth& process);

// "level since step 83", "growing since step 12", "growing from the start"; "" if it cannot be
// said.
std::string since_phrase(const Verdict& verdict);

}  // namespace plateau
