// SPDX-License-Identifier: Apache-2.0
// Holds known amounts from three places: 40 MB in blocks of 100 bytes, 30 MB in blocks of 5 KB and
// 30 MB in blocks of 1 MB, after as much churn. Used to check estimates.
#include <cstdlib>

namespace {

void* volatile keep_alive[400'000 + 6'000 + 30];
int kept = 0;

[[gnu::noinline]] void hold(size_t bytes, int count) {
  for (int i = 0; i < count; ++i) {
    void* churn = malloc(bytes);
    asm volatile("" : "+r"(churn));  // The compiler may not do without it.
    keep_alive[kept++] = malloc(bytes);
    free(churn);
  }
}

}  // namespace

int main() {
  hold(100, 400'000);
  hold(5'000, 6'000);
  hold(1'000'000, 30);
  quick_exit(0);
}
