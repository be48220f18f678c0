// SPDX-License-Identifier: Apache-2.0
#include "verdict/verdict.h"

namespace plateau {

Verdict::Verdict() = default;
Verdict::Verdict(const Verdict& other) = default;
Verdict::Verdict(Verdict&& other) noexcept = default;
Verdict& Verdict::operator=(const Verdict& other) = default;
Verdict& Verdict::operator=(Verdict&& other) noexcept = default;
Verdict::~Verdict() = default;

}  // namespace plateau
