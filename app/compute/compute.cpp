// `odrpo-bench compute`: JSON lines on stdin to JSON lines on stdout.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "app/command.hpp"
#include "app/compute/line.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 16;

bool write_all(int output, std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(output, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  text.clear();
  return true;
}

/// Cuts a stream of bytes into lines and answers them; of a line that is too long it keeps nothing.
class Lines {
 public:
  void feed(std::string_view bytes, std::string& answers) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (line_.size() + part.size() > max_compute_line) too_long_ = true, line_.clear();
      if (!too_long_) line_ += part;
      if (end == std::string_view::npos) return;
      finish(answers);
      bytes.remove_prefix(end + 1);
    }
  }

  void finish(std::string& answers) {
    if (too_long_)
      answers += R"({"id":null,"error":{"code":"too_large","message":"a request is at most 16 MiB"}})"
                 "\n";
    else if (line_.find_first_not_of(" \t\r") != std::string::npos) answers += compute_line(line_) + '\n';
    line_.clear();
    too_long_ = false;
  }

 private:
  std::string line_;
  bool too_long_ = false;
};

}  // namespace

int compute_stream(int input, int output) {
  Lines lines;
  std::string bytes(chunk, '\0'), answers;
  for (;;) {
    const ssize_t n = ::read(input, bytes.data(), chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return static_cast<int>(Exit::io);
    if (n == 0) lines.finish(answers);
    else lines.feed(std::string_view(bytes).substr(0, static_cast<std::size_t>(n)), answers);
    if (!write_all(output, answers)) return static_cast<int>(Exit::io);
    if (n == 0) return static_cast<int>(Exit::ok);
  }
}

int compute() {
  const int code = compute_stream(STDIN_FILENO, STDOUT_FILENO);
  if (code != static_cast<int>(Exit::io) || errno == EPIPE) return code;  // a reader that has left knows it
  throw Failure(Exit::io, std::string("cannot read standard input or write standard output: ") + std::strerror(errno));
}

}  // namespace odrpo::app
