// SPDX-License-Identifier: Apache-2.0
// The private half of a class, whose type only the class's source file knows. It moves like a
// std::unique_ptr and needs no declarations for that: how to destroy it is kept with it.
#pragma once

#include <memory>
#include <utility>

namespace plateau {

template <typename T>
struct HiddenEnd {
  void (*destroy)(T*) = nullptr;
  void operator()(T* hidden) const { destroy(hidden); }
};

template <typename T>
using Hidden = std::unique_ptr<T, HiddenEnd<T>>;

template <typename T, typename... Arguments>
Hidden<T> make_hidden(Arguments&&... arguments) {
  auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
  return {made.release(), {[](T* hidden) { std::default_delete<T>()(hidden); }}};
}

}  // namespace plateau
