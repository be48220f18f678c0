// SPDX-License-Identifier: Apache-2.0
#include "inject/growth_look.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "base/units.h"

namespace plateau {
namespace {

// The kernel's counters lag behind by up to 64 pages a CPU.
constexpr double kLeastRiseMb = 0.5;
constexpr int kEveryMs = 50;

std::optional<double> memory_mb(pid_t pid) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  if (field_of(status, "VmRSS").empty()) return std::nullopt;
  double kb = 0;
  for (const char* key : {"RssAnon", "RssShmem", "VmSwap"}) {
    kb += static_cast<double>(number_field(status, key));
  }
  return kb * 1024 / kBytesPerMb;
}

}  // namespace

GrowthLook judge_growth(const std::vector<MemoryPoint>& points) {
  GrowthLook look;
  if (points.size() < 4) return look;
  look.seconds = points.back().at_s - points.front().at_s;
  const auto lower = [](const MemoryPoint& a, const MemoryPoint& b) { return a.mb < b.mb; };
  const auto middle = points.begin() + static_cast<std::ptrdiff_t>(points.size() / 2);
  const double before_mb = std::min_element(points.begin(), middle, lower)->mb;
  const double rise_mb = std::min_element(middle, points.end(), lower)->mb - before_mb;
  look.mb_per_s = look.seconds > 0 ? rise_mb / (look.seconds / 2) : 0;
  look.grows = rise_mb >= kLeastRiseMb;
  return look;
}

std::optional<GrowthLook> look_at_growth(pid_t pid, double seconds) {
  if (!(seconds > 0)) return std::nullopt;
  std::vector<MemoryPoint> points;
  const double begin_s = monotonic_now_s();
  for (double at_s = 0; at_s < seconds; at_s = monotonic_now_s() - begin_s) {
    const std::optional<double> mb = memory_mb(pid);
    if (!mb) return std::nullopt;
    points.push_back({at_s, *mb});
    poll(nullptr, 0, kEveryMs);
  }
  return judge_growth(points);
}

}  // namespace plateau
