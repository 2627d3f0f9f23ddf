// Lines of 80 columns: what is broken where.
#include "kernels/system/page_text.hpp"

#include <algorithm>

#include "kernels/system/text.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("text is broken at blanks and at line ends") {
  CHECK(broken("a bb ccc", 4) == std::vector<std::string>{"a bb", "ccc"});
  CHECK(broken("a\nbb", 80) == std::vector<std::string>{"a", "bb"});
  CHECK(broken("abcdefgh i", 3) == std::vector<std::string>{"abcdefgh", "i"});                 // a long word keeps together
  CHECK(broken("\u00e4\u00e4 \u00e4", 4) == std::vector<std::string>{"\u00e4\u00e4 \u00e4"});  // code points, not bytes
}

TEST_CASE("columns: the last cell is broken, a wide cell pushes it to the next line") {
  CHECK(rows_text({{"a", "1"}, {"long", "2"}}, 2) == "  a     1\n  long  2\n");
  CHECK(rows_text({}, 2).empty());
  const std::string wide(29, 'w'), words = "many words that do not fit into what is left of this line of eighty columns, surely";
  const std::string text = rows_text({{"a", wide, "x"}, {"b", "v", words}}, 0);
  CHECK(text.find("a  " + wide + "\n") != std::string::npos);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(code_points(text.substr(begin, end - begin)) <= page);
    CHECK((end == begin || text[end - 1] != ' '));
  }
  CHECK(begin == text.size());
}

TEST_CASE("paragraphs hang") {
  CHECK(paragraph(std::string(70, 'a') + " " + std::string(20, 'b'), 2, 4) ==
        "  " + std::string(70, 'a') + "\n      " + std::string(20, 'b') + "\n");
}
