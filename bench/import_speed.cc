// SPDX-License-Identifier: Apache-2.0
// How fast logs are read, in MB/s on one core: text where every line is a sample, text where one
// line in ten is, CSV in the corpus's form, and JSON lines. The input is generated, the same each
// time. CPU time is counted and the best of five passes printed.
//
// import_speed [MB]   size of each input, default 100
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "import/import.h"

namespace {

using plateau::import_bytes;

// CPU time, not wall time: a busy machine must not look like a slow reader.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double memory_at(int64_t step) {
  return 5500.0 + 170.0 * static_cast<double>(std::min<int64_t>(step, 80)) +
         static_cast<double>((step * 7919) % 13);
}

std::string dense_text(size_t bytes) {
  std::string text;
  for (int64_t step = 1; text.size() < bytes; ++step) {
    text += fmt::format("Step {}: 6529 tensors (CPU: 330, GPU: 6199), RAM: {:.0f} MB (+12 MB)\n",
                        step, memory_at(step));
  }
  return text;
}

std::string mixed_text(size_t bytes) {
  std::string text;
  for (int64_t line = 0; text.size() < bytes; ++line) {
    const int64_t step = line / 10;
    switch (line % 10) {
      case 0:
        text +=
            fmt::format("2025-10-20 13:18:25,123 INFO trainer step {} rss={:.1f}MB loss=0.3412\n",
                        step, memory_at(step));
        break;
      case 3:
        text += "  File \"/usr/lib/python3.11/site-packages/torch/nn/module.py\", line 1518\n";
        break;
      case 6:
        text += "{'loss': 1.2034, 'grad_norm': 0.8123, 'learning_rate': 1.5e-05, 'epoch': 0.12}\n";
        break;
      default:
        text += "2025-10-20 13:18:25,456 DEBUG fetched 32 objects from shard-00017 in 0.021 s\n";
    }
  }
  return text;
}

std::string corpus_csv(size_t bytes) {
  std::string text =
      "t_s,step,epoch,event,proc,parent,rss_mb,pss_mb,uss_mb,anon_mb,file_mb,shmem_mb,swap_mb,"
      "threads\n";
  for (int64_t row = 0; text.size() < bytes; ++row) {
    const double mb = memory_at(row / 4);
    text += fmt::format("{}.660,{},0.0606,,{},{},{:.3f},88.875,7.043,{:.3f},16.551,0.000,0.000,1\n",
                        row / 4, row / 4, row % 4, row % 4 == 0 ? "" : "0", mb, mb - 16);
  }
  return text;
}

std::string json_lines(size_t bytes) {
  std::string text;
  for (int64_t step = 1; text.size() < bytes; ++step) {
    text += fmt::format(
        "{{\"step\": {}, \"loss\": 0.3412, \"lr\": 1.5e-05, \"memory\": {{\"rss_mb\": {:.1f}}}, "
        "\"time\": {}}}\n",
        step, memory_at(step), 1760966305 + step);
  }
  return text;
}

void measure(const char* name, const std::string& input) {
  double best = 1e9;
  size_t samples = 0;
  for (int pass = 0; pass < 5; ++pass) {
    const double start = cpu_seconds();
    const auto runs = import_bytes(name, input);
    const double took = cpu_seconds() - start;
    if (!runs.ok()) {
      fmt::print("{}: {}\n", name, runs.error().message);
      return;
    }
    samples = runs.value().back().instants.size();
    best = std::min(best, took);
  }
  const double mb = static_cast<double>(input.size()) / 1e6;
  fmt::print("{:<12} {:7.1f} MB  {:8.0f} MB/s  {:9} samples\n", name, mb, mb / best, samples);
}

}  // namespace

int main(int argc, char** argv) {
  const long mb = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100;
  const size_t bytes = static_cast<size_t>(std::clamp(mb, 1L, 4000L)) * 1'000'000;
  measure("text dense", dense_text(bytes));
  measure("text mixed", mixed_text(bytes));
  measure("csv", corpus_csv(bytes));
  measure("json lines", json_lines(bytes));
  return 0;
}
