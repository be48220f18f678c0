// SPDX-License-Identifier: Apache-2.0
#include "verdict/finding.h"

namespace plateau {
namespace {

template <typename Entry>
const Entry* find_by_name(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace

const Number* Finding::number(std::string_view name) const {
  return find_by_name(numbers, name);
}

const Name* Finding::named(std::string_view name) const {
  return find_by_name(names, name);
}

bool operator==(const Number& a, const Number& b) {
  return a.name == b.name && a.value == b.value && a.unit == b.unit;
}

bool operator==(const Name& a, const Name& b) {
  return a.name == b.name && a.text == b.text && a.kind == b.kind;
}

bool operator==(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.numbers == b.numbers && a.names == b.names;
}

}  // namespace plateau
