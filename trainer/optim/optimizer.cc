// SPDX-License-Identifier: Apache-2.0
#include "trainer/optim/optimizer.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "trainer/optim/adamw.h"
#include "trainer/quant/blockwise8.h"

namespace plateau::train {
namespace {

std::span<float> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// One parameter with its states: two tensors of its shape, or codes and absmax.
struct Slot {
  std::string name;
  at::Tensor parameter;
  bool decays = false;
  bool is_8bit = false;
  at::Tensor first;
  at::Tensor second;
  Blockwise8 first8;
  Blockwise8 second8;
};

Slot make_slot(const NamedTensor& named, OptimizerKind kind) {
  Slot slot;
  slot.name = named.name;
  slot.parameter = *named.tensor;
  slot.parameter.mutable_grad() = at::zeros_like(slot.parameter, at::MemoryFormat::Contiguous);
  slot.decays = slot.parameter.dim() >= 2;
  const int64_t elements = slot.parameter.numel();
  slot.is_8bit = kind == OptimizerKind::adamw_8bit && elements >= kMin8BitElements;
  if (!slot.is_8bit) {
    slot.first = at::zeros(slot.parameter.sizes(), at::kFloat);
    slot.second = at::zeros(slot.parameter.sizes(), at::kFloat);
    return slot;
  }
  const auto blocks = static_cast<size_t>((elements + kStateBlock - 1) / kStateBlock);
  for (Blockwise8* state : {&slot.first8, &slot.second8}) {
    // Codes mean nothing while absmax is 0.
    state->codes.assign(static_cast<size_t>(elements), 0);
    state->absmax.assign(blocks, 0.0F);
    state->is_signed = state == &slot.first8;
  }
  return slot;
}

// A gradient whose memory can be read in a row; autograd may have replaced ours.
at::Tensor gradient_of(Slot& slot) {
  at::Tensor& gradient = slot.parameter.mutable_grad();
  if (gradient.defined() && !gradient.is_contiguous()) gradient = gradient.contiguous();
  return gradient;
}

StateTensor state_tensor(std::string name, at::Tensor tensor) {
  return {.name = std::move(name), .tensor = std::make_shared<at::Tensor>(std::move(tensor))};
}

void add_8bit(std::vector<StateTensor>& out, const std::string& name, Blockwise8& state,
              at::IntArrayRef shape) {
  out.push_back(state_tensor(name, at::from_blob(state.codes.data(), shape, at::kByte)));
  out.push_back(state_tensor(
      name + ".absmax",
      at::from_blob(state.absmax.data(), {static_cast<int64_t>(state.absmax.size())}, at::kFloat)));
}

std::string shape_text(const at::Tensor& tensor) {
  return fmt::format("{} [{}]", std::string(tensor.dtype().name()),
                     fmt::join(tensor.sizes(), ", "));
}

}  // namespace

struct Optimizer::State {
  OptimizerOptions options;
  std::vector<Slot> slots;
  int64_t steps = 0;
};

Optimizer::Optimizer(std::vector<NamedTensor> parameters, const OptimizerOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  state_->slots.reserve(parameters.size());
  for (const NamedTensor& named : parameters) {
    state_->slots.push_back(make_slot(named, options.kind));
  }
}
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;

void Optimizer::zero_grad() {
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) std::memset(gradient.data_ptr(), 0, gradient.nbytes());
  }
}

void Optimizer::scale_gradients(double factor) {
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) scale_values(values_of(gradient), static_cast<float>(factor));
  }
}

double Optimizer::clip() {
  double squares = 0;
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (gradient.defined()) squares += sum_of_squares(values_of(gradient));
  }
  const double norm = std::sqrt(squares);
  const double limit = state_->options.max_grad_norm;
  if (limit <= 0 || !std::isfinite(norm)) return norm;
  // The small number is that of torch.nn.utils.clip_grad_norm_.
  const double factor = limit / (norm + 1e-6);
  if (factor < 1) scale_gradients(factor);
  return norm;
}

void Optimizer::step(double learning_rate) {
  const OptimizerOptions& options = state_->options;
  Adam8Step settings{.learning_rate = learning_rate,
                     .beta1 = options.beta1,
                     .beta2 = options.beta2,
                     .epsilon = options.epsilon,
                     .step = ++state_->steps};
  for (Slot& slot : state_->slots) {
    const at::Tensor gradient = gradient_of(slot);
    if (!gradient.defined()) continue;
    settings.weight_decay = slot.decays ? options.weight_decay : 0;
    const std::span<float> weights = values_of(slot.parameter);
    if (slot.is_8bit) {
      adamw_8bit_step(weights, values_of(gradient), slot.first8, slot.second8, settings);
    } else {
      adamw_step(weights, values_of(gradient), values_of(slot.first), values_of(slot.second),
                 settings);
    }
  }
}

int64_t Optimizer::steps() const {
  return state_->steps;
}

int64_t Optimizer::state_bytes() const {
  int64_t bytes = 0;
  for (const StateTensor& state : state()) bytes += static_cast<int64_t>(state.tensor->nbytes());
  return bytes;
}

std::vector<StateTensor> Optimizer::state() const {
  std::vector<StateTensor> out;
  for (Slot& slot : state_->slots) {
    const std::string first = slot.name + ".exp_avg";
    const std::string second = slot.name + ".exp_avg_sq";
    if (slot.is_8bit) {
      add_8bit(out, first, slot.first8, slot.parameter.sizes());
      add_8bit(out, second, slot.second8, slot.parameter.sizes());
    } else {
      out.push_back(state_tensor(first, slot.first));
      out.push_back(state_tensor(second, slot.second));
    }
  }
  return out;
}

Result<std::monostate> Optimizer::restore(std::vector<StateTensor> state, int64_t steps) {
  const std::vector<StateTensor> own = this->state();
  if (own.size() != state.size()) {
    return Error{Error::Kind::bad_input,
                 fmt::format("the optimizer has {} states, the checkpoint {}: another optimizer, "
                             "or other trained modules",
                             own.size(), state.size())};
  }
  for (size_t i = 0; i < own.size(); ++i) {
    const at::Tensor& mine = *own[i].tensor;
    const at::Tensor& theirs = *state[i].tensor;
    if (own[i].name != state[i].name || mine.dtype() != theirs.dtype() ||
        mine.sizes() != theirs.sizes() || !theirs.is_contiguous()) {
      return Error{Error::Kind::bad_input,
                   fmt::format("optimizer state {} is {}, the checkpoint has {}, {}", own[i].name,
                               shape_text(mine), state[i].name, shape_text(theirs))};
    }
  }
  for (size_t i = 0; i < own.size(); ++i) {
    std::memcpy(own[i].tensor->data_ptr(), state[i].tensor->data_ptr(), own[i].tensor->nbytes());
    state[i].tensor.reset();
  }
  state_->steps = steps;
  return std::monostate{};
}

}  // namespace plateau::train
