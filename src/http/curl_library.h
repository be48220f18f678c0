// SPDX-License-Identifier: Apache-2.0
// libcurl, loaded by name when it is first wanted. (For client.cc.)
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace plateau {

struct CurlLibrary {
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_reset) easy_reset = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
};

// The library, loaded once and never unloaded; fails where there is none. Any thread.
Result<const CurlLibrary*> curl_library();

}  // namespace plateau
