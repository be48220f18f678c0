// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "page/page_data.h"
#include "page/page_file.h"

namespace plateau {
namespace {

TEST(PageFile, TemplateHasBothPlaces) {
  EXPECT_NE(page_template().find("<!--plateau:head-->"), std::string_view::npos);
  EXPECT_NE(page_template().find("<!--plateau:body-->"), std::string_view::npos);
}

}  // namespace
}  // namespace plateau
