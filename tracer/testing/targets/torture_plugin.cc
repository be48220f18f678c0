// SPDX-License-Identifier: Apache-2.0
// Loaded and unloaded by torture.cc: allocates when it comes and when it goes, and throws.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Baggage {
  std::vector<std::string> items;
  Baggage() {
    for (int i = 0; i < 100; ++i) {
      items.push_back(std::string(static_cast<size_t>(i) * 7 + 20, 'p'));
    }
  }
  ~Baggage() {
    const std::vector<std::string> copy = items;
    items.clear();
  }
};
Baggage baggage;

}  // namespace

extern "C" unsigned plugin_work(unsigned seed) {
  auto block = std::make_unique<std::string>(seed % 5000 + 1, 'q');
  if (seed % 3 == 0) {
    throw std::runtime_error(*block);
  }
  return static_cast<unsigned>(block->size() + baggage.items.size());
}
