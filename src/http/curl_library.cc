// SPDX-License-Identifier: Apache-2.0
#include "http/curl_library.h"

#include <dlfcn.h>

#include <array>

namespace plateau {
namespace {

// The same interface over OpenSSL, GnuTLS or NSS, as distributions name it.
constexpr std::array kNames = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"};

struct Loaded {
  CurlLibrary library;
  bool whole = false;
};

Loaded load() {
  Loaded loaded;
  void* file = nullptr;
  for (const char* name : kNames) {
    if (file == nullptr) file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (file == nullptr) return loaded;
  loaded.whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    loaded.whole = loaded.whole && function != nullptr;
  };
  CurlLibrary& to = loaded.library;
  find(to.easy_init, "curl_easy_init");
  find(to.easy_cleanup, "curl_easy_cleanup");
  find(to.easy_reset, "curl_easy_reset");
  find(to.easy_setopt, "curl_easy_setopt");
  find(to.easy_getinfo, "curl_easy_getinfo");
  find(to.easy_perform, "curl_easy_perform");
  find(to.easy_strerror, "curl_easy_strerror");
  find(to.slist_append, "curl_slist_append");
  find(to.slist_free_all, "curl_slist_free_all");
  decltype(&curl_global_init) global_init = nullptr;
  find(global_init, "curl_global_init");
  loaded.whole = loaded.whole && global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return loaded;
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  // Initialising it is not thread-safe; the first one to come does it for all.
  static const Loaded loaded_once = load();
  if (loaded_once.whole) return &loaded_once.library;
  return Error{Error::Kind::not_found, "HTTP needs libcurl; install libcurl4"};
}

}  // namespace plateau
