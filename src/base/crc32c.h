// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, reflected): the checksum of TFRecord files.
//
// Worked case: "123456789" has the CRC-32C e3069283.
#pragma once

#include <cstdint>
#include <string_view>

namespace plateau {

uint32_t crc32c_of(std::string_view bytes);

// As files store it: a checksum of data that holds checksums itself is weak, so it is turned by 15
// bits and a constant is added.
uint32_t masked_crc32c(std::string_view bytes);

}  // namespace plateau
