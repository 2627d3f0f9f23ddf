// A worker of `odrpo-bench gate` for C++: OpenSSL's SHA-256 of 16 KiB, in one piece or in pieces of argv[1] bytes.
// c++ -O2 worker.cpp -lcrypto -o worker; odrpo-bench gate --kind worker --baseline ./worker --candidate './worker 64'
#include <openssl/evp.h>
#include <time.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

int main(int argc, char** argv) {
  const std::string data(16384, 'x');
  const std::size_t piece = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : data.size();
  const auto now = [] { timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return 1e9 * t.tv_sec + t.tv_nsec; };
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = nlohmann::json::parse(line);
    nlohmann::json answer = {{"cases", {"sha256"}}};
    if (request.contains("case")) {
      unsigned char digest[EVP_MAX_MD_SIZE] = {};
      const double begin = now();
      for (long long i = 0; i < request["repeat"]; ++i) {
        EVP_DigestInit_ex(context, EVP_sha256(), nullptr);
        for (std::size_t at = 0; at < data.size(); at += piece) EVP_DigestUpdate(context, &data[at], std::min(piece, data.size() - at));
        EVP_DigestFinal_ex(context, digest, nullptr);
      }
      answer = {{"ns", now() - begin}, {"checksum", digest[0] * 65536 + digest[1] * 256 + digest[2]}};
    }
    std::cout << answer << std::endl;
  }
}
