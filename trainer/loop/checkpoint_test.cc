// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/checkpoint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "trainer/loop/durable.h"
#include "trainer/loop/state_json.h"
#include "trainer/loop/toy_learner_for_test.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kConfig =
    adapter_config_text({.base_model = "tiny", .target_modules = {"q_proj"}});

// Weights and optimizer state say which step they are of, so that a mixture would show.
Checkpoint checkpoint_of(int64_t step, int64_t values = 600) {
  Checkpoint checkpoint;
  checkpoint.state.position = {.step = step, .epoch = 2, .batch = 5};
  checkpoint.state.random_state = {std::byte{0}, std::byte{0xab}, std::byte{0x1f}};
  const std::vector<float> filled(static_cast<size_t>(values), static_cast<float>(step));
  checkpoint.weights.push_back({"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                tensor_with(filled, {2, values / 2})});
  checkpoint.optimizer.push_back({"x.exp_avg", tensor_with(filled, {values})});
  checkpoint.adapter_config_json = kConfig;
  return checkpoint;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> listed(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::path& path : list_checkpoints(directory))
    names.push_back(path.filename().string());
  return names;
}

void expect_complete(const fs::path& path) {
  const auto read = read_checkpoint(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const int64_t step = read.value().state.position.step;
  EXPECT_EQ(path.filename().string(), fmt::format("checkpoint-{}", step));
  for (const auto* tensors : {&read.value().weights, &read.value().optimizer}) {
    ASSERT_EQ(tensors->size(), 1U);
    EXPECT_THAT(values_in(tensors->front().tensor), testing::Each(static_cast<float>(step)));
  }
}

TrainerState full_state() {
  TrainerState state;
  state.position = {.step = 12, .epoch = 1, .batch = 3};
  state.total_steps = 20;
  state.logging_steps = 5;
  state.save_steps = 6;
  state.eval_steps = 6;
  state.batch_size = 2;
  state.epochs = 2.5;
  state.epoch = 1.2;
  state.tokens_seen = 12345;
  state.pending_loss = 0.1 + 0.2;
  state.pending_steps = 2;
  state.log = {{.step = 10, .epoch = 1, .values = {{"loss", 1.0 / 3}, {"learning_rate", 2e-5}}},
               {.step = 12, .epoch = 1.2, .values = {{"eval_loss", 0.7}}}};
  state.best_metric = 0.7;
  state.best_step = 12;
  state.best_checkpoint = "out/checkpoint-12";
  state.evaluations_without_gain = 1;
  state.config_fingerprint = "model=a \"b\"; seed=1";
  state.dataset_fingerprint = "cafe";
  state.random_state = {std::byte{1}, std::byte{254}};
  return state;
}

TEST(StateJson, ComesBackToTheBit) {
  const TrainerState state = full_state();
  const auto back = parse_state(trainer_state_json(state), plateau_state_json(state), "here");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(trainer_state_json(back.value()), trainer_state_json(state));
  EXPECT_EQ(plateau_state_json(back.value()), plateau_state_json(state));
  EXPECT_EQ(back.value().pending_loss, 0.1 + 0.2);
  EXPECT_EQ(back.value().epochs, 2.5);
  EXPECT_EQ(back.value().log[0].values.at("loss"), 1.0 / 3);
}

TEST(StateJson, TrainerStateHasTheFieldsAndFormOfTransformers) {
  const std::string json = trainer_state_json(full_state());
  EXPECT_TRUE(json.starts_with("{\n  \"best_global_step\": 12,\n  \"best_metric\": 0.7,\n"));
  EXPECT_THAT(json, HasSubstr("  \"log_history\": [\n    {\n      \"epoch\": 1,\n      "
                              "\"learning_rate\": 2e-05,\n      \"loss\": 0.3333333333333333,\n"));
  simdjson::dom::parser parser;
  std::vector<std::string> keys;
  for (const auto& [key, value] : simdjson::dom::object(parser.parse(json))) keys.emplace_back(key);
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_THAT(keys, ElementsAre("best_global_step", "best_metric", "best_model_checkpoint", "epoch",
                                "eval_steps", "global_step", "is_hyper_param_search",
                                "is_local_process_zero", "is_world_process_zero", "log_history",
                                "logging_steps", "max_steps", "num_input_tokens_seen",
                                "num_train_epochs", "save_steps", "stateful_callbacks",
                                "total_flos", "train_batch_size", "trial_name", "trial_params"));
}

TEST(StateJson, NothingBestYetIsNull) {
  const std::string json = trainer_state_json({});
  EXPECT_THAT(json, HasSubstr("\"best_metric\": null"));
  EXPECT_THAT(json, HasSubstr("\"log_history\": []"));
}

RC_GTEST_PROP(StateJson, AnyDamageGivesAStateOrAnErrorThatNamesTheFile, ()) {
  std::string trainer = trainer_state_json(full_state());
  std::string plateau = plateau_state_json(full_state());
  std::string& victim = *rc::gen::arbitrary<bool>() ? trainer : plateau;
  const size_t at = *rc::gen::inRange<size_t>(0, victim.size());
  if (*rc::gen::arbitrary<bool>()) {
    victim.resize(at);
  } else {
    victim[at] = static_cast<char>(*rc::gen::inRange(1, 256));
  }
  const auto state = parse_state(trainer, plateau, "here");
  if (!state.ok()) RC_ASSERT(state.error().message.starts_with("here/"));
}

TEST(StateJson, MissingFieldIsNamed) {
  std::string plateau = plateau_state_json(full_state());
  plateau.replace(plateau.find("\"batch\""), 7, "\"bunch\"");
  const auto state = parse_state(trainer_state_json(full_state()), plateau, "here");
  ASSERT_FALSE(state.ok());
  EXPECT_THAT(state.error().message, HasSubstr("plateau_state.json: batch is missing"));
}

TEST(Checkpoint, ComesBackWhole) {
  const ScratchDirectory scratch;
  Checkpoint checkpoint = checkpoint_of(12);
  checkpoint.state = full_state();
  const auto path = write_checkpoint(scratch.path() / "deep" / "out", checkpoint);
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_THAT(names_in(path.value()),
              ElementsAre("adapter_config.json", "adapter_model.safetensors",
                          "optimizer.safetensors", "plateau_state.json", "trainer_state.json"));
  EXPECT_THAT(names_in(scratch.path() / "deep" / "out"), ElementsAre("checkpoint-12"));

  const auto read = read_checkpoint(path.value());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(plateau_state_json(read.value().state), plateau_state_json(checkpoint.state));
  EXPECT_EQ(read.value().weights[0].name, checkpoint.weights[0].name);
  EXPECT_EQ(values_in(read.value().weights[0].tensor), values_in(checkpoint.weights[0].tensor));
  EXPECT_EQ(read.value().adapter_config_json, kConfig);
}

TEST(Checkpoint, WithoutAdapterHoldsTheModelsOwnNames) {
  const ScratchDirectory scratch;
  Checkpoint checkpoint = checkpoint_of(3);
  checkpoint.adapter_config_json.clear();
  checkpoint.weights[0].name = "model.norm.weight";
  const auto path = write_checkpoint(scratch.path(), checkpoint);
  ASSERT_TRUE(path.ok());
  EXPECT_TRUE(fs::exists(path.value() / "model.safetensors"));
  EXPECT_FALSE(fs::exists(path.value() / "adapter_config.json"));
  EXPECT_EQ(read_checkpoint(path.value()).value().weights[0].name, "model.norm.weight");
}

TEST(Checkpoint, OneThatIsThereIsReplaced) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(8)).ok());
  Checkpoint again = checkpoint_of(8);
  again.state.tokens_seen = 77;
  const auto path = write_checkpoint(scratch.path(), again);
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_EQ(read_checkpoint(path.value()).value().state.tokens_seen, 77);
  EXPECT_THAT(names_in(scratch.path()), ElementsAre("checkpoint-8"));
}

TEST(Checkpoint, ListIsByStepAndSeesOnlyCompleteOnes) {
  const ScratchDirectory scratch;
  for (const int64_t step : {100, 20, 3}) {
    ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(step)).ok());
  }
  fs::create_directory(scratch.path() / "checkpoint-7");
  fs::create_directory(scratch.path() / "checkpoint-best");
  fs::create_directory(scratch.path() / ".checkpoint-9.tmp-1");
  EXPECT_THAT(listed(scratch.path()),
              ElementsAre("checkpoint-3", "checkpoint-20", "checkpoint-100"));
  EXPECT_TRUE(list_checkpoints(scratch.path() / "nowhere").empty());
}

TEST(Checkpoint, PruningKeepsTheNewestAndTheBest) {
  const ScratchDirectory scratch;
  for (const int64_t step : {1, 2, 3, 4, 5}) {
    ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(step)).ok());
  }
  ASSERT_TRUE(prune_checkpoints(scratch.path(), 0, {}).ok());
  EXPECT_EQ(listed(scratch.path()).size(), 5U);
  ASSERT_TRUE(prune_checkpoints(scratch.path(), 3, scratch.path() / "checkpoint-2").ok());
  EXPECT_THAT(listed(scratch.path()), ElementsAre("checkpoint-2", "checkpoint-4", "checkpoint-5"));
  ASSERT_TRUE(prune_checkpoints(scratch.path(), 1, scratch.path() / "checkpoint-2").ok());
  EXPECT_THAT(listed(scratch.path()), ElementsAre("checkpoint-2", "checkpoint-5"));
  EXPECT_THAT(names_in(scratch.path()), ElementsAre("checkpoint-2", "checkpoint-5"));
}

TEST(Checkpoint, PruningNeverTakesTheOneJustWrittenAlthoughLaterStepsLieAhead) {
  const ScratchDirectory scratch;
  for (const int64_t step : {12, 16, 20, 9}) {
    ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(step)).ok());
  }
  ASSERT_TRUE(prune_checkpoints(scratch.path(), 2, {}).ok());
  EXPECT_THAT(listed(scratch.path()), ElementsAre("checkpoint-9", "checkpoint-20"));
}

TEST(Checkpoint, LeftoversOfDeadProcessesAreRemovedAndOfLivingOnesKept) {
  const ScratchDirectory scratch;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  const std::string dead = fmt::format(".checkpoint-5.tmp-{}", child);
  const std::string alive = fmt::format(".checkpoint-5.tmp-{}", ::getppid());
  for (const std::string& name : {dead, alive, std::string("checkpoint-4"), std::string(".git")}) {
    fs::create_directory(scratch.path() / name);
    std::ofstream(scratch.path() / name / "file") << "x";
  }
  EXPECT_EQ(remove_leftovers(scratch.path()), 1);
  EXPECT_FALSE(fs::exists(scratch.path() / dead));
  EXPECT_EQ(names_in(scratch.path()).size(), 3U);
}

TEST(Checkpoint, DamagedOnesAreErrorsThatNameTheFile) {
  const ScratchDirectory scratch;
  const fs::path path = write_checkpoint(scratch.path(), checkpoint_of(8)).value();
  fs::resize_file(path / "optimizer.safetensors", 100);
  auto read = read_checkpoint(path);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("optimizer.safetensors"));
  fs::remove(path / "trainer_state.json");
  read = read_checkpoint(path);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("trainer_state.json"));
  EXPECT_FALSE(read_checkpoint(scratch.path() / "checkpoint-9").ok());
}

// In a child process, because a limit of the size of files is for good.
TEST(Checkpoint, FullDiskIsAnErrorAndLeavesWhatWasThere) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(8)).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto written = write_checkpoint(scratch.path(), checkpoint_of(9, 60000));
    const bool is_clear = !written.ok() &&
                          written.error().message.find("checkpoint of step 9 not written") == 0 &&
                          written.error().message.find(": File too large") != std::string::npos;
    ::_exit(is_clear ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(names_in(scratch.path()), ElementsAre("checkpoint-8"));
  expect_complete(scratch.path() / "checkpoint-8");
}

TEST(Checkpoint, KilledAtAnyMomentOnlyCompleteOnesAreSeen) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_checkpoint(scratch.path(), checkpoint_of(0)).ok());
  std::mt19937 generator(7);
  int interrupted = 0;
  for (int64_t round = 1; round <= 50; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      // Some steps come twice, so that replacing is interrupted too.
      for (int64_t i = 0;; ++i) {
        if (!write_checkpoint(scratch.path(), checkpoint_of(round * 1000 + i / 2, 20000)).ok() ||
            !prune_checkpoints(scratch.path(), 2, {}).ok()) {
          ::_exit(1);
        }
      }
    }
    ::usleep(static_cast<useconds_t>(generator() % 40000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "writing failed";
    const std::vector<fs::path> all = list_checkpoints(scratch.path());
    ASSERT_FALSE(all.empty());
    for (const fs::path& path : all) expect_complete(path);
    interrupted += remove_leftovers(scratch.path());
    ASSERT_EQ(names_in(scratch.path()).size(), all.size());
  }
  EXPECT_GT(interrupted, 0) << "no kill hit a checkpoint in the making";
}

}  // namespace
}  // namespace plateau::train
