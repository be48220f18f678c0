// SPDX-License-Identifier: Apache-2.0
// What the labels of a time series say: which thing it is, what that is part of, and which version.
//
// A database knows series; people know workloads. Three questions stand between them.
//   - Which series are the same thing? Two Prometheus servers that scrape one target store it
//   twice,
//     with a label that says who scraped. Everything but such labels is the identity.
//   - Which workload is it? The owner that Kubernetes names, else the pod's name without what
//     Kubernetes appended, else the label that tells most.
//   - Which version? A label that says so, the tag of the image, or the hash of the pod template.
//
// Worked case: pod "checkout-7d9f8b6c5d-x2b4k" of image "reg.io/shop/checkout:v1.8.2" is workload
// "checkout", version "v1.8.2". Kubernetes writes its suffixes with 27 characters that spell no
// word, so "checkout-cache" keeps its last part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plateau::fleet {

// By rising name; a name occurs once.
class Labels {
 public:
  Labels() = default;
  explicit Labels(std::vector<std::pair<std::string, std::string>> pairs);

  // "" if there is none.
  [[nodiscard]] std::string_view of(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& all() const {
    return pairs_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// From pairs in any order; of a name that occurs twice the first counts.
Labels labels_of(std::vector<std::pair<std::string, std::string>> pairs);

// A label that says who scraped or stored a series, not what it is of.
bool names_scraper(std::string_view label);
// A label that changes when a container or process is started anew under the same name.
bool names_life(std::string_view label);

// The labels that make a series the thing it is, as one text: those of `names`, or, where none are
// given, all but the metric's name and those of scrapers.
std::string identity_of(const Labels& labels, std::span<const std::string_view> names);

// What a pod's name would be without what Kubernetes appended to its owner's.
std::string owner_of_pod(std::string_view pod);
// The hash of its template, "7d9f8b6c5d"; "" if the name has none.
std::string_view template_hash(std::string_view pod);

// "" if nothing tells. `preferred` is a label to look at first; it may be empty.
std::string workload_of(const Labels& labels, std::string_view preferred);
std::string version_of(const Labels& labels);
// What one member of a workload is called: its pod, instance, or what tells it from the others.
std::string member_of(const Labels& labels, std::string_view workload);

}  // namespace plateau::fleet
