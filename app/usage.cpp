// Suggestions by edit distance, error lines, and the last look at stdout.
#include "app/usage.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

#include "kernels/failure.hpp"

namespace odrpo::app {
namespace {

// edit distance in which swapping two neighbours counts once
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string closest(std::string_view word, std::span<const std::string> words) {
  if (word.size() > 64) return {};
  std::string best;
  std::size_t least = std::max<std::size_t>(1, std::min<std::size_t>(word.size() / 2, 3)) + 1;
  for (const auto& candidate : words)
    if (const std::size_t d = distance(word, candidate); d < least) least = d, best = candidate;
  return best;
}

void print_error(std::string_view message) {
  const bool placed = message.substr(0, message.find('\n')).find(": error: ") != std::string_view::npos;
  std::string text = placed ? "" : "error: ";
  text += message;
  if (!text.ends_with('\n')) text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void flush_stdout() {
  errno = 0;
  std::cout.flush();
  const bool arrived = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
  if (arrived) return;
  const int why = errno;
  pollfd reader{STDOUT_FILENO, 0, 0};
  if (why == EPIPE || (poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR))) return;
  throw Failure(Exit::io, std::string("cannot write to standard output") + (why ? std::string(": ") + std::strerror(why) : ""));
}

}  // namespace odrpo::app
