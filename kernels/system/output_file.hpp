// Where -o writes text: a whole file, or none.
#pragma once
#include <string>
#include <string_view>

namespace odrpo {

/// Writes all bytes to an open file or pipe. False, with errno, where that fails.
bool write_fully(int file, std::string_view bytes);

/// Is there something at the path? What cannot be looked at is not.
bool exists(const std::string& path);

/// Refuses, before any work is done, an output that is `input` itself, no regular file, or in a folder that is not there. Failure io.
void check_output(const std::string& path, const std::string& input);

/// A file that is written piece by piece, and appears at its path, through links, when it is whole. An old file stays until then. The
/// members throw Failure io.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();  ///< without commit(): nothing is left
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(std::string_view text);
  /// Syncs the file and puts it in its place.
  void commit();

 private:
  void open_named(unsigned mode);
  std::string path_, target_, aside_;  ///< aside_: the name under which it is written; empty while it has none
  int file_ = -1;
};

/// Writes a text as an OutputFile.
void write_output(const std::string& path, std::string_view text);

}  // namespace odrpo
