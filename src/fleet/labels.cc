// SPDX-License-Identifier: Apache-2.0
#include "fleet/labels.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace plateau::fleet {
namespace {

constexpr std::array<std::string_view, 9> kScrapers = {
    "replica",      "prometheus", "prometheus_replica", "__replica__", "monitor", "endpoint",
    "metrics_path", "receive",    "tenant_id"};
constexpr std::array<std::string_view, 6> kLives = {"id",  "name",       "container_id",
                                                    "uid", "process_id", "pid"};
// Where the name of a workload stands when no owner is known, the most telling first.
constexpr std::array<std::string_view, 8> kWorkloads = {
    "workload", "exported_pod", "pod", "groupname", "process", "run", "job", "instance"};
constexpr std::array<std::string_view, 5> kVersions = {
    "version", "app_version", "app_kubernetes_io_version", "label_app_kubernetes_io_version",
    "release"};
constexpr std::array<std::string_view, 8> kMembers = {
    "pod", "exported_pod", "instance", "Hostname", "node", "gpu", "run", "groupname"};
// Kubernetes draws suffixes from these: no vowels, and nothing that is easily confused.
constexpr std::string_view kSuffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kDrawn = 5;         // Characters that are drawn for one pod,
constexpr size_t kShortestHash = 6;  // and those of a hash of its template.
constexpr size_t kLongestHash = 10;
constexpr size_t kShownDigest = 12;

template <size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool all_of(std::string_view text, std::string_view alphabet) {
  return !text.empty() && text.find_first_not_of(alphabet) == std::string_view::npos;
}

// The part behind the last dash; "" if nothing stands before it.
std::string_view last_part(std::string_view name) {
  const size_t dash = name.rfind('-');
  return dash == std::string_view::npos || dash == 0 ? std::string_view() : name.substr(dash + 1);
}

std::string_view without_last_part(std::string_view name) {
  return name.substr(0, name.rfind('-'));
}

bool is_drawn(std::string_view part) {
  return part.size() == kDrawn && all_of(part, kSuffixAlphabet);
}

bool is_hash(std::string_view part) {
  return part.size() >= kShortestHash && part.size() <= kLongestHash &&
         all_of(part, kSuffixAlphabet);
}

// "v1.8.2" of "registry:5000/shop/checkout:v1.8.2", the beginning of a digest, or "".
std::string version_of_image(std::string_view image) {
  if (const size_t at = image.find("@sha256:"); at != std::string_view::npos) {
    const std::string_view name = image.substr(0, at);
    const size_t colon = name.rfind(':');
    if (colon == std::string_view::npos || name.find('/', colon) != std::string_view::npos) {
      return std::string(image.substr(at + 8, kShownDigest));
    }
    image = name;
  }
  const size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || image.find('/', colon) != std::string_view::npos) {
    return "";
  }
  return std::string(image.substr(colon + 1));
}

}  // namespace

Labels::Labels(std::vector<std::pair<std::string, std::string>> pairs) : pairs_(std::move(pairs)) {
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), same), pairs_.end());
}

std::string_view Labels::of(std::string_view name) const {
  const auto at =
      std::lower_bound(pairs_.begin(), pairs_.end(), name,
                       [](const auto& pair, std::string_view n) { return pair.first < n; });
  return at != pairs_.end() && at->first == name ? std::string_view(at->second)
                                                 : std::string_view();
}

Labels labels_of(std::vector<std::pair<std::string, std::string>> pairs) {
  return Labels(std::move(pairs));
}

bool names_scraper(std::string_view label) {
  return is_one_of(kScrapers, label);
}

bool names_life(std::string_view label) {
  return is_one_of(kLives, label);
}

std::string identity_of(const Labels& labels, std::span<const std::string_view> names) {
  std::string identity;
  const auto add = [&identity](std::string_view name, std::string_view value) {
    // A byte that no label holds keeps "a=b" apart from "a", "=b".
    identity.append(name).append(1, '\x01').append(value).append(1, '\x02');
  };
  if (!names.empty()) {
    for (const std::string_view name : names) {
      if (const std::string_view value = labels.of(name); !value.empty()) add(name, value);
    }
    return identity;
  }
  for (const auto& [name, value] : labels.all()) {
    if (name != "__name__" && !names_scraper(name)) add(name, value);
  }
  return identity;
}

std::string_view template_hash(std::string_view pod) {
  if (!is_drawn(last_part(pod))) return {};
  const std::string_view hash = last_part(without_last_part(pod));
  return is_hash(hash) ? hash : std::string_view();
}

std::string owner_of_pod(std::string_view pod) {
  std::string_view name = pod;
  if (is_drawn(last_part(name))) {
    name = without_last_part(name);
    if (is_hash(last_part(name))) name = without_last_part(name);
  }
  // Ordinals of StatefulSets, and the minute at which a CronJob started.
  const std::string_view last = last_part(name);
  if (all_of(last, "0123456789")) name = without_last_part(name);
  return std::string(name);
}

std::string workload_of(const Labels& labels, std::string_view preferred) {
  if (const std::string_view value = labels.of(preferred); !value.empty()) {
    const bool pod = preferred == "pod" || preferred == "exported_pod";
    return pod ? owner_of_pod(value) : std::string(value);
  }
  for (const std::string_view name : kWorkloads) {
    const std::string_view value = labels.of(name);
    if (value.empty()) continue;
    const bool pod = name == "pod" || name == "exported_pod";
    return pod ? owner_of_pod(value) : std::string(value);
  }
  return "";
}

std::string version_of(const Labels& labels) {
  for (const std::string_view name : kVersions) {
    if (const std::string_view value = labels.of(name); !value.empty()) return std::string(value);
  }
  std::string tag = version_of_image(labels.of("image"));
  return tag.empty() ? std::string(template_hash(labels.of("pod"))) : tag;
}

std::string member_of(const Labels& labels, std::string_view workload) {
  std::string member;
  for (const std::string_view name : kMembers) {
    const std::string_view value = labels.of(name);
    if (value.empty() || value == workload) continue;
    if (!member.empty() && name != "gpu") continue;
    if (!member.empty()) member += '/';
    member += value;
  }
  return member.empty() ? std::string(workload) : member;
}

}  // namespace plateau::fleet
