// SPDX-License-Identifier: Apache-2.0
// Real processes over the loopback: each is this program again, running the one test below that is
// disabled otherwise, with its rank in the environment.
#include "trainer/loop/distributed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <map>

#include "base/fd.h"
#include "base/text.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/toy_learner_for_test.h"
#include "trainer/loop/training.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

int free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

struct Losses final : TrainingObserver {
  std::vector<double> values;
  int die_after = -1;
  int sleep_after = -1;
  void stepped(const StepReport& report) override {
    values.push_back(report.loss);
    if (report.step == die_after) ::kill(::getpid(), SIGKILL);
    if (report.step == sleep_after) ::pause();
  }
};

TrainingOptions options_for(const fs::path& out) {
  TrainingOptions options;
  options.output_directory = out;
  options.accumulate = 2;
  options.max_steps = 10;
  options.warmup_steps = 2;
  options.save_steps = 5;
  options.eval_steps = 5;
  options.optimizer.kind = OptimizerKind::adamw;
  options.optimizer.learning_rate = 1e-2;
  options.adapter_config_json = adapter_config_text({});
  return options;
}

// Losses one a line, then the error if there was one.
void run_to_file(Peers* peers, const fs::path& out, const fs::path& report,
                 const std::string& mode) {
  const int rank = peers == nullptr ? 0 : peers->rank();
  const int world = peers == nullptr ? 1 : peers->world();
  ListSource::Options data{.examples = 23, .batch_size = 4, .rank = rank, .world = world};
  if (mode == "bad data" && rank == 1) data.fails_at = 13;
  ListSource training(data);
  ListSource evaluation({.examples = 5, .batch_size = 2, .rank = rank, .world = world});
  // Different starts: rank 0's weights count.
  const auto learner = make_toy({.seed = 1 + static_cast<uint64_t>(rank)});
  Losses losses;
  if (mode == "dies" && rank == 1) losses.die_after = 3;
  if (mode == "hangs" && rank == 1) losses.sleep_after = 3;
  TrainingOptions options = options_for(out);
  options.peers = peers;
  int steps = 0;
  const auto result = train(*learner, training, &evaluation, options, losses,
                            [&] { return ++steps == 4 && mode == "stops" && rank == 1; });
  std::ofstream file(report);
  for (const double loss : losses.values) file << fmt::format("{}\n", loss);
  if (!result.ok()) file << "error " << result.error().message << "\n";
  if (result.ok() && result.value().best_eval_loss) {
    file << fmt::format("eval {}\n", *result.value().best_eval_loss);
  }
}

TEST(DistributedWorker, DISABLED_Run) {
  auto options = peer_options_from_environment();
  ASSERT_TRUE(options.ok() && options.value());
  const std::string mode = std::getenv("PLATEAU_TEST_MODE");
  options.value()->timeout = std::chrono::seconds(mode == "hangs" ? 15 : 120);
  options.value()->bucket_bytes = 25'000;  // One matrix fills a bucket; the vector is left over.
  const fs::path directory = std::getenv("PLATEAU_TEST_DIRECTORY");
  const fs::path report = directory / fmt::format("report-{}", options.value()->rank);
  auto peers = Peers::join(*options.value());
  if (!peers.ok()) {
    std::ofstream(report) << "error " << peers.error().message << "\n";
    return;
  }
  run_to_file(peers.value().get(), directory / "out", report, mode);
}

pid_t start_worker(int rank, int world, int port, const fs::path& directory,
                   const std::string& mode) {
  std::vector<std::string> environment{fmt::format("RANK={}", rank),
                                       fmt::format("WORLD_SIZE={}", world),
                                       "MASTER_ADDR=127.0.0.1",
                                       fmt::format("MASTER_PORT={}", port),
                                       "OMP_NUM_THREADS=1",
                                       "PLATEAU_TEST_MODE=" + mode,
                                       "PLATEAU_TEST_DIRECTORY=" + directory.string()};
  std::vector<char*> pointers;
  pointers.reserve(environment.size() + 1);
  for (std::string& text : environment) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, 1);
  ::dup2(null, 2);
  const char* arguments[] = {"worker", "--gtest_filter=DistributedWorker.DISABLED_Run",
                             "--gtest_also_run_disabled_tests", nullptr};
  ::execve("/proc/self/exe", const_cast<char**>(arguments), pointers.data());
  ::_exit(127);
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Reports of both ranks; rank 1 is killed at the end if it hangs on purpose.
std::pair<std::vector<std::string>, std::vector<std::string>> run_two(const fs::path& directory,
                                                                      const std::string& mode) {
  const int port = free_port();
  const pid_t first = start_worker(0, 2, port, directory, mode);
  const pid_t second = start_worker(1, 2, port, directory, mode);
  ::waitpid(first, nullptr, 0);
  if (mode == "hangs") ::kill(second, SIGKILL);
  ::waitpid(second, nullptr, 0);
  return {lines_of(directory / "report-0"), lines_of(directory / "report-1")};
}

TEST(Distributed, TwoProcessesHaveTheLossesAndWeightsOfOne) {
  const ScratchDirectory two;
  const auto [rank0, rank1] = run_two(two.path(), "");
  const ScratchDirectory one;
  run_to_file(nullptr, one.path() / "out", one.path() / "report", "");
  const auto alone = lines_of(one.path() / "report");
  ASSERT_EQ(alone.size(), 11U);
  ASSERT_EQ(rank0.size(), 11U) << (rank0.empty() ? "" : rank0.back());
  EXPECT_EQ(rank0, rank1);
  for (size_t i = 0; i < 10; ++i) {
    const double expected = parse_double(alone[i]).value();
    EXPECT_NEAR(parse_double(rank0[i]).value(), expected, 1e-6 * expected) << i;
  }
  const double expected = parse_double(alone[10].substr(5)).value();
  EXPECT_NEAR(parse_double(rank0[10].substr(5)).value(), expected, 1e-6 * expected);

  const auto a = read_checkpoint(one.path() / "out" / "checkpoint-10");
  const auto b = read_checkpoint(two.path() / "out" / "checkpoint-10");
  ASSERT_TRUE(a.ok() && b.ok());
  for (size_t i = 0; i < a.value().weights.size(); ++i) {
    const auto x = values_in(a.value().weights[i].tensor);
    const auto y = values_in(b.value().weights[i].tensor);
    double apart = 0;
    for (size_t k = 0; k < x.size(); ++k) apart = std::max(apart, std::abs(double{x[k]} - y[k]));
    EXPECT_LT(apart, 1e-4) << a.value().weights[i].name;
  }
  EXPECT_EQ(a.value().state.tokens_seen, b.value().state.tokens_seen);
}

TEST(Distributed, DeadPeerIsAnErrorAndNoHang) {
  const ScratchDirectory scratch;
  const auto [rank0, rank1] = run_two(scratch.path(), "dies");
  ASSERT_EQ(rank0.size(), 4U);  // Three losses first.
  EXPECT_THAT(rank0.back(), HasSubstr("a peer is gone or silent"));
}

TEST(Distributed, SilentPeerIsAnErrorAfterTheTimeOut) {
  const ScratchDirectory scratch;
  const auto [rank0, rank1] = run_two(scratch.path(), "hangs");
  ASSERT_EQ(rank0.size(), 4U);
  EXPECT_THAT(rank0.back(), HasSubstr("a peer is gone or silent"));
}

TEST(Distributed, ErrorOfOneStopsAllAtOnceWithItsOwnMessage) {
  const ScratchDirectory scratch;
  const auto [rank0, rank1] = run_two(scratch.path(), "bad data");
  ASSERT_FALSE(rank0.empty() || rank1.empty());
  EXPECT_THAT(rank0.back(), HasSubstr("another process failed"));
  EXPECT_THAT(rank1.back(), HasSubstr("list line 14: bad"));
}

TEST(Distributed, StopOfOneStopsAllAfterTheSameStepWithACheckpoint) {
  const ScratchDirectory scratch;
  const auto [rank0, rank1] = run_two(scratch.path(), "stops");
  EXPECT_EQ(rank0.size(), 4U);
  EXPECT_EQ(rank0, rank1);
  EXPECT_TRUE(read_checkpoint(scratch.path() / "out" / "checkpoint-4").ok());
}

TEST(Distributed, EnvironmentIsReadAndItsMistakesNamed) {
  const auto with = [](const std::map<std::string, std::string>& variables) {
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) ::unsetenv(name);
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    return peer_options_from_environment();
  };
  EXPECT_FALSE(with({}).value());
  EXPECT_FALSE(with({{"WORLD_SIZE", "1"}}).value());
  const auto good =
      with({{"WORLD_SIZE", "4"}, {"RANK", "3"}, {"MASTER_ADDR", "host"}, {"MASTER_PORT", "29500"}});
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value()->rank, 3);
  EXPECT_EQ(good.value()->address, "host");
  EXPECT_THAT(with({{"WORLD_SIZE", "4"}}).error().message, HasSubstr("RANK is not set"));
  EXPECT_THAT(with({{"WORLD_SIZE", "x"}}).error().message, HasSubstr("WORLD_SIZE is \"x\""));
  EXPECT_FALSE(
      with({{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "1"}}).ok());
  EXPECT_FALSE(with({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_PORT", "1"}}).ok());
  EXPECT_TRUE(with({}).ok());
}

}  // namespace
}  // namespace plateau::train
