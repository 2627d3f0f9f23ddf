// Writes the sample result file (argument 1), with evaluations per prompt and a failed run, for the Python checks of the layout and of what
// shows it. Argument 2: `plain` without these, `rollouts` with kept rollouts besides, `hostile` with names that a shell, gnuplot, LaTeX or a page might obey, `latex` with every
// sign and letter that LaTeX may take for something else, `texts` with more such texts wherever a file has one, and numbers whose bits are
// easily lost.
#include <cctype>
#include <iostream>
#include <limits>
#include <string>

#include "tests/results/sample.hpp"

namespace {

/// Names without control characters, as a file may have them.
const char* const hostile_names[] = {"$(touch pwned) `touch pwned` \"x\" 'y' 100%q", "</script><img src=x onerror=alert(1)> & \\n {/Symbol a}_2^3 @m"};

using namespace odrpo;

/// Every sign of ASCII, twice, and the letters of U+00A1 to U+0180.
std::string name_of_signs() {
  std::string name;
  for (char c = ' '; c < '\x7f'; ++c)
    if (!std::isalnum(static_cast<unsigned char>(c))) name += std::string(2, c);
  for (int point = 0xA1; point <= 0x180; ++point) {
    name += static_cast<char>(0xC0 | point >> 6);
    name += static_cast<char>(0x80 | (point & 0x3F));
  }
  return name;
}

/// Gives a run the id that its words make.
void name_run(RunRecord& r) { r.id = r.env + "/" + r.rater + "/" + r.policy + "/" + r.estimator + r.id.substr(r.id.find("/n")); }

/// Names that CSV, a spreadsheet, HTML or a terminal may take for something else; numbers whose bits are easily lost.
std::string write_odd_texts(const std::string& path) {
  auto all = sample::runs();
  const std::string script = "</script><script>alert(1)</script>", image = "<img src=x onerror=alert(1)>";
  const std::string estimator = "=HYPERLINK(\"http://evil\")&amp;'", rater = "a,b;\"c\"\\ <!-- " + script, policy(64, 'W');
  for (RunRecord& r : all) {
    if (r.env == "bandit") r.env = image;
    if (r.estimator != "maxrl") r.estimator = estimator;
    r.rater = rater;
    r.policy = policy;
    r.axes[2].second = r.seed == 0 ? "-2+3 \u202e" + script : "@SUM(A1)\u2028 日本語";
    r.finals.push_back({"odd", r.seed == 0 ? -0.0 : r.seed == 1 ? std::numeric_limits<double>::infinity() : 4.9406564584124654e-324});
    r.finals.push_back({"odd<b>", r.seed == 0 ? 1.7976931348623157e308 : r.seed == 1 ? 0.1 + 0.2 : 1e22 / 3});
    name_run(r);
    if (r.curves.size() > 1) r.curves[1].values.back() = -0.0;
  }
  all[4].status = RunStatus::failed;
  all[4].error = "=1+1\r\nline \"two\", and\x1b[31m " + script + "\n";
  SuiteFacts facts = sample::facts(all);
  facts.name = image;
  for (auto& [name, text] : facts.provenance) {
    if (name == "suite") text = "[suite]\nname = \"x\"  # " + script + image + " & \x1b[31m \u202e\n";
    if (name == "formulas") text = "maxrl\t" + script + "\n" + estimator + "\t" + image + "\n";
    if (name == "raters") text = rater + "\t" + image + " \"quoted\"\n";
  }
  for (const char* name : {"cpu", "compiler", "revision", "gpu", "isa", "host", "device", "jobs"})
    facts.provenance.emplace_back(name, image);
  facts.provenance.emplace_back("argv", "/somewhere/odrpo-bench\nrun\n" + image + ".toml\n--set\nx='" + script + "'\n--only=*/s1\n-j\n2\n");
  WorkFolder work(path, facts, false);
  work.commit(all);
  return work.assemble();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return 2;
  const std::string kind = argc == 3 ? argv[2] : "";
  if (kind == "texts") {
    std::cout << write_odd_texts(argv[1]) << "\n";
    return 0;
  }
  auto runs = odrpo::sample::runs();
  if (kind == "rollouts") runs = odrpo::sample::with_rollouts(std::move(runs));
  if (kind.empty() || kind == "rollouts") {
    runs[4].status = odrpo::RunStatus::failed;
    runs[4].error = "made to fail";
    runs = odrpo::sample::with_evaluated(std::move(runs));
  }
  if (kind == "latex")
    for (RunRecord& run : runs)
      if (run.estimator != "maxrl") run.estimator = name_of_signs(), name_run(run);
  for (odrpo::RunRecord& run : runs) {
    if (kind != "hostile") break;
    const bool baseline = run.estimator == "maxrl";
    run.estimator = baseline ? "maxrl" : hostile_names[0];
    run.rater = hostile_names[1];
    run.policy = std::string(64, 'W');
    name_run(run);
  }
  std::cout << odrpo::sample::write_file(argv[1], runs) << "\n";
}
