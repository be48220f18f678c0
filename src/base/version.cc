// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace plateau {

std::string_view version() {
  return PLATEAU_VERSION;
}

std::string_view release_date() {
  return PLATEAU_RELEASE_DATE;
}

}  // namespace plateau
