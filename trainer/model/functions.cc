// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/functions.h"

#include <ATen/OpMathType.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "trainer/device/device.h"

namespace plateau::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            double epsilon) {
    const auto size = static_cast<double>(x.size(-1));
    const at::Tensor wide = x.to(at::toOpMathType(x.scalar_type()));
    const at::Tensor inverse =
        at::linalg_vector_norm(wide, 2, {-1}, true).pow_(2).div_(size).add_(epsilon).rsqrt_();
    ctx->save_for_backward({x, weight, inverse});
    return at::mul(wide, inverse).mul_(weight).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const at::ScalarType type = at::toOpMathType(saved[0].scalar_type());
    const at::Tensor x = saved[0].to(type);
    const at::Tensor& weight = saved[1];
    const at::Tensor& inverse = saved[2];
    const at::Tensor grad = grad_outputs[0].to(type);
    at::Tensor grad_x;
    at::Tensor grad_weight;
    if (ctx->needs_input_grad(1)) {
      grad_weight = at::mul(x, inverse).mul_(grad).sum(0);
    }
    if (ctx->needs_input_grad(0)) {
      grad_x = at::mul(grad, weight);
      const at::Tensor inner = at::mul(grad_x, x).mean(-1, true).mul_(inverse).mul_(inverse);
      grad_x = grad_x.addcmul_(x, inner, -1).mul_(inverse).to(saved[0].scalar_type());
    }
    return {grad_x, grad_weight, at::Tensor()};
  }
};

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate, const at::Tensor& up) {
    ctx->save_for_backward({gate, up});
    return at::silu(gate).mul_(up);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& grad = grad_outputs[0];
    at::Tensor grad_gate = at::silu_backward(at::mul(grad, saved[1]), saved[0]);
    at::Tensor grad_up = at::silu(saved[0]).mul_(grad);
    return {grad_gate, grad_up};
  }
};

// out = x turned by the angles, or back if `direction` is -1. Shapes: tokens x heads x size. In the
// type of the angles, fp32; `out` is rounded once.
void turn(const at::Tensor& out, const at::Tensor& x, const at::Tensor& cosines,
          const at::Tensor& sines, double direction) {
  if (x.scalar_type() != cosines.scalar_type()) {
    const at::Tensor wide = at::empty(x.sizes(), cosines.options());
    turn(wide, x.to(cosines.scalar_type()), cosines, sines, direction);
    out.copy_(wide);
    return;
  }
  const int64_t half = x.size(-1) / 2;
  const at::Tensor cosine = cosines.unsqueeze(1);
  const at::Tensor sine = sines.unsqueeze(1);
  const at::Tensor low = x.narrow(-1, 0, half);
  const at::Tensor high = x.narrow(-1, half, half);
  at::Tensor out_low = out.narrow(-1, 0, half);
  at::Tensor out_high = out.narrow(-1, half, half);
  at::mul_out(out_low, low, cosine).addcmul_(high, sine, -direction);
  at::mul_out(out_high, high, cosine).addcmul_(low, sine, direction);
}

struct Rotate : torch::autograd::Function<Rotate> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& cosines,
                            const at::Tensor& sines) {
    ctx->save_for_backward({cosines, sines});
    at::Tensor out = at::empty(x.sizes(), x.options());
    turn(out, x, cosines, sines, 1);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    at::Tensor grad = at::empty(grad_outputs[0].sizes(), grad_outputs[0].options());
    turn(grad, grad_outputs[0], saved[0], saved[1], -1);
    return {grad, at::Tensor(), at::Tensor()};
  }
};

struct SplitRotate : torch::autograd::Function<SplitRotate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& qkv,
                               const at::Tensor& cosines, const at::Tensor& sines) {
    ctx->save_for_backward({cosines, sines});
    const std::vector<int64_t> shape = {qkv.size(0), qkv.size(2), qkv.size(3)};
    at::Tensor q = at::empty(shape, qkv.options());
    at::Tensor k = at::empty(shape, qkv.options());
    turn(q, qkv.select(1, 0), cosines, sines, 1);
    turn(k, qkv.select(1, 1), cosines, sines, 1);
    return {q, k, qkv.select(1, 2).clone(at::MemoryFormat::Contiguous)};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& first = grad_outputs[0];
    at::Tensor grad = at::empty({first.size(0), 3, first.size(1), first.size(2)}, first.options());
    turn(grad.select(1, 0), grad_outputs[0], saved[0], saved[1], -1);
    turn(grad.select(1, 1), grad_outputs[1], saved[0], saved[1], -1);
    grad.select(1, 2).copy_(grad_outputs[2]);
    return {grad, at::Tensor(), at::Tensor()};
  }
};

struct LayerHolder : torch::CustomClassHolder {
  explicit LayerHolder(Layer held) : layer(std::move(held)) {}
  Layer layer;
};

// `always` requires a gradient, so that the way back comes here even if x itself needs none: the
// first layer above frozen embeddings has parameters all the same.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& /*always*/,
                            const Layer& layer, bool has_randomness) {
    ctx->save_for_backward({x, has_randomness ? random_state(x.device()) : at::Tensor()});
    ctx->saved_data["layer"] = c10::IValue::make_capsule(c10::make_intrusive<LayerHolder>(layer));
    return layer(x);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outputs) {
    const variable_list saved = ctx->get_saved_variables();
    const bool needs_x = ctx->needs_input_grad(0);
    const at::Tensor x = saved[0].detach().set_requires_grad(needs_x);
    const at::Tensor& before = saved[1];
    at::Tensor now;
    if (before.defined()) {
      now = random_state(x.device());
      set_random_state(x.device(), before);
    }
    const auto holder =
        c10::static_intrusive_pointer_cast<LayerHolder>(ctx->saved_data["layer"].toCapsule());
    at::Tensor out;
    {
      const at::AutoGradMode with_graph(true);
      out = holder->layer(x);
    }
    if (now.defined()) {
      set_random_state(x.device(), now);
    }
    torch::autograd::backward({out}, {grad_outputs[0]});
    return {needs_x ? x.grad() : at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  return RmsNorm::apply(x, weight, epsilon);
}

at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up) {
  return SwiGlu::apply(gate, up);
}

Remade remade_rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  return {rms_norm(x, weight, epsilon), [x = x.detach(), weight, epsilon] {
            const at::NoGradGuard without_graph;
            return rms_norm(x, weight, epsilon);
          }};
}

Remade remade_swiglu(const at::Tensor& gate, const at::Tensor& up) {
  return {swiglu(gate, up), [gate = gate.detach(), up = up.detach()] {
            const at::NoGradGuard without_graph;
            return swiglu(gate, up);
          }};
}

Rotation rotation_of(const at::Tensor& angles) {
  return {angles.cos(), angles.sin()};
}

at::Tensor lengthened(const at::Tensor& x, int64_t more) {
  return more == 0 ? x : at::cat({x, at::zeros({more, x.size(1)}, x.options())});
}

at::Tensor shortened(const at::Tensor& x, int64_t rows) {
  return x.size(0) == rows ? x : x.narrow(0, 0, rows);
}

Rotation lengthened(const Rotation& rotation, int64_t more) {
  return {lengthened(rotation.cosines, more), lengthened(rotation.sines, more)};
}

at::Tensor rotate(const at::Tensor& x, const Rotation& rotation) {
  return Rotate::apply(x, rotation.cosines, rotation.sines);
}

std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& qkv, const Rotation& rotation) {
  variable_list parts = SplitRotate::apply(qkv, rotation.cosines, rotation.sines);
  return {parts[0], parts[1], parts[2]};
}

at::Tensor checkpointed(const Layer& layer, const at::Tensor& x, bool has_randomness) {
  if (!at::GradMode::is_enabled()) {
    return layer(x);
  }
  const at::Tensor always = at::empty({0}, x.options()).set_requires_grad(true);
  return Checkpoint::apply(x, always, layer, has_randomness);
}

}  // namespace plateau::train
