// SPDX-License-Identifier: Apache-2.0
// Which options bring a run under a limit. They are tried in the order of what they cost the user:
// first those that change nothing of the result, then those that change its precision, then those
// that change what is trained or seen.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "trainer/plan/plan.h"

namespace plateau::train {
namespace {

struct Candidate {
  std::string option;
  std::string cost;
  std::function<bool(PlanRequest&)> apply;  // False if there is nothing to change.
};

std::vector<Candidate> candidates(int64_t batch, int64_t accumulate) {
  return {
      {"--use-gradient-checkpointing true", "about a third more time; the same result",
       [](PlanRequest& request) {
         return !std::exchange(request.model.gradient_checkpointing, true);
       }},
      {fmt::format("--batch-size 1 --gradient-accumulation-steps {}", batch * accumulate),
       "somewhat slower; the same result",
       [](PlanRequest& request) { return std::exchange(request.batch_size, 1) != 1; }},
      {"without --packing", "steps of fewer examples, and more of them",
       [](PlanRequest& request) {
         request.packed_evaluation = {};
         return std::exchange(request.packed, {}).tokens > 0;
       }},
      {"--dataloader-num-workers 0", "pictures are prepared between the steps; the same result",
       [](PlanRequest& request) { return std::exchange(request.workers, 0) != 0; }},
      {"--optim adamw_8bit", "rounded optimizer states",
       [](PlanRequest& request) { return !std::exchange(request.is_8bit_optimizer, true); }},
      {"without --full-finetuning", "adapters are trained instead of the weights",
       [](PlanRequest& request) {
         return std::exchange(request.model.trained, Trained::adapters) == Trained::everything;
       }},
      {"--load-in-16bit", "rounded weights",
       [](PlanRequest& request) {
         if (request.model.storage != BaseStorage::fp32) return false;
         request.model.storage = BaseStorage::bf16;
         return true;
       }},
      {"--load-in-4bit", "coarser weights",
       [](PlanRequest& request) {
         return std::exchange(request.model.storage, BaseStorage::nf4) != BaseStorage::nf4;
       }},
      {"--finetune-vision-layers false", "the vision tower stays as it is",
       [](PlanRequest& request) { return std::exchange(request.model.lora.vision, false); }},
      {"--lora-r 8", "adapters can learn less",
       [](PlanRequest& request) {
         if (request.model.lora.rank <= 8) return false;
         request.model.lora.rank = 8;
         return true;
       }},
      {"--max-pixels 501760", "less detail in pictures",
       [](PlanRequest& request) {
         constexpr int64_t kPatchPixels = 196;
         const int64_t most = 501760 / kPatchPixels;
         if (request.largest.patches <= most) return false;
         const int64_t fewer = request.largest.patches - most;
         request.largest.patches = most;
         request.largest.tokens = std::max<int64_t>(1, request.largest.tokens - fewer / 4);
         return true;
       }},
  };
}

}  // namespace

std::vector<PlanChange> changes_to_fit(PlanRequest request, int64_t accumulate,
                                       int64_t limit_bytes) {
  std::vector<PlanChange> out;
  int64_t peak = make_plan(request).peak_bytes;
  for (const Candidate& candidate : candidates(request.batch_size, accumulate)) {
    if (peak <= limit_bytes) break;
    PlanRequest changed = request;
    if (!candidate.apply(changed)) continue;
    const int64_t after = make_plan(changed).peak_bytes;
    if (after >= peak) continue;
    peak = after;
    request = changed;
    out.push_back({candidate.option, candidate.cost, peak});
  }
  return out;
}

}  // namespace plateau::train
