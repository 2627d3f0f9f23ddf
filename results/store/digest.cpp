// Calls OpenSSL's EVP interface; the only file that includes it.
#include "results/store/digest.hpp"

#include <openssl/evp.h>

#include <new>

#include "kernels/shared/failure.hpp"

namespace odrpo {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context) throw std::bad_alloc();
  if (EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) == 1) return;
  // OpenSSL loads its algorithms when they are first asked for, and does not always say that memory was lacking
  throw Failure(Exit::limits, "OpenSSL has no SHA-256: memory is lacking, or its configuration leaves it out");
}
Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t count) {
  if (EVP_DigestUpdate(state_->context.get(), bytes, count) != 1) throw Failure(Exit::internal, "SHA-256 failed");
}

std::string Sha256::hex() {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned int count = 0;
  if (EVP_DigestFinal_ex(state_->context.get(), sum, &count) != 1) throw Failure(Exit::internal, "SHA-256 failed");
  const char* digits = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < count; ++i) {
    text += digits[sum[i] >> 4];
    text += digits[sum[i] & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.hex();
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP ends it with a zero
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), from, static_cast<int>(bytes.size()))));
  return text;
}

}  // namespace odrpo
