// SPDX-License-Identifier: Apache-2.0
// How large could a cache of this program be?
//
// Before a server has run for long, a cache that fills and a leak are the same line. But caches
// have sizes: growth that has gone far beyond any of them is no cache, however short the time.
// Beyond is
//
//   - eight times what the program held before it grew, and
//   - a sixteenth of the memory it may use (of the limit, else of a machine of 16 GB), and
//   - one and a half times the maximum that its own command line states: -Xmx4g, --maxmemory 2gb,
//     --max-old-space-size=4096, memcached's -m 1024. A JVM without one takes a quarter of the
//     machine, memcached 64 MB.
//
// Worked case: redis-server starts with 10 MB on a machine of 25 GB and takes 30 MB/s. A sixteenth
// is 1.6 GB: after a minute it is beyond. A JVM with -Xmx4g has to pass 6 GB.
//
// Only by the clock on the wall: a training job has steps, and what it keeps has the size of its
// data. A loop of 120 MB that decodes pictures passes 2.5 GB within its first epoch and is no leak.
//
// Blind spot: a cache that somebody sized at a tenth of the machine in a configuration file.
#pragma once

#include <optional>
#include <string_view>

#include "recording/run.h"
#include "verdict/floor.h"

namespace plateau {

// What the command line says that the program may keep at most, MB.
std::optional<double> stated_maximum_mb(std::string_view command, std::optional<double> limit_mb);

// Growth beyond which no cache explains it, MB; what the program held before is not looked at.
double largest_cache_mb(const Run& run);

// That, or kTimesBefore times what it held before if that is more. Requires: floors are not empty.
inline constexpr double kTimesBefore = 8;
double most_of_any_cache(const Floors& floors, double largest_cache_mb);

// Has it grown beyond that?
bool beyond_any_cache(const Floors& floors, double largest_cache_mb);

}  // namespace plateau
