// Implements decode.hpp with libarchive, which is loaded when the first packed file is read.
#include "results/scores/decode.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <type_traits>

#include "kernels/shared/failure.hpp"
#include "kernels/system/fail.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {
namespace {

constexpr const char* libarchive_name = "libarchive.so.13";  // of every version 3 of libarchive

/// The functions of libarchive that are used here. Few people read packed files, so a program starts without the library, its XML parser and
/// ICU, and on machines that have none of them.
struct Libarchive {
  decltype(&archive_read_new) read_new;
  decltype(&archive_read_free) read_free;
  decltype(&archive_error_string) error_string;
  decltype(&archive_read_support_format_zip) support_zip;
  decltype(&archive_read_support_filter_gzip) support_gzip;
  decltype(&archive_read_support_filter_zstd) support_zstd;
  decltype(&archive_read_support_format_raw) support_raw;
  decltype(&archive_read_open_memory) open_memory;
  decltype(&archive_read_next_header) next_header;
  decltype(&archive_filter_code) filter_code;
  decltype(&archive_read_data_block) data_block;
  decltype(&archive_entry_pathname_utf8) pathname_utf8;
};

/// Loads the library, which then stays. Failure io, about `file`, where this machine has none.
Libarchive load_libarchive(const std::string& file) {
  const auto check = [&](const void* found) {
    if (found != nullptr) return;
    const char* const why = dlerror();
    fail(Exit::io, "{}: packed files are read by libarchive, which cannot be loaded ({})\nInstall it (Debian, Ubuntu: libarchive13; Fedora, Arch: libarchive), or unpack the file.",
         file, why == nullptr ? libarchive_name : why);
  };
  void* const library = dlopen(libarchive_name, RTLD_NOW | RTLD_LOCAL);
  check(library);
  const auto find = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    check(found);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
  Libarchive l;
  find(l.read_new, "archive_read_new"), find(l.read_free, "archive_read_free"), find(l.error_string, "archive_error_string");
  find(l.support_zip, "archive_read_support_format_zip"), find(l.support_gzip, "archive_read_support_filter_gzip");
  find(l.support_zstd, "archive_read_support_filter_zstd"), find(l.support_raw, "archive_read_support_format_raw");
  find(l.open_memory, "archive_read_open_memory"), find(l.next_header, "archive_read_next_header"), find(l.filter_code, "archive_filter_code");
  find(l.data_block, "archive_read_data_block"), find(l.pathname_utf8, "archive_entry_pathname_utf8");
  return l;
}

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;  // bytes behind the first
  constexpr unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(lead[more] | (point >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
}

}  // namespace

bool is_packed(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd") || bytes.starts_with("PK\x03\x04");
}

std::vector<NamedText> unpacked(std::string_view bytes, const std::string& file, bool (*wanted)(std::string_view name)) {
  const bool zip = bytes.starts_with("PK");
  static const Libarchive la = load_libarchive(file);
  const std::unique_ptr<archive, decltype(la.read_free)> reader(la.read_new(), la.read_free);
  archive* const a = reader.get();
  const auto damaged = [&] {
    const char* const why = la.error_string(a);
    fail(Exit::bad_input, "{}: cannot be unpacked: {}", file, why == nullptr ? "damaged" : why);
  };
  if (zip) {
    la.support_zip(a);
  } else {
    la.support_gzip(a), la.support_zstd(a);
    la.support_raw(a);
  }
  if (la.open_memory(a, bytes.data(), bytes.size()) != ARCHIVE_OK) damaged();
  std::vector<NamedText> texts;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  for (int state = la.next_header(a, &entry); state != ARCHIVE_EOF; state = la.next_header(a, &entry)) {
    if (state < ARCHIVE_WARN || (!zip && la.filter_code(a, 0) == ARCHIVE_FILTER_NONE)) damaged();
    const char* const path = la.pathname_utf8(entry);
    const std::string name = path == nullptr ? "" : path;
    if (zip && (name.ends_with('/') || !wanted(name))) continue;
    NamedText& text = texts.emplace_back();
    text.name = zip ? file + ":" + name : file;
    for (;;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int more = la.data_block(a, &block, &size, &offset);
      if (more == ARCHIVE_EOF) break;
      if (more < ARCHIVE_WARN) damaged();
      if (total += size; total > max_scores_bytes) fail(Exit::bad_input, "{}: larger than {} MiB when it is unpacked", file, max_scores_bytes >> 20);
      text.text.append(static_cast<const char*>(block), size);
    }
  }
  std::sort(texts.begin(), texts.end(), [](const NamedText& x, const NamedText& y) { return x.name < y.name; });
  return texts;
}

void make_utf8(NamedText& text) {
  if (wide_encoding(text.text) != "UTF-16") return;
  const std::string bytes = std::move(text.text);
  const bool marked = bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff");
  const bool little = marked ? bytes[0] == '\xff' : bytes.size() > 1 && bytes[1] == '\0';
  const auto unit = [&](std::size_t i) {
    const auto a = static_cast<unsigned char>(bytes[i]), b = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(little ? a | b << 8 : b | a << 8);
  };
  text.text.clear();
  text.text.reserve(bytes.size() / 2);
  for (std::size_t i = marked ? 2 : 0; i + 1 < bytes.size(); i += 2) {
    std::uint32_t point = unit(i);
    if (point >= 0xD800 && point < 0xE000) {
      const std::uint32_t low = point < 0xDC00 && i + 3 < bytes.size() ? unit(i + 2) : 0;
      if (low < 0xDC00 || low >= 0xE000) fail(Exit::bad_input, "{}: UTF-16 with a surrogate that is no pair at byte {}", text.name, i);
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    }
    append_utf8(text.text, point);
  }
}

NamedText decoded_text(std::string_view bytes, const std::string& file) {
  if (!is_packed(bytes) && wide_encoding(bytes) != "UTF-16") return {file, ""};
  std::vector<NamedText> texts;
  if (is_packed(bytes)) texts = unpacked(bytes, file, [](std::string_view name) { return !name.starts_with("__MACOSX/"); });
  else texts.push_back({file, std::string(bytes)});
  if (texts.size() != 1) fail(Exit::bad_input, "{}: {} files in it, and one is wanted", file, texts.size());
  make_utf8(texts[0]);
  return std::move(texts[0]);
}

}  // namespace odrpo
