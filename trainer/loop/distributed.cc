// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/distributed.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "base/text.h"

namespace plateau::train {
namespace {

Result<int64_t> number_from(const char* name) {
  const char* text = std::getenv(name);
  const auto number = text == nullptr ? std::nullopt : parse_int(text);
  if (number && *number >= 0) return *number;
  return Error{Error::Kind::usage,
               fmt::format("{} is {}: several processes need RANK, WORLD_SIZE, MASTER_ADDR and "
                           "MASTER_PORT",
                           name, text == nullptr ? "not set" : fmt::format("\"{}\"", text))};
}

// The address that others reach us under. The host's own name often leads nowhere in a container,
// so peers on one machine use the loopback.
std::shared_ptr<::gloo::transport::Device> device_for(const std::string& address) {
  using Group = c10d::ProcessGroupGloo;
  if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME")) {
    return Group::createDeviceForInterface(interface);
  }
  if (address == "localhost" || address.starts_with("127.")) {
    return Group::createDeviceForHostname("127.0.0.1");
  }
  return Group::createDefaultDevice();
}

}  // namespace

Result<std::optional<PeerOptions>> peer_options_from_environment() {
  if (std::getenv("WORLD_SIZE") == nullptr) return std::optional<PeerOptions>();
  PeerOptions options;
  const auto world = number_from("WORLD_SIZE");
  if (!world.ok()) return world.error();
  if (world.value() <= 1) return std::optional<PeerOptions>();
  const auto rank = number_from("RANK");
  if (!rank.ok()) return rank.error();
  const auto port = number_from("MASTER_PORT");
  if (!port.ok()) return port.error();
  const char* address = std::getenv("MASTER_ADDR");
  if (address == nullptr || *address == 0)
    return Error{Error::Kind::usage, "MASTER_ADDR is not set"};
  if (rank.value() >= world.value() || port.value() == 0 || port.value() > 65535) {
    return Error{Error::Kind::usage, fmt::format("RANK {} of WORLD_SIZE {} at port {} cannot be",
                                                 rank.value(), world.value(), port.value())};
  }
  options.rank = static_cast<int>(rank.value());
  options.world = static_cast<int>(world.value());
  options.port = static_cast<int>(port.value());
  options.address = address;
  return std::optional<PeerOptions>(options);
}

struct Peers::State {
  PeerOptions options;
  c10::intrusive_ptr<c10d::Store> store;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group;

  // Runs a collective call; what it throws (a peer that is gone, a time-out) becomes an Error.
  Result<std::monostate> call(const char* what, const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& failure) {
      const std::string text = failure.what();
      return Error{Error::Kind::bad_input,
                   fmt::format("rank {} of {}: {} failed, a peer is gone or silent: {}",
                               options.rank, options.world, what, text.substr(0, text.find('\n')))};
    }
    return std::monostate{};
  }

  void reduce(at::Tensor& values) {
    std::vector<at::Tensor> tensors{values};
    c10d::AllreduceOptions settings;
    settings.timeout = options.timeout;
    group->allreduce(tensors, settings)->wait();
  }
};

Peers::Peers(std::unique_ptr<State> state) : state_(std::move(state)) {}
Peers::~Peers() = default;

int Peers::rank() const {
  return state_->options.rank;
}
int Peers::world() const {
  return state_->options.world;
}

Result<std::unique_ptr<Peers>> Peers::join(const PeerOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  auto joined = state->call("joining", [&] {
    c10d::TCPStoreOptions settings;
    settings.port = static_cast<uint16_t>(options.port);
    settings.isServer = options.rank == 0;
    settings.numWorkers = static_cast<size_t>(options.world);
    settings.timeout = options.timeout;
    state->store = c10::make_intrusive<c10d::TCPStore>(options.address, settings);
    state->store->setTimeout(options.timeout);
    auto group = c10d::ProcessGroupGloo::Options::create(options.timeout);
    group->devices.push_back(device_for(options.address));
    group->threads = 2;
    state->group = c10::make_intrusive<c10d::ProcessGroupGloo>(state->store, options.rank,
                                                               options.world, group);
  });
  if (!joined.ok()) {
    return Error{joined.error().kind, fmt::format("{} (at {}:{})", joined.error().message,
                                                  options.address, options.port)};
  }
  return std::unique_ptr<Peers>(new Peers(std::move(state)));
}

Result<std::vector<double>> Peers::sum(const std::vector<double>& values) {
  std::vector<double> out = values;
  auto done = state_->call("a sum", [&] {
    at::Tensor tensor =
        at::from_blob(out.data(), {static_cast<int64_t>(out.size())}, at::kDouble).clone();
    state_->reduce(tensor);
    const double* sums = tensor.data_ptr<double>();
    out.assign(sums, sums + tensor.numel());
  });
  if (!done.ok()) return done.error();
  return out;
}

Result<std::monostate> Peers::sum_gradients(const std::vector<NamedTensor>& parameters) {
  return state_->call("adding gradients", [&] {
    for (size_t begin = 0; begin < parameters.size();) {
      size_t end = begin;
      size_t bytes = 0;
      std::vector<at::Tensor> flat;
      // At least one, then as many as fit: the same cut in every process.
      for (; end < parameters.size(); ++end) {
        const size_t more = parameters[end].tensor->nbytes();
        if (end > begin && bytes + more > state_->options.bucket_bytes) break;
        bytes += more;
        flat.push_back(parameters[end].tensor->grad().reshape({-1}));
      }
      at::Tensor bucket = at::cat(flat).cpu();  // Gloo adds on the host.
      state_->reduce(bucket);
      int64_t offset = 0;
      for (; begin < end; ++begin) {
        at::Tensor gradient = parameters[begin].tensor->grad();
        gradient.copy_(bucket.narrow(0, offset, gradient.numel()).view(gradient.sizes()));
        offset += gradient.numel();
      }
    }
  });
}

Result<std::monostate> Peers::broadcast(const std::vector<NamedTensor>& parameters) {
  return state_->call("sharing weights", [&] {
    for (const NamedTensor& named : parameters) {
      const at::Tensor own = named.tensor->detach();
      std::vector<at::Tensor> tensors{own.cpu()};
      c10d::BroadcastOptions settings;
      settings.rootRank = 0;
      settings.timeout = state_->options.timeout;
      state_->group->broadcast(tensors, settings)->wait();
      if (!own.is_cpu()) own.copy_(tensors.front());
    }
  });
}

}  // namespace plateau::train
