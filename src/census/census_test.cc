// SPDX-License-Identifier: Apache-2.0
#include "census/census.h"
#include <gtest/gtest.h>
namespace plateau {
TEST(Census, Try) {
  auto census = take_census(atoi(getenv("TARGET")), {.max_stop_s = 5});
  if (!census.ok()) {
    puts(census.error().message.c_str());
    return;
  }
  printf("%d objects %lu unreadable %lu stop %.1f ms read %lu\n", census.value().minor,
         census.value().objects, census.value().unreadable, census.value().stopped_s * 1e3,
         census.value().bytes_read);
  int n = 0;
  for (auto& t : census.value().types)
    if (n++ < 25) printf("%9lu %12lu %s\n", t.objects, t.bytes, t.type.c_str());
}
}  // namespace plateau
