// SPDX-License-Identifier: Apache-2.0
#include "recording/facts.h"

namespace plateau {

void apply_facts(const Context& given, Context& context) {
  const bool counted = given.examples || given.batch;
  if (given.examples) context.examples = given.examples;
  if (given.batch) context.batch = given.batch;
  if (given.epoch_steps) {
    context.epoch_steps = given.epoch_steps;
  } else if (counted && context.examples && context.batch) {
    context.epoch_steps.reset();
  }
  if (given.total_steps) context.total_steps = given.total_steps;
  if (given.limit_mb) context.limit_mb = given.limit_mb;
}

}  // namespace plateau
