// Computes SHA-256 of text and of streams of bytes, and base64, by OpenSSL.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace odrpo {

/// SHA-256 of bytes added piece by piece.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(const void* bytes, std::size_t count);
  void add(std::string_view text) { add(text.data(), text.size()); }
  /// 64 lower-case hex digits; the object is spent afterwards.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// 64 lower-case hex digits of the SHA-256 of a text.
std::string sha256_hex(std::string_view text);
/// Bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace odrpo
