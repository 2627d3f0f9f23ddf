// How a failure is printed, and the last look at stdout.
#include "kernels/system/terminal.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {

void print_error(std::string_view message) {
  const bool placed = message.substr(0, message.find('\n')).find(": error: ") != std::string_view::npos;
  std::string text = placed ? "" : "error: ";
  text += printable(message);
  if (!text.ends_with('\n')) text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_note(std::string_view text) {
  const std::string line = printable_line(text) + '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::size_t stdout_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::max<std::size_t>(size.ws_col, 40);
}

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

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

}  // namespace odrpo
