// SPDX-License-Identifier: Apache-2.0
#include "recording/pages.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace plateau {
namespace {

using Figures = std::map<Metric, double>;

double amount(const PageKind& kind, const Figures& figures) {
  return amount_of(kind, [&figures](Metric metric) {
    const auto found = figures.find(metric);
    return found == figures.end() ? kMissing : found->second;
  });
}

TEST(OwnedPages, TheFirstKnownRungIsTaken) {
  Figures figures = {{Metric::memory, 900}};
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 900);
  figures[Metric::rss] = 800;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 800);
  figures[Metric::uss] = 300;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 300);
  figures[Metric::pss] = 500;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 500);
  figures[Metric::anon] = 600;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 500);
  figures[Metric::pss] = 700;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 600);
  figures.erase(Metric::pss);
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 600);
  figures[Metric::pss_anon] = 0;
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, figures), 0);
}

TEST(OwnedPages, SwapCountsBesideAnonymousPagesAndNotAlone) {
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, {{Metric::anon, 100}, {Metric::swap, 20}}), 120);
  EXPECT_DOUBLE_EQ(amount(kOwnedPages, {{Metric::rss, 100}, {Metric::swap, 20}}), 100);
  EXPECT_TRUE(std::isnan(amount(kOwnedPages, {{Metric::swap, 20}})));
}

TEST(SharedPages, WhatOnlyDescriptorsHoldIsAdded) {
  Figures figures = {{Metric::shmem_unmapped, 50}};
  EXPECT_DOUBLE_EQ(amount(kSharedPages, figures), 50);
  figures[Metric::shmem] = 200;
  EXPECT_DOUBLE_EQ(amount(kSharedPages, figures), 250);
  figures[Metric::pss_shmem] = 100;
  EXPECT_DOUBLE_EQ(amount(kSharedPages, figures), 150);
}

TEST(PageKinds, FilesSwapAndTheMachineDoNotDecide) {
  std::string silent;
  for (const PageKind& kind : kPageKinds) {
    EXPECT_FALSE(kind.ladder.empty()) << kind.name;
    if (!kind.decides) silent += std::string(kind.name) + " ";
    EXPECT_EQ(kind.reclaimable, kind.name == "file") << kind.name;
  }
  EXPECT_EQ(silent, "file swap system ");
}

}  // namespace
}  // namespace plateau
