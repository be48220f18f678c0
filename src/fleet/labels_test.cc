// SPDX-License-Identifier: Apache-2.0
#include "fleet/labels.h"

#include <gtest/gtest.h>

namespace plateau::fleet {
namespace {

TEST(PodNames, LoseWhatKubernetesAppended) {
  EXPECT_EQ(owner_of_pod("checkout-7d9f8b6c5d-x2b4k"), "checkout");
  EXPECT_EQ(owner_of_pod("fluentd-x2b4k"), "fluentd");
  EXPECT_EQ(owner_of_pod("kafka-12"), "kafka");
  EXPECT_EQ(owner_of_pod("backup-28391040-x2b4k"), "backup");
}

TEST(PodNames, KeepPartsThatAreWords) {
  EXPECT_EQ(owner_of_pod("checkout-cache"), "checkout-cache");
  EXPECT_EQ(owner_of_pod("redis-exporter"), "redis-exporter");
  EXPECT_EQ(owner_of_pod("web"), "web");
  EXPECT_EQ(owner_of_pod("-5"), "-5");
  EXPECT_EQ(owner_of_pod(""), "");
}

TEST(Versions, ComeFromTheLabelThenTheImageThenTheTemplate) {
  EXPECT_EQ(version_of(labels_of({{"version", "2.0"}, {"image", "a:1"}})), "2.0");
  EXPECT_EQ(version_of(labels_of({{"image", "reg.io:5000/shop/checkout:v1.8.2"}})), "v1.8.2");
  EXPECT_EQ(version_of(labels_of({{"image", "reg.io:5000/shop/checkout:v1@sha256:abcdef"}})), "v1");
  EXPECT_EQ(version_of(labels_of({{"image", "reg.io:5000/checkout@sha256:0123456789abcdef"}})),
            "0123456789ab");
  EXPECT_EQ(
      version_of(labels_of({{"image", "reg.io:5000/checkout"}, {"pod", "c-7d9f8b6c5d-x2b4k"}})),
      "7d9f8b6c5d");
  EXPECT_EQ(version_of(Labels()), "");
}

TEST(Identity, IgnoresWhoScraped) {
  const Labels a =
      labels_of({{"__name__", "m"}, {"pod", "x"}, {"replica", "a"}, {"prometheus", "p/0"}});
  const Labels b =
      labels_of({{"__name__", "m"}, {"pod", "x"}, {"replica", "b"}, {"prometheus", "p/1"}});
  EXPECT_EQ(identity_of(a, {}), identity_of(b, {}));
}

TEST(Identity, IsOnlyWhatWasNamed) {
  const std::vector<std::string_view> names = {"namespace", "pod"};
  const Labels a = labels_of({{"namespace", "n"}, {"pod", "x"}, {"id", "/kubepods/1"}});
  const Labels b = labels_of({{"namespace", "n"}, {"pod", "x"}, {"id", "/kubepods/2"}});
  EXPECT_EQ(identity_of(a, names), identity_of(b, names));
  EXPECT_NE(identity_of(a, {}), identity_of(b, {}));
}

TEST(Identity, CannotBeForgedByALabelsValue) {
  EXPECT_NE(identity_of(labels_of({{"a", "b"}, {"c", "d"}}), {}),
            identity_of(labels_of({{"a", "bc=d"}}), {}));
}

TEST(Workloads, TakeTheLabelThatTellsMost) {
  EXPECT_EQ(workload_of(labels_of({{"pod", "api-7d9f8b6c5d-x2b4k"}, {"job", "cadvisor"}}), ""),
            "api");
  EXPECT_EQ(workload_of(labels_of({{"groupname", "nginx"}, {"instance", "a:1"}}), ""), "nginx");
  EXPECT_EQ(workload_of(labels_of({{"job", "api"}, {"instance", "a:1"}}), "instance"), "a:1");
  EXPECT_EQ(workload_of(Labels(), ""), "");
}

}  // namespace
}  // namespace plateau::fleet
