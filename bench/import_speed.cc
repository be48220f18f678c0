// SPDX-License-Identifier: Apache-2.0
// How fast logs are read, in MB/s on one core: text where every line is a sample, text where one
// line in ten is, CSV in the corpus's form, and JSON lines; then logs that no reader of a format
// knows, whose reading is learned from their head: ranks, lines of which one in ten is a sample
// and the others never repeat, a table of containers, text inside JSON, a CSV of strange names.
// The input is generated, the same each time. CPU time is counted and the best of five passes
// printed, with the reader that took it.
//
// import_speed [MB [NAME]]   size of each input, default 100; only inputs whose name begins so
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

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

// Four ranks behind the prefix of compose.
std::string rank_text(size_t bytes) {
  std::string text;
  for (int64_t line = 0; text.size() < bytes; ++line) {
    const int64_t second = line / 4;
    text += fmt::format(
        "trainer-{}  | 2026-11-15 {:02}:{:02}:{:02},123 INFO it {} | host memory {:.2f} GB of "
        "64.00 GB "
        "| loss 0.{:04}\n",
        line % 4, second / 3600 % 24, second / 60 % 60, second % 60, second,
        memory_at(second) / 1e3, line * 7919 % 10000);
  }
  return text;
}

// One line in ten is a sample; the others hold hashes, and no two are of one shape.
std::string noisy_text(size_t bytes) {
  std::string text;
  uint64_t noise = 88172645463325252ull;
  for (int64_t line = 0; text.size() < bytes; ++line) {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    const int64_t second = line / 10;
    const std::string clock = fmt::format("2026-11-15 {:02}:{:02}:{:02}", second / 3600 % 24,
                                          second / 60 % 60, second % 60);
    if (line % 10 == 0) {
      text += fmt::format("worker-{}  | {} heap now {:.1f}MB (limit 4096MB)\n", second % 2, clock,
                          memory_at(second / 2));
    } else {
      text +=
          fmt::format("worker-{}  | {} GET /v1/objects/{:016x}/parts/{:x} from 10.0.{}.{} done\n",
                      second % 2, clock, noise, noise % 977, noise % 200, noise % 250);
    }
  }
  return text;
}

std::string container_table(size_t bytes) {
  std::string text;
  for (int64_t round = 0; text.size() < bytes; ++round) {
    text +=
        "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O          "
        "PIDS\n";
    for (int container = 0; container < 4; ++container) {
      text += fmt::format(
          "4f8c2d6e1b0{}   train-{}   {:5.2f}%    {:.3f}GiB / 62.79GiB   {:.2f}%     1.21MB / "
          "873kB   "
          "38\n",
          container, container, static_cast<double>(round % 97), memory_at(round) / 1e3,
          memory_at(round) / 640);
    }
  }
  return text;
}

std::string text_in_json(size_t bytes) {
  std::string text;
  for (int64_t step = 1; text.size() < bytes; ++step) {
    text += fmt::format(
        "{{\"level\": \"info\", \"time\": {}, \"pod\": \"train-{}\", \"message\": \"iteration {} "
        "took "
        "0.21 s, resident memory {:.1f} MiB\"}}\n",
        1760966305 + step, step % 2, step / 2, memory_at(step / 2));
  }
  return text;
}

std::string strange_csv(size_t bytes) {
  std::string text = "when,loop,loss,proc mem,worker,note\n";
  for (int64_t row = 0; text.size() < bytes; ++row) {
    text +=
        fmt::format("{},{},0.{:04},{:.2f} MiB,w{},\"fetched {} objects\"\n", 1760966305 + row / 2,
                    row / 2, row * 7919 % 10000, memory_at(row / 2), row % 2, row % 1000);
  }
  return text;
}

void measure(const char* name, const std::string& input) {
  double best = 1e9;
  size_t samples = 0;
  std::string format;
  for (int pass = 0; pass < 5; ++pass) {
    const double start = cpu_seconds();
    const auto runs = import_bytes(name, input);
    const double took = cpu_seconds() - start;
    if (!runs.ok()) {
      fmt::print("{}: {}\n", name, runs.error().message);
      return;
    }
    samples = runs.value().back().instants.size();
    format = runs.value().back().format;
    best = std::min(best, took);
  }
  const double mb = static_cast<double>(input.size()) / 1e6;
  fmt::print("{:<14} {:7.1f} MB  {:8.0f} MB/s  {:9} samples  {}\n", name, mb, mb / best, samples,
             format);
}

}  // namespace

int main(int argc, char** argv) {
  const long mb = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100;
  const size_t bytes = static_cast<size_t>(std::clamp(mb, 1L, 4000L)) * 1'000'000;
  struct Input {
    const char* name;
    std::string (*make)(size_t bytes);
  };
  static constexpr Input kInputs[] = {
      {"text dense", dense_text},
      {"text mixed", mixed_text},
      {"csv", corpus_csv},
      {"json lines", json_lines},
      {"learned ranks", rank_text},
      {"learned noise", noisy_text},
      {"learned table", container_table},
      {"learned json", text_in_json},
      {"learned csv", strange_csv},
  };
  for (const Input& input : kInputs) {
    if (std::string_view(input.name).starts_with(argc > 2 ? argv[2] : "")) {
      measure(input.name, input.make(bytes));
    }
  }
  return 0;
}
