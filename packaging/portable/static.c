// SPDX-License-Identifier: Apache-2.0
// What the static program has in place of the C library's loading of libraries and asking of name services.
//
// A static glibc can do both, but by loading shared libraries of its own version, which no other system has: it
// fails there, or crashes. So the program loads nothing. The one library that it cannot do without, libcurl, is
// linked in and found here by its name; the sources, which load it at run time, stay the same. Names of hosts are
// resolved by c-ares (DNS and /etc/hosts), which libcurl is built with; nobody calls the functions below that stand
// for name services, and the link fails if one that is not here comes in (link.sh).
#define _GNU_SOURCE
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

// Whom to trust, where distributions keep it: Debian, Alpine and Arch; Fedora and its kin; openSUSE; BSD's way.
static const char* const trusted[] = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                      "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"};

// A client resets its handle before every request, and may then name a file itself.
static void reset(CURL* handle) {
  curl_easy_reset(handle);
  for (size_t i = 0; i < sizeof trusted / sizeof trusted[0]; ++i) {
    if (access(trusted[i], R_OK) == 0) {
      curl_easy_setopt(handle, CURLOPT_CAINFO, trusted[i]);
      return;
    }
  }
}

struct Entry {
  const char* name;
  void* function;
};
#define ENTRY(function) {#function, (void*)(function)}
static const struct Entry curl[] = {
    ENTRY(curl_global_init), ENTRY(curl_easy_init),    ENTRY(curl_easy_cleanup),  {"curl_easy_reset", (void*)reset},
    ENTRY(curl_easy_setopt), ENTRY(curl_easy_getinfo), ENTRY(curl_easy_perform),  ENTRY(curl_easy_strerror),
    ENTRY(curl_slist_append), ENTRY(curl_slist_free_all)};

// The C library's own dlopen is there for itself, to load character sets that nobody asks for; the linker leads
// all others here (--wrap).
void* __wrap_dlopen(const char* name, int mode) {
  (void)mode;
  return name != NULL && strcmp(name, "libcurl.so.4") == 0 ? (void*)curl : NULL;
}

void* __wrap_dlsym(void* library, const char* name) {
  for (size_t i = 0; library == (void*)curl && i < sizeof curl / sizeof curl[0]; ++i) {
    if (strcmp(curl[i].name, name) == 0) {
      return curl[i].function;
    }
  }
  return NULL;
}

int __wrap_dlclose(void* library) { return library == (void*)curl ? 0 : -1; }
char* __wrap_dlerror(void) { return (char*)"a static program loads no library"; }
int __wrap_dladdr(const void* address, Dl_info* info) {
  (void)address;
  (void)info;
  return 0;
}

// OpenSSL's own sockets, which libcurl does not use.
int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints, struct addrinfo** result) {
  (void)host;
  (void)service;
  (void)hints;
  *result = NULL;
  return EAI_FAIL;
}
void freeaddrinfo(struct addrinfo* result) { (void)result; }
int getnameinfo(const struct sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                socklen_t service_size, int flags) {
  (void)address;
  (void)size;
  (void)host;
  (void)host_size;
  (void)service;
  (void)service_size;
  (void)flags;
  return EAI_FAIL;
}
struct hostent* gethostbyname(const char* name) {
  (void)name;
  return NULL;
}

// c-ares, for ports that are names: an address that Plateau asks has a number or none.
struct servent* getservbyname(const char* name, const char* protocol) {
  (void)name;
  (void)protocol;
  return NULL;
}
int getservbyport_r(int port, const char* protocol, struct servent* entry, char* buffer, size_t size,
                    struct servent** result) {
  (void)port;
  (void)protocol;
  (void)entry;
  (void)buffer;
  (void)size;
  *result = NULL;
  return ENOENT;
}
