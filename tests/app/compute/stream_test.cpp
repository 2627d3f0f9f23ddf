// `compute` as a conversation over pipes: answers come before more input is needed, long lines and closed outputs are survived.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "app/compute/line.hpp"
#include "tests/catch.hpp"

using odrpo::app::compute_stream;

namespace {

const std::string request = R"({"id":1,"fn":"vote","args":{"scores":[4,2],"tie":"highest"}})";
const std::string answer = R"({"id":1,"out":4})"
                           "\n";

struct Pipe {
  int end[2];
  Pipe() { REQUIRE(::pipe(end) == 0); }
};

std::string read_until(int from, std::size_t lines) {
  std::string text;
  char byte;
  while (lines > 0 && ::read(from, &byte, 1) == 1) {
    text += byte;
    if (byte == '\n') --lines;
  }
  return text;
}

void send(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(to, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace

TEST_CASE("a client can converse, line by line") {
  Pipe in, out;
  int code = -1;
  std::thread server([&] {
    code = compute_stream(in.end[0], out.end[1]);
    ::close(out.end[1]);
  });
  for (int i = 0; i < 3; ++i) {
    send(in.end[1], request + "\r\n\n");  // a blank line is no request
    CHECK(read_until(out.end[0], 1) == answer);
  }
  send(in.end[1], std::string((16u << 20) + 5, 'x') + "\n" + request + "\n{\n" + request);  // the last line has no end
  CHECK(read_until(out.end[0], 1).find("too_large") != std::string::npos);
  CHECK(read_until(out.end[0], 1) == answer);
  CHECK(read_until(out.end[0], 1).find("bad_json") != std::string::npos);
  ::close(in.end[1]);
  CHECK(read_until(out.end[0], 1) == answer);
  CHECK(read_until(out.end[0], 1).empty());
  server.join();
  CHECK(code == 0);
}

TEST_CASE("a closed output ends it with exit code 5") {
  ::signal(SIGPIPE, SIG_IGN);  // as the program does at its start
  Pipe in, out;
  ::close(out.end[0]);
  send(in.end[1], request + "\n");
  ::close(in.end[1]);
  CHECK(compute_stream(in.end[0], out.end[1]) == 5);
}
