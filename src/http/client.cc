// SPDX-License-Identifier: Apache-2.0
#include "http/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/printable.h"
#include "base/version.h"
#include "http/curl_library.h"

namespace plateau {
namespace {

struct Received {
  std::string body;
  size_t most = 0;
  bool too_long = false;
};

size_t receive(const char* bytes, size_t size, size_t count, void* into) {
  auto& received = *static_cast<Received*>(into);
  const size_t n = size * count;
  if (n > received.most - received.body.size()) {
    received.too_long = true;
    return 0;  // Ends the transfer.
  }
  received.body.append(bytes, n);
  return n;
}

long milliseconds(double seconds) {
  return std::max(1L, static_cast<long>(seconds * 1000));
}

}  // namespace

struct HttpClient::Inside {
  const CurlLibrary* curl = nullptr;
  CURL* handle = nullptr;

  Inside(const CurlLibrary* library, CURL* easy) : curl(library), handle(easy) {}
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { curl->easy_cleanup(handle); }

  template <typename Value>
  void set(CURLoption option, Value value) const {
    curl->easy_setopt(handle, option, value);
  }

  void prepare(const HttpRequest& request, Received& received) const {
    curl->easy_reset(handle);  // Keeps connections.
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, ("plateau/" + std::string(version())).c_str());
    set(CURLOPT_ACCEPT_ENCODING, "");  // Whatever it can inflate: gzip at least.
    set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_s));
    set(CURLOPT_TIMEOUT_MS, milliseconds(request.total_s));
    set(CURLOPT_FOLLOWLOCATION, request.redirections > 0 ? 1L : 0L);
    set(CURLOPT_MAXREDIRS, static_cast<long>(std::max(request.redirections, 0)));
    if (const char* file = std::getenv("SSL_CERT_FILE")) set(CURLOPT_CAINFO, file);
    const auto name_file = [this](CURLoption option, const std::string& file) {
      if (!file.empty()) set(option, file.c_str());
    };
    name_file(CURLOPT_SSLCERT, request.certificate_file);
    name_file(CURLOPT_SSLKEY, request.key_file);
    name_file(CURLOPT_CAINFO, request.authority_file);
    set(CURLOPT_WRITEFUNCTION, &receive);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&received));
  }
};

HttpClient::HttpClient(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Result<HttpClient> HttpClient::open() {
  const Result<const CurlLibrary*> curl = curl_library();
  if (!curl) return curl.error();
  CURL* handle = curl.value()->easy_init();
  if (handle == nullptr) return Error{Error::Kind::not_found, "libcurl could not begin"};
  return HttpClient(std::make_unique<Inside>(curl.value(), handle));
}

Result<HttpAnswer> HttpClient::ask(const HttpRequest& request, bool post) {
  if (const Result<void> fine = check_url(request.url); !fine) return fine.error();
  const CurlLibrary& curl = *inside_->curl;
  Received received{.body = {}, .most = request.most_bytes};
  inside_->prepare(request, received);
  curl_slist* lines = nullptr;
  const auto add = [&](const std::string& line) {
    if (curl_slist* longer = curl.slist_append(lines, line.c_str())) lines = longer;
  };
  for (const std::string& header : request.headers) {
    if (check_header(header)) add(header);
  }
  if (post) {
    add("Content-Type: " + request.content_type);
    add("Expect:");  // No round trip to ask whether a body is welcome.
    inside_->set(CURLOPT_POST, 1L);
    inside_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    inside_->set(CURLOPT_POSTFIELDS, request.body.data());
  }
  inside_->set(CURLOPT_HTTPHEADER, lines);
  std::array<char, CURL_ERROR_SIZE> why{};
  inside_->set(CURLOPT_ERRORBUFFER, why.data());
  const CURLcode code = curl.easy_perform(inside_->handle);
  inside_->set(CURLOPT_ERRORBUFFER, static_cast<char*>(nullptr));
  curl.slist_free_all(lines);
  const std::string where = origin_of(request.url);
  if (received.too_long) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{} answers with more than {} bytes", where, request.most_bytes)};
  }
  if (code != CURLE_OK) {
    const std::string said = why[0] != '\0' ? printable(why.data()) : curl.easy_strerror(code);
    return Error{Error::Kind::not_found, fmt::format("{}: {}", where, said)};
  }
  HttpAnswer answer;
  long status = 0;
  curl.easy_getinfo(inside_->handle, CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  const char* type = nullptr;
  curl.easy_getinfo(inside_->handle, CURLINFO_CONTENT_TYPE, &type);
  if (type != nullptr) answer.content_type = type;
  curl_off_t wait_s = 0;
  curl.easy_getinfo(inside_->handle, CURLINFO_RETRY_AFTER, &wait_s);
  answer.retry_after_s = static_cast<double>(std::max<curl_off_t>(wait_s, 0));
  answer.body = std::move(received.body);
  return answer;
}

Result<HttpAnswer> HttpClient::get(const HttpRequest& request) {
  return ask(request, false);
}

Result<HttpAnswer> HttpClient::post(const HttpRequest& request) {
  return ask(request, true);
}

}  // namespace plateau
