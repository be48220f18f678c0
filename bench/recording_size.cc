// SPDX-License-Identifier: Apache-2.0
// recording_size: a day of a job with 21 processes, one sample a second, 12 columns a process: how
// large the recording gets, what a row costs to write, and how long it takes to open and to judge.
// The targets are 8 MB and 1 s. Every process changes by some kB at every tick.
//
//   recording_size [FILE]   writes the recording to FILE and keeps it; without, it goes away again
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "recording/recording.h"
#include "verdict/test_runs.h"
#include "verdict/verdict.h"

namespace plateau {
namespace {

constexpr int kSeconds = 24 * 3600;
constexpr size_t kProcesses = 21;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One process: a main or a worker that saws a few MB up and down, with a slow leak in the main one.
struct Worker {
  std::vector<size_t> kb;  // anon, file, shmem, swap, pss_anon, pss, pss_file, pss_shmem, uss
  size_t threads = 0;
  size_t fds = 0;
  size_t cpu = 0;
  double anon_kb = 0;
  double cpu_s = 0;
  bool is_main = false;
};

std::vector<Worker> start(RecordingWriter& writer) {
  static constexpr Metric kMetrics[] = {Metric::anon,     Metric::file,      Metric::shmem,
                                        Metric::swap,     Metric::pss_anon,  Metric::pss,
                                        Metric::pss_file, Metric::pss_shmem, Metric::uss};
  std::vector<Worker> workers(kProcesses);
  for (size_t i = 0; i < kProcesses; ++i) {
    Worker& worker = workers[i];
    worker.is_main = i == 0;
    const auto id = static_cast<int64_t>(4000 + i);
    const size_t process = writer.process({.id = id,
                                           .parent = i == 0 ? -1 : 4000,
                                           .id_is_pid = true,
                                           .name = "python train.py",
                                           .role = i == 0 ? Role::main : Role::data_worker,
                                           .role_reason = "bench"},
                                          i);
    for (const Metric metric : kMetrics) worker.kb.push_back(writer.memory_column(process, metric));
    worker.threads = writer.gauge_column(process, "threads");
    worker.fds = writer.gauge_column(process, "fds");
    worker.cpu = writer.gauge_column(process, "cpu_s");
    worker.anon_kb = i == 0 ? 4e6 : 3e5;
  }
  return workers;
}

void tick(Worker& worker, int second, Noise& noise, Sample& row) {
  // A batch is decoded and dropped: some MB either way, and page-sized noise on top.
  const double swing = worker.is_main ? 40000 : 6000;
  const double batch = swing * (0.5 + 0.3 * std::sin(second * 0.7) + 0.1 * noise());
  if (worker.is_main) worker.anon_kb += 1.5;
  const int64_t anon = 4 * std::llround((worker.anon_kb + std::fabs(batch)) / 4);
  const int64_t file = worker.is_main ? 480000 : 120000 + 4 * (second / 600 % 5);
  const int64_t shmem = 65536 + 4 * std::llround(200 * std::fabs(noise()));
  const bool walked = second % 5 == 0;  // A page-table walk; carried in between.
  const int64_t pss_anon = anon - (worker.is_main ? 0 : 40000) + (walked ? 4 : 0);
  const int64_t pss_file = file / 21 + second / 900 % 3;
  const int64_t pss_shmem = shmem / 21;
  const int64_t values[] = {anon,     file,      shmem,
                            0,        pss_anon,  pss_anon + pss_file + pss_shmem,
                            pss_file, pss_shmem, pss_anon - 1000};
  for (size_t i = 0; i < worker.kb.size(); ++i) row.set_kb(worker.kb[i], values[i]);
  worker.cpu_s += std::round(100 * (0.6 + 0.1 * noise())) / 100;
  row.set_gauge(worker.threads, second % 300 < 3 ? 13 : 12);
  row.set_gauge(worker.fds, 40 + second / 60 % 2);
  row.set_gauge(worker.cpu, std::round(worker.cpu_s * 100) / 100);
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void measure(const std::string& path) {
  auto made = RecordingWriter::create(path, {.command = "python train.py", .interval_s = 1});
  if (!made.ok()) return;
  RecordingWriter& writer = made.value();
  std::vector<Worker> workers = start(writer);
  Noise noise(7);
  double spent_s = 0;
  double longest_s = 0;
  uint64_t largest = 0;
  uint64_t first_rows = 0;
  for (int second = 0; second < kSeconds; ++second) {
    Sample row{.at = {.step = second / 3, .time_s = 1.0 * second}};
    for (Worker& worker : workers) tick(worker, second, noise, row);
    const double begin = cpu_seconds();
    writer.row(row);
    const double took = cpu_seconds() - begin;
    spent_s += took;
    longest_s = std::max(longest_s, took);
    largest = std::max(largest, writer.bytes_written());
    if (second == 1000) first_rows = writer.bytes_written();
  }
  writer.finish({.kind = Ending::Kind::exited, .code = 0, .text = ""});
  fmt::print("{} rows of {} columns\n", kSeconds, 12 * kProcesses);
  fmt::print("file      {:.2f} MB at the end, {:.2f} MB at most\n",
             static_cast<double>(writer.bytes_written()) / 1e6, static_cast<double>(largest) / 1e6);
  fmt::print("row       {:.0f} bytes appended, {:.0f} bytes kept per instant of the run\n",
             static_cast<double>(first_rows) / 1000,
             static_cast<double>(writer.bytes_written()) /
                 static_cast<double>(writer.run().instants.size()));
  fmt::print("write     {:.1f} us CPU a row, merging included; {:.0f} ms the longest\n",
             1e6 * spent_s / kSeconds, 1e3 * longest_s);

  double begin = cpu_seconds();
  const std::string bytes = bytes_of(path);
  const auto run = read_recording(path, bytes);
  const double opened = cpu_seconds() - begin;
  begin = cpu_seconds();
  const Word word = judge(run.value()).word;
  const double judged = cpu_seconds() - begin;
  fmt::print("open      {:.0f} ms, {} instants\n", 1e3 * opened, run.value().instants.size());
  fmt::print("judge     {:.0f} ms ({})\n", 1e3 * judged, word_name(word));
}

}  // namespace
}  // namespace plateau

int main(int argc, char** argv) {
  const bool keep = argc > 1;
  const std::string path =
      keep ? argv[1]
           : (std::filesystem::temp_directory_path() / "plateau-recording-size.plateau").string();
  plateau::measure(path);
  if (!keep) std::filesystem::remove(path);
}
