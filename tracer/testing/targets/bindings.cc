// SPDX-License-Identifier: Apache-2.0
// Says which library serves the unwinder and other names that a tracer must leave alone, and how
// often exceptions were caught.
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

int main() {
  for (const char* name : {"_Unwind_RaiseException", "_Unwind_Backtrace", "_Unwind_Resume",
                           "_Unwind_Find_FDE", "__cxa_throw", "backtrace", "dl_iterate_phdr",
                           "dlopen", "pthread_join", "memcpy", "unw_step", "fork"}) {
    Dl_info info{};
    void* address = dlsym(RTLD_DEFAULT, name);
    const bool known = address != nullptr && dladdr(address, &info) != 0;
    const char* slash = known ? strrchr(info.dli_fname, '/') : nullptr;
    printf("%s %s\n", name, slash != nullptr ? slash + 1 : "none");
  }
  int caught = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      throw std::runtime_error("one");
    } catch (const std::exception&) {
      ++caught;
    }
  }
  printf("caught %d\n", caught);
  return 0;
}
