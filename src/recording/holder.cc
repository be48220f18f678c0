// SPDX-License-Identifier: Apache-2.0
#include "recording/holder.h"

namespace plateau {

const char* holder_kind_name(HolderKind kind) {
  switch (kind) {
    case HolderKind::global:
      return "global";
    case HolderKind::class_attribute:
      return "class attribute";
    case HolderKind::local:
      return "local";
    case HolderKind::closure:
      return "closure";
    case HolderKind::lru_cache:
      return "lru_cache";
    case HolderKind::thread:
      return "thread";
    case HolderKind::temporary:
      return "temporary";
    case HolderKind::unseen:
      break;
  }
  return "unseen";
}

void each_text(Holder& holder, const std::function<void(std::string&)>& change) {
  for (std::string* text : {&holder.path, &holder.type, &holder.owner, &holder.module,
                            &holder.function, &holder.file}) {
    change(*text);
  }
  for (HeldType& held : holder.holds) change(held.type);
  for (SourceLine& line : holder.added_at) change(line.file);
}

}  // namespace plateau
