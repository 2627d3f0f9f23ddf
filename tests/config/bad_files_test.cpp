// Files that are no suites: kind of path, size, emptiness, encoding, and nesting that would overflow a parser's stack.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "config/read/prescan.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/config/test_folder.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

TEST_CASE("a path that is not a readable regular file is refused") {
  const TestFolder folder;
  CHECK(file_refusal(folder.path.string()).code == Exit::suite);
  CHECK(file_refusal(folder.path.string()).has("is a directory"));
  CHECK(file_refusal("/dev/null").code == Exit::suite);
  CHECK(file_refusal("/dev/zero").has("is a device"));
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(file_refusal(pipe).code == Exit::suite);
  CHECK(file_refusal((folder.path / "none.toml").string()).code == Exit::io);
  CHECK(file_refusal("").code == Exit::io);
  CHECK(file_refusal(folder.file("a.toml", small_suite) + "/b").code == Exit::io);
  if (geteuid() != 0) {  // root reads everything
    const auto secret = folder.file("secret.toml", small_suite);
    chmod(secret.c_str(), 0);
    CHECK(file_refusal(secret).code == Exit::io);
  }
  CHECK(file_refusal(folder.file("good.toml", small_suite)).code == Exit::ok);
}

TEST_CASE("empty, huge and non-text files are refused with their place") {
  const TestFolder folder;
  for (const auto* text : {"", "\n", " \r\n\t"}) {
    const auto r = file_refusal(folder.file("empty.toml", text));
    CHECK(r.code == Exit::suite);
    CHECK(r.has(":1:1: error: the file is empty"));
  }
  const auto huge = file_refusal(folder.file("huge.toml", small_suite + "#" + std::string(1 << 20, 'x')));
  CHECK(huge.code == Exit::suite);
  CHECK(huge.has("larger than 1 MiB"));
  CHECK(file_refusal(folder.file("full.toml", small_suite + "#" + std::string((1 << 20) - small_suite.size() - 1, 'x'))).code == Exit::ok);
  for (const auto* bad : {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    const auto r = file_refusal(folder.file("latin.toml", "# é\n# é" + std::string(bad)));
    CHECK(r.code == Exit::suite);
    CHECK(r.has(":2:4: error: byte 0x"));
  }
  const auto comment = file_refusal(folder.file("comment.toml", "# nothing here\n"));
  CHECK(comment.has("the section [suite] is missing"));
  CHECK(comment.has("the section [grid] is missing"));
  CHECK(file_refusal(folder.file("nul.toml", small_suite + std::string(1, '\0'))).code == Exit::suite);
  for (const auto& wide : {std::string("\xff\xfe[\0s\0", 6), std::string("\xfe\xff\0[\0s", 6), std::string("[\0s\0u\0", 6)}) {
    const auto r = file_refusal(folder.file("wide.toml", wide));
    CHECK(r.code == Exit::suite);
    CHECK(r.has("wide.toml: error: UTF-16 text: save it as UTF-8"));
  }
  CHECK(file_refusal(folder.file("bom.toml", "\xEF\xBB\xBF" + small_suite)).code == Exit::ok);
  CHECK(file_refusal(folder.file("crlf.toml", "[suite]\r\nname = \"a\"\r\n[grid]\r\nestimator = [\r\n\"grpo\"]\r\n")).code == Exit::ok);
}

TEST_CASE("nesting that would overflow the parser is refused before it starts") {
  const std::string deep[] = {
      "a" + repeated(".a", 200000) + " = 1\n",
      "[a" + repeated(".a", 200000) + "]\n",
      "[[a" + repeated(" . \"a\"", 100000) + "]]\n",
      "a = " + std::string(100000, '['),
      "a = " + std::string(100000, '[') + std::string(100000, ']') + "\n",
      "a = " + repeated("{a=", 100000) + "1" + std::string(100000, '}') + "\n",
      "a = " + repeated("[{a=", 100000),
      "a = [\n" + repeated("[\n", 100000),
      "a = {a" + repeated(".a", 100000) + " = 1}\n",
  };
  for (const auto& text : deep) {
    INFO(text.substr(0, 40));
    const auto r = refusal(text);
    CHECK(r.code == Exit::suite);
    CHECK(r.has("nested deeper than 64"));
  }
  CHECK(refusal("a = " + std::string(100000, '[')).has("bad.toml:1:69"));
  CHECK(refusal(small_suite, {"learn.lr=" + std::string(60000, '[')}).has("--set 1: error: nested deeper than 64"));
}

TEST_CASE("the pre-scan sees brackets and dots only where they nest") {
  const std::string many(200, '[');
  CHECK_FALSE(prescan("a = \"" + many + "\"").too_deep);
  CHECK_FALSE(prescan("a = '" + many + "'").too_deep);
  CHECK_FALSE(prescan("# " + many).too_deep);
  CHECK_FALSE(prescan("a = \"\"\"\n" + many + "\n\"\" \\\"\"\"" + many + "\"\"\"").too_deep);
  CHECK_FALSE(prescan("a = '''\n" + many + "'''").too_deep);
  CHECK_FALSE(prescan("a = \"\\\"" + many + "\"").too_deep);
  CHECK_FALSE(prescan(repeated("a = [1]\n", 200)).too_deep);
  CHECK_FALSE(prescan(repeated("[a\n", 200)).too_deep);
  CHECK_FALSE(prescan("a = [" + repeated("1.5, ", 200) + "]").too_deep);
  CHECK_FALSE(prescan("a = \"" + repeated("x.", 200) + "\"").too_deep);
  CHECK(prescan("a = \"\\\\\" # \"\nb = " + many).too_deep);
  CHECK(prescan("a = \"\"\nb = " + many).too_deep);
  CHECK(prescan("a = '\\'\nb = " + many).too_deep);
  CHECK(prescan("a = '''x'''''\nb = " + many).too_deep);
  CHECK_FALSE(prescan("a = " + std::string(64, '[')).too_deep);
  CHECK(prescan("a = " + std::string(65, '[')).too_deep);
}

TEST_CASE("a file of a million bytes is refused with a short message, whatever it repeats", "[unsanitized]") {
  const auto many = [](auto piece) {
    std::string text;
    for (int i = 0; text.size() < 990'000; ++i) text += piece(i);
    return text;
  };
  const auto n = [](int i) { return std::to_string(i); };
  const std::string texts[] = {
      small_suite + "[learn]\n" + many([&](int i) { return "a" + n(i) + "=1\n"; }),
      small_suite + "[learn]\n" + many([&](int) { return std::string("a=1\n"); }),
      small_suite + "[learn]\nlr = [" + many([&](int i) { return n(i + 1) + ","; }) + "]\n",
      small_suite + "votes = [" + many([&](int i) { return n(i + 1) + ","; }) + "]\n",
      small_suite + "rater = [" + many([&](int i) { return "\"a" + n(i) + "\","; }) + "]\n",
      small_suite + many([&](int i) { return "[rater.a" + n(i) + "]\n"; }),
      small_suite + many([&](int i) { return "[a" + n(i) + "]\n"; }),
      small_suite + many([&](int) { return std::string("[[a]]\n"); }),
      small_suite + "rater = [" + many([&](int i) {
        return i < 40000 ? "\"b" + n(i) + "\"," : i == 40000 ? "]\n" : "[rater.a" + n(i) + "]\nbase='veto'\n";
      }),
      "a = \"" + many([](int) { return std::string("x"); }) + "\"\n",
      many([](int) { return std::string("\n"); }) + "a",
  };
  for (const auto& text : texts) {
    INFO(text.substr(0, 80) << " ... " << text.substr(text.size() / 2, 40));
    const auto r = refusal(text);
    CHECK(r.code != Exit::ok);
    CHECK(r.message.size() < 100'000);
  }
}
