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

using odrpo::app::compute_line;

TEST_CASE("eps and ddof beside a system: left out, right, without effect, and otherwise than the system has them") {
  const auto with = [](const std::string& fn, const std::string& more) {
    return compute_line(R"({"id":1,"fn":")" + fn + R"(","args":{)" + more + "}}");
  };
  const std::string group = R"("rewards":[3,7,7,9],"est":"grpo","compat":"verl")",
                    theory = R"("est":"grpo","R":[1,2,3],"M":4,"compat":"verl")";
  const std::string usual = with("advantage", group), mac = with("mac", theory);
  CHECK(usual.starts_with(R"({"id":1,"out":[)"));
  CHECK(mac.starts_with(R"({"id":1,"out":{)"));
  for (const char* right : {R"(,"eps":1e-6)", R"(,"ddof":1)", R"(,"eps":0.000001,"ddof":1.0)"}) {
    CAPTURE(right);
    CHECK(with("advantage", group + right) == usual);
    CHECK(with("mac", theory + right) == mac);
  }
  CHECK(with("advantage", group + R"(,"eps":1e-4)") ==
        R"({"id":1,"error":{"code":"out_of_range","message":"eps: compat \"verl\" has eps = 1e-06, not 0.0001"}})");
  CHECK(with("mac", theory + R"(,"ddof":0)") ==
        R"({"id":1,"error":{"code":"out_of_range","message":"ddof: compat \"verl\" has ddof = 1, not 0"}})");
  // a form that reads neither takes both, as without a system
  CHECK(with("advantage", R"("rewards":[3,5],"est":"rloo","compat":"verl","eps":1e-6,"ddof":1)") == R"({"id":1,"out":[-2,2]})");
  // the paper has what is given
  const std::string paper = R"("rewards":[3,5],"est":"grpo","compat":"paper")";
  CHECK(with("advantage", paper) == R"({"id":1,"out":[-1,1]})");
  CHECK(with("advantage", paper + R"(,"eps":1)") == R"({"id":1,"out":[-0.5,0.5]})");
}
