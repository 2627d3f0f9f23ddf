// Turns the bytes of files into texts in UTF-8: unpacks gzip, zstd and zip, and converts UTF-16.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

inline constexpr std::size_t max_scores_bytes = std::size_t{1} << 30;  ///< largest file, bytes, also unpacked

/// A text, and what messages call it: the file, "FILE.zip:MEMBER".
struct NamedText {
  std::string name, text;
};
/// The same text, kept elsewhere.
struct TextView {
  std::string name;
  std::string_view text;
};

/// Is it packed by gzip, zstd or zip?
bool is_packed(std::string_view bytes);

/// The texts in a packed file in the order of their names: one of gzip and zstd, the members of a zip archive that are no folders. `wanted`: only
/// members for whose name it is true. Failure bad_input for a damaged file and beyond max_scores_bytes.
/// Failure io where libarchive is not installed.
std::vector<NamedText> unpacked(std::string_view bytes, const std::string& file, bool (*wanted)(std::string_view name));

/// The one text of bytes that are packed or UTF-16; without text where they are neither, so that nothing is copied. Failure bad_input for an archive of several.
NamedText decoded_text(std::string_view bytes, const std::string& file);

/// UTF-16 text with or without a byte order mark as UTF-8. Nothing is changed in other text. Failure bad_input for surrogates that are no pair.
void make_utf8(NamedText& text);

}  // namespace odrpo
