// Conventions of requests: eps and ddof of one's own beside those of a system.
#include <string>

#include "app/compute/line.hpp"
#include "tests/catch.hpp"

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
