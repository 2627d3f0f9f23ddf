// Computes SHA-256 and base64 through OpenSSL's EVP interface (no other file uses it), and the result digest.
#include "results/store/digest.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <numeric>

#include "kernels/system/fail.hpp"

namespace odrpo {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context) throw std::bad_alloc();
  static const EVP_MD* const kind = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // EVP_sha256() would be looked up at every use
  if (kind != nullptr && EVP_DigestInit_ex(state_->context.get(), kind, nullptr) == 1) return;
  // OpenSSL loads its algorithms at first use, and does not always report that memory was lacking
  fail(Exit::limits, "OpenSSL has no SHA-256: memory is lacking, or its configuration leaves it out");
}
Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t count) {
  if (EVP_DigestUpdate(state_->context.get(), bytes, count) != 1) fail(Exit::internal, "SHA-256 failed");
}

std::string Sha256::hex() {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned int count = 0;
  if (EVP_DigestFinal_ex(state_->context.get(), sum, &count) != 1) fail(Exit::internal, "SHA-256 failed");
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

std::string sha256_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sum;
  char bytes[65536];
  while (file.read(bytes, sizeof bytes) || file.gcount() > 0) sum.add(bytes, static_cast<std::size_t>(file.gcount()));
  return file.eof() ? sum.hex() : "";
}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP appends a zero byte
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), from, static_cast<int>(bytes.size()))));
  return text;
}

// The result digest: which values of a run are hashed, and in which bytes (docs/results.md).

namespace {

static_assert(std::endian::native == std::endian::little, "the digest is defined on little-endian bytes");

/// One variable of a run as the digest hashes it: the word for its type, its shape as text, its bytes.
struct Variable {
  std::string dtype, shape, bytes;
};

Variable of_text(const std::string& text) { return {"utf8", std::to_string(text.size()), text}; }

template <class T>
Variable of_number(const char* dtype, T value) {
  Variable v{dtype, "", std::string(sizeof value, '\0')};
  std::memcpy(v.bytes.data(), &value, sizeof value);
  return v;
}

/// The defined points of a curve as rows (step, value), or of an evaluation as rows (prompt, value). NaN counts as not recorded.
Variable of_points(const std::vector<std::int32_t>& step, const std::vector<double>& values) {
  std::vector<double> points;
  for (std::size_t i = 0; i < values.size() && i < step.size(); ++i)
    if (!std::isnan(values[i])) points.insert(points.end(), {static_cast<double>(step[i]), values[i]});
  Variable v{"<f8", std::to_string(points.size() / 2) + ",2", std::string(points.size() * sizeof(double), '\0')};
  if (!points.empty()) std::memcpy(v.bytes.data(), points.data(), v.bytes.size());
  return v;
}

/// All variables of a run that the digest hashes, by name. std::map sorts the names by their bytes.
std::map<std::string, Variable> variables(const RunRecord& run) {
  std::map<std::string, Variable> all;
  all["id"] = of_text(run.id);
  all["key"] = of_text(run.key);
  all["env"] = of_text(run.env);
  all["rater"] = of_text(run.rater);
  all["policy"] = of_text(run.policy);
  all["estimator"] = of_text(run.estimator);
  all["votes"] = of_number("<i4", static_cast<std::int32_t>(run.votes));
  all["seed"] = of_number("<i4", static_cast<std::int32_t>(run.seed));
  for (const auto& [name, value] : run.axes) {
    if (const auto* text = std::get_if<std::string>(&value)) {
      if (!text->empty()) all["axes/" + name] = of_text(*text);
    } else {
      const auto* integer = std::get_if<std::int64_t>(&value);
      const double number = integer ? static_cast<double>(*integer) : std::get<double>(value);
      if (!std::isnan(number)) all["axes/" + name] = of_number("<f8", number);
    }
  }
  if (run.status == RunStatus::failed) return all;
  for (const Final& f : run.finals)
    if (!std::isnan(f.value) && f.name != modelled_seconds) all[f.name] = of_number("<f8", f.value);
  for (const Curve& c : run.curves) {
    Variable v = of_points(run.step, c.values);
    if (!v.bytes.empty()) all["curves/" + c.name] = std::move(v);
  }
  for (const Curve& c : run.evaluated) {
    std::vector<std::int32_t> prompt(c.values.size());
    std::iota(prompt.begin(), prompt.end(), 0);
    Variable v = of_points(prompt, c.values);
    if (!v.bytes.empty()) all["evaluated/" + c.name] = std::move(v);
  }
  return all;
}

}  // namespace

void ResultDigest::add(const RunRecord& run) {
  const std::string_view nul("\0", 1);
  sum_.add("run");
  sum_.add(nul);
  for (const auto& [name, v] : variables(run)) {
    for (const std::string* part : {&name, &v.dtype, &v.shape}) {
      sum_.add(*part);
      sum_.add(nul);
    }
    sum_.add(v.bytes);
  }
}

void TextList::add(std::string_view text) {
  if (pieces_.empty() || pieces_.back().size() + text.size() > pieces_.back().capacity()) {
    pieces_.emplace_back();
    pieces_.back().reserve(std::max(piece_bytes, text.size()));
  }
  std::string& piece = pieces_.back();
  places_.push_back({static_cast<std::uint32_t>(pieces_.size() - 1), static_cast<std::uint32_t>(piece.size()),
                     static_cast<std::uint32_t>(text.size())});
  piece += text;
}

std::vector<std::uint32_t> id_order(const TextList& ids) {
  std::vector<std::uint32_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return ids[a] < ids[b]; });
  return order;
}

std::string result_digest(std::span<const RunRecord> runs) {
  std::vector<const RunRecord*> in_order;
  for (const RunRecord& run : runs) in_order.push_back(&run);
  std::stable_sort(in_order.begin(), in_order.end(), [](const RunRecord* a, const RunRecord* b) { return a->id < b->id; });
  ResultDigest digest;
  for (const RunRecord* run : in_order) digest.add(*run);
  return digest.hex();
}

}  // namespace odrpo
