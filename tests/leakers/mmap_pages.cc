// SPDX-License-Identifier: Apache-2.0
// Reads a dataset through a file mapping.
//
// A file of 150 MiB in TMPDIR (else /var/tmp, which is rarely a tmpfs) is mapped once; each step
// reads its batch of 768 KiB, every part once per epoch in shuffled order.
// Cause: file-backed-pages.
// Signal: RSS and RssFile rise until the file is in memory once, at the end of the first epoch;
//   anonymous memory is level and the kernel can take the pages back.
// Verdict: plateau (or warming); calling it a leak is the classic mistake of watching RSS.
#include <fcntl.h>
#include <sys/mman.h>

#include <numeric>
#include <vector>

#include "leaker.h"

namespace {

constexpr size_t kChunkBytes = 64UL * 1024;

int open_dataset(size_t chunks) {
  const char* directory = std::getenv("TMPDIR");
  std::string path = std::string(directory != nullptr ? directory : "/var/tmp") + "/leaker-XXXXXX";
  const int fd = mkstemp(path.data());
  if (fd < 0) std::abort();
  unlink(path.c_str());
  std::vector<char> chunk(kChunkBytes);
  for (size_t i = 0; i < chunks; ++i) {
    std::fill(chunk.begin(), chunk.end(), static_cast<char>(i));
    if (write(fd, chunk.data(), chunk.size()) != static_cast<ssize_t>(chunk.size())) std::abort();
  }
  // Neighbours must not be read along: random access, as a shuffled loader does.
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  leaker::Plan plan;
  plan.epoch_steps = 200;
  plan.batch = 12;
  leaker::Loop loop(plan.read(argc, argv));
  leaker::block(40UL * 1024);
  const auto chunks = static_cast<size_t>(plan.epoch_steps) * static_cast<size_t>(plan.batch);
  const int fd = open_dataset(chunks);
  void* mapping = mmap(nullptr, chunks * kChunkBytes, PROT_READ, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) std::abort();
  madvise(mapping, chunks * kChunkBytes, MADV_RANDOM);
  const auto* data = static_cast<const volatile char*>(mapping);

  std::vector<size_t> order(chunks);
  leaker::Dice dice(7);
  loop.run([&](int step) {
    const auto place = static_cast<size_t>((step - 1) % plan.epoch_steps);
    if (place == 0) {
      std::iota(order.begin(), order.end(), size_t{0});
      for (size_t i = chunks - 1; i > 0; --i) std::swap(order[i], order[dice.next() % (i + 1)]);
    }
    int sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(plan.batch); ++i) {
      const size_t begin = order[place * static_cast<size_t>(plan.batch) + i] * kChunkBytes;
      for (size_t at = 0; at < kChunkBytes; at += 4096) sum += data[begin + at];
    }
    if (sum == 42424242) std::puts("");  // The reads have a use.
  });
}
