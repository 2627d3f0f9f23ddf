// Writes the output file of the flag -o: a complete file, or none.
#pragma once
#include <string>
#include <string_view>

namespace odrpo {

/// Writes all bytes to an open file or pipe. Returns false, with errno set, if that fails.
bool write_fully(int file, std::string_view bytes);

/// True if there is a file or folder at the path; false also if that cannot be found out.
bool exists(const std::string& path);

/// Throws Failure `io` if the output is the file `input` itself, no regular file, or in a folder that does not exist. Call it before any work.
void check_output(const std::string& path, const std::string& input);

/// A file that is written piece by piece, and appears at its path only when it is complete. Until then an old file stays there. Links in
/// the path are followed. The members throw Failure `io`.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< drops what was written unless commit() was called
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::string_view text);
  /// Syncs the file to disk and renames it to its path.
  void commit();

 private:
  void open_named(unsigned mode);
  std::string path_, target_, aside_;  ///< target_: path_ without links; aside_: temporary name, empty while the file has no name
  int file_ = -1;
};

/// Writes a text to a file, all or nothing (OutputFile).
void write_output(const std::string& path, std::string_view text);

}  // namespace odrpo
