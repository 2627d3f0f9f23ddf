#!/usr/bin/env python3
"""Adds one more member of each kind (a noise model, a table format, …) to a copy of the sources, to prove that it takes few files.

Usage: run.py [--full] [--page] BUILD_FOLDER. Each sibling is compiled as far as its syntax by the commands of BUILD_FOLDER; --full builds the
program with all of them, and each must be listed, train or print; --page prints the table of docs/architecture.md, which is checked."""
import argparse, concurrent.futures, json, os, re, shlex, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PAGE = "docs/architecture.md"
SCHEMA = "suites/odrpo-bench.schema.json"
MOST_FILES, MOST_FILES_OF_A_COMMAND = 3, 4


class Sibling:
    """One more member of a kind. `edits`: {file: (what is added there, [(anchor, text put before it), …])}; a new file has no anchors.
    `word`: what users call it; it is in the schema of suites if `schema`. `switches`: the enumeration that got a value; every source with a switch over it is compiled, too."""

    def __init__(self, kind, word, edits, schema=False, switches=None, also_checked=(), proofs=()):
        self.kind, self.word, self.edits, self.schema, self.switches, self.proofs = kind, word, edits, schema, switches, proofs
        self.also_checked = list(also_checked)
        if switches:
            found = subprocess.run(["git", "-C", ROOT, "grep", "-l", f"case {switches}::", "--", "*.cpp", ":!tests", ":!*_stage.cpp"], capture_output=True, text=True)
            self.also_checked += found.stdout.split()

    def files(self):
        return list(self.edits) + ([SCHEMA] if self.schema else [])

    def row(self):
        where = [f"`{file}`: {what}" for file, (what, _) in self.edits.items()]
        if self.schema:
            where.append(f"`{SCHEMA}`, made anew by `list --schema`")
        return f"| {self.kind} | {'; '.join(where)} | {len(self.files())} |"


SUITE = """[suite]
name = "one"
seeds = 2
[grid]
rater = ["RATER"]
policy = ["tabular"]
estimator = ["ESTIMATOR"]
votes = [VOTES]
[learn]
steps = 4
batch = 4
rollouts = 4
"""


def suite(rater="mixed", estimator="grpo", votes=1, more=""):
    return SUITE.replace("RATER", rater).replace("ESTIMATOR", estimator).replace("VOTES", str(votes)) + more


# A proof: the text of a suite that is trained first or None, the words of a command, and what it prints.
SIBLINGS = [
    Sibling(
        "a noise model",
        "sibling-noise",
        {
            "envs/rater/noise.hpp": (
                "one struct (word, help, `describe()`) and its place in `Noise`",
                [
                    ("using Noise =", """/// With probability p the score is the middle level.
struct SiblingNoise {
  static constexpr std::string_view word = "sibling-noise";
  static constexpr std::string_view help = "with probability p the score is the middle level";
  double p = 0.0;
  bool operator==(const SiblingNoise&) const = default;
};
template <class V>
void describe(V& v, SiblingNoise& c) {
  v.number("p", c.p, 0.0, 1.0, "probability per call");
}

"""),
                    ("ResampleNoise>;\n", "SiblingNoise, "),
                ],
            ),
            "envs/rater/noise.cpp": (
                "its `apply()`; of one that makes a distribution also `makes_distribution()`, of one for K levels `noise_levels()`",
                [("bool hits(OutlierTarget target", """void apply(const SiblingNoise& n, const Traits&, std::span<double> row) { mix_in(row, n.p, row.size() / 2); }
""")],
            ),
        },
        schema=True,
        also_checked=["config/catalogue/fields.cpp", "config/read/field_reader_noise.cpp"],
        proofs=[
            (None, ["list", "noise"], "sibling-noise"),
            (suite(rater="near", more='[rater.near]\nnoise = [{ model = "gaussian" }, { model = "sibling-noise", p = 0.2 }]\n'), ["table", "--legend", "full"], "sibling-noise p 0.2"),
        ],
    ),
    Sibling(
        "a weight of levels",
        "sibling-weight",
        {
            "estimators/weights.hpp": (
                "its word and its formula in `level_shape()` or `level_mix()`",
                [
                    ("root };\ninline", "sibling, "),
                    ("    {Weight::gini_median, ", """    {Weight::sibling, "sibling-weight", "w_k = k^2"},
"""),
                    ("  return weight == Weight::linear", """  if (weight == Weight::sibling) return level * level;
"""),
                ],
            ),
            "app/plot/plot.cpp": ("its colour in figures", [("    case Weight::root: return green;", """    case Weight::sibling: return black;
""")]),
        },
        schema=True,
        switches="Weight",
        also_checked=["estimators/estimator.cpp", "estimators/definition.cpp"],
        proofs=[(None, ["list", "weights"], "k^2"), (suite(estimator="odrpo-sibling-weight(grpo)"), ["table"], "odrpo-sibling-weight(grpo)")],
    ),
    Sibling(
        "an aggregate of votes",
        "sibling-votes",
        {
            "envs/rater/rater.hpp": (
                "its word, also in the rules `answers_only` and `drawn_only`; whether its distribution is known, in `has_distribution()`",
                [
                    ("fraction, all };", "sibling, "),
                    ("    {Aggregate::fraction, ", """    {Aggregate::sibling, "sibling-votes", "the highest score"},
"""),
                    ("    case Aggregate::all: return true;", """    case Aggregate::sibling: return false;
"""),
                    ('Aggregate::all},\n            "aggregate = \\"expected\\" reads', "Aggregate::sibling, "),
                    ('Aggregate::all},\n            "aggregate = \\"expected\\" draws', "Aggregate::sibling, "),
                ],
            ),
            "envs/rater/vote_counts.hpp": (
                "what it makes of counts in `whole_score()` (with a known distribution: also `envs/rater/aggregate_distribution.cpp`)",
                [("  const int most = most_votes(count, lowest, levels);\n  return tie", """  if (aggregate == Aggregate::sibling) {
    int highest = levels;
    while (count[highest] == 0) --highest;
    return highest;
  }
""")],
            ),
        },
        schema=True,
        switches="Aggregate",
        also_checked=["envs/rater/aggregate_distribution.cpp", "envs/bandit/channel.cpp"],
        proofs=[(suite(rater="best", votes=3, more='[rater.best]\nbase = "mixed"\naggregate = "sibling-votes"\n'), ["table", "--legend", "full"], "N votes: sibling-votes, of N draws")],
    ),
    Sibling(
        "a curve",
        "sibling_curve",
        {
            "train/curves.hpp": ("its `CurveId`", [("  gradient_cosine,", "  sibling,\n")]),
            "train/curves.cpp": (
                "its row: name, unit, meaning, which runs have it",
                [("    row(\"gradient_cosine\"", """    row("sibling_curve", "words", "twice the mean length", of_texts),
""")],
            ),
            "train/worlds/toy_lm.cpp": (
                "the line that records it (of the bandit: `train/worlds/bandit.cpp`, and `train/batched/run_layout.cpp`)",
                [("  add_value(r, spec, CurveId::repeats,", """  add_value(r, spec, CurveId::sibling, 2 * means.length / means.count);
""")],
            ),
        },
        switches="CurveId",
        proofs=[
            (None, ["list", "--markdown", "curves"], "twice the mean length"),
            (suite(more='[policy.small]\nbase = "transformer"\nwarm_steps = 20\n').replace('["tabular"]', '["small"]').replace("[grid]", '[grid]\nenv = ["toy-lm"]'),
             ["table", "--curve", "sibling_curve"], "sibling_curve"),
        ],
    ),
    Sibling(
        "a format of tables",
        "sibling-table",
        {
            "results/table/render/sibling.cpp": ("its text (a new file)", """// Renders the model of a table as the names of its rows.
#include "kernels/shared/words.hpp"
#include "results/table/table.hpp"

namespace odrpo {

std::string table_sibling(const TableModel& table) { return "sibling: " + joined(table.rows) + "\\n"; }

}  // namespace odrpo
"""),
            "results/table/table.hpp": (
                "its declaration",
                [("TableModel curve_table(", """std::string table_sibling(const TableModel& table);

""")],
            ),
            "app/table/query.cpp": (
                "its row of `table_formats`",
                [('    {"json",', """    {"sibling-table", [](const TableModel& table, std::optional<Legend>, const TableOptions&) { put(table_sibling(table)); }, true},
""")],
            ),
        },
        proofs=[(suite(), ["table", "--format", "sibling-table"], "sibling: grpo"), (None, ["table", "--help"], "sibling-table")],
    ),
    Sibling(
        "a format of judges' scores",
        "sibling",
        {
            "results/scores/reading.hpp": (
                "its `ScoreFormat` and word",
                [("prime_rl, verifiers };", "sibling, "), ('    {ScoreFormat::promptfoo, "promptfoo"', """    {ScoreFormat::sibling, "sibling", "scores of a sibling"},
""")],
            ),
            "results/scores/tools.cpp": (
                "its reader, and its row of `tools()`: the keys of its objects",
                [
                    ("  void verifiers();\n\n private:", "  void sibling();\n"),
                    ("struct Tool {\n", """void Reader::sibling() {
  each([&](const Json& json, long line, std::size_t) {
    add({text_of(member(json, {"question"})), text_of(member(json, {"reply"})), "", "", score_of(member(json, {"grade"})), line});
  });
}

"""),
                    ("      {ScoreFormat::verifiers, &Reader::verifiers", """      {ScoreFormat::sibling, &Reader::sibling, {{"question", "reply", "grade"}}, false},
"""),
                ],
            ),
        },
        proofs=[(None, ["judge", "analyze", "scores.jsonl"], "2 prompts")],
    ),
    Sibling(
        "an estimator",
        "sibling-form",
        {
            "estimators/estimator.hpp": (
                "its `Form` and its row of `form_rows` (a new divisor: also `estimators/weights.hpp` or `estimators/group/group.hpp`, and "
                "`estimators/definition.cpp`; one that reads the whole batch: `estimators/batch_forms.cpp`)",
                [
                    ("odrpo, odrpo_bitwise };", "sibling, "),
                    ("    {.form = Form::rank_grpo,", """    {.form = Form::sibling,
     .word = "sibling-form",
     .formula = "rank - mean rank",
     .basis = Basis::rank,
     .source = "a test"},
"""),
                ],
            ),
            "app/plot/plot.cpp": ("its look in figures", [("    case Form::rank_grpo: return", "    case Form::sibling: return {purple, dotted, purple};\n")]),
        },
        schema=True,
        switches="Form",
        also_checked=["estimators/compat.cpp", "estimators/formula_text.cpp", "estimators/batch.cpp", "estimators/definition.cpp"],
        proofs=[
            (None, ["list", "estimators"], "A = rank - mean rank"),
            (None, ["explain", "--rewards", "3,7,7,9", "--estimator", "sibling-form"], "-1.5"),
            (suite(estimator="sibling-form"), ["table"], "sibling-form "),
        ],
    ),
    Sibling(
        "a command",
        "sibling-command",
        {
            "app/sibling.cpp": ("what it does (a new file, or a folder where it has more than three)", """// `odrpo-bench sibling`: prints a number.
#include "app/command.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {

int sibling(const SiblingOptions& o) {
  put("sibling " + std::to_string(o.number) + "\\n");
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
"""),
            "app/command.hpp": (
                "its options and its function",
                [("int doctor(bool json);", """struct SiblingOptions {
  int number = 1;
};
int sibling(const SiblingOptions&);
""")],
            ),
            "app/main.cpp": (
                "its flags (many of them: `app/options/`)",
                [
                    ("  bool version = false, json", "  app::SiblingOptions sibling;\n"),
                    ('    c = add("doctor",', """    c = add("sibling-command", "print a number", "odrpo-bench sibling-command --number 3", [this] { return app::sibling(sibling); });
    c->add_option("--number", sibling.number, "which")->check(whole(1, 9));

"""),
                ],
            ),
        },
        proofs=[(None, ["sibling-command", "--number", "7"], "sibling 7"), (None, ["--help"], "sibling-command")],
    ),
]


def apply(sibling, tree):
    """Makes the sibling's edits; the messages of anchors that are not there exactly once."""
    wrong = []
    for file, (_, edits) in sibling.edits.items():
        path = os.path.join(tree, file)
        if isinstance(edits, str):
            open(path, "w").write(edits)
            continue
        text = open(path).read()
        for anchor, added in edits:
            if text.count(anchor) != 1:
                wrong.append(f"{sibling.kind}: {file}: {text.count(anchor)} times, not once: {anchor!r}")
            text = text.replace(anchor, added + anchor, 1)
        open(path, "w").write(text)
    return wrong


def commands(build, tree):
    """The compile command of each source, by its path in the tree. A build whose sources are joined is configured once more, in `tree`, with each alone."""
    if re.search("^(CMAKE_UNITY_BUILD|ODRPO_JOINED):[A-Z]*=ON$", open(os.path.join(build, "CMakeCache.txt")).read(), re.MULTILINE):
        build = os.path.join(tree, "build")
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DODRPO_BENCH=OFF", "-DODRPO_CUDA=OFF"], check=True, capture_output=True)
    return {os.path.relpath(entry["file"], ROOT): entry for entry in json.load(open(os.path.join(build, "compile_commands.json")))}


def syntax(file, tree, known):
    """What the compiler says against a file; a new one is compiled as its neighbours are."""
    entry = known.get(file) or next((e for f, e in known.items() if os.path.dirname(f) == os.path.dirname(file)), None)
    if entry is None:
        return f"{file}: the build folder has no command for it"
    words, skip = [], False
    for word in shlex.split(entry["command"])[1:] if "ccache" in entry["command"].split()[0] else shlex.split(entry["command"]):
        if skip or word in ("-c", "-MD", entry["file"]):
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        else:
            words.append(word.replace(f"-I{ROOT}", f"-I{tree}") if not word.startswith(f"-I{ROOT}/build") else word)
    done = subprocess.run([*words, "-fsyntax-only", os.path.join(tree, file)], cwd=entry["directory"], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{file}:\n{done.stderr[:2000]}"


def prove(proof, program, folder):
    """What is wrong with what the command prints."""
    text, words, wanted = proof
    words = list(words)
    if text:
        open(os.path.join(folder, "sibling.toml"), "w").write(text)
        ran = subprocess.run([program, "run", "sibling.toml", "--force", "-o", "sibling.h5"], cwd=folder, capture_output=True, text=True)
        if ran.returncode != 0:
            return f"the suite does not train, exit {ran.returncode}: {(ran.stdout + ran.stderr)[-1500:]}"
        words = [words[0], "sibling.h5", *words[1:]]
    ran = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    said = " ".join((ran.stdout + ran.stderr).split())
    return "" if ran.returncode == 0 and wanted in said else f"{' '.join(words)}: exit {ran.returncode}, no {wanted!r} in: {said[:600]}"


def full(tree):
    """Builds the program with all siblings, and lets each show itself."""
    build = os.path.join(tree, "build")
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DODRPO_TESTS=OFF", "-DODRPO_BENCH=OFF", "-DODRPO_CUDA=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DODRPO_NUMERIC_OPTIONS=-O1"]
    for words in (["cmake", "-S", tree, "-B", build, "-G", "Ninja", *flags], ["cmake", "--build", build, "--target", "odrpo-bench"]):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            return [f"the program with all siblings does not build:\n{(done.stdout + done.stderr)[-4000:]}"]
    program, wrong = os.path.join(build, "odrpo-bench"), []
    with open(os.path.join(build, "scores.jsonl"), "w") as scores:
        scores.writelines(json.dumps({"question": p, "reply": r, "grade": 1 + (p + r * s) % 5}) + "\n" for p in range(2) for r in range(4) for s in range(3))
    schema = subprocess.run([program, "list", "--schema"], capture_output=True, text=True).stdout
    wrong += [f"{s.kind}: {'not ' if s.schema else ''}in the schema of suites" for s in SIBLINGS if (s.word in schema) != s.schema]
    for sibling in SIBLINGS:
        wrong += [f"{sibling.kind}: {why}" for why in (prove(proof, program, build) for proof in sibling.proofs) if why]
    return wrong


def page():
    return "".join(f"{line}\n" for line in ["| a sibling | product files that it touches | how many |", "|---|---|---|", *(s.row() for s in SIBLINGS)])


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--full", action="store_true")
    flags.add_argument("--page", action="store_true")
    flags.add_argument("build", nargs="?", default=os.path.join(ROOT, "build", "release"))
    given = flags.parse_args()
    if given.page:
        return print(page(), end="")
    wrong = []
    if page() not in open(os.path.join(ROOT, PAGE)).read():
        wrong.append(f"{PAGE}: its table of siblings is not what tests/siblings/run.py --page prints")
    for sibling in SIBLINGS:
        most = MOST_FILES_OF_A_COMMAND if sibling.kind == "a command" else MOST_FILES
        if len(sibling.files()) > most:
            wrong.append(f"{sibling.kind}: {len(sibling.files())} files, more than {most}")
    with tempfile.TemporaryDirectory() as tree:
        for file in subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0"):
            if file and os.path.isfile(os.path.join(ROOT, file)):
                os.makedirs(os.path.dirname(os.path.join(tree, file)), exist_ok=True)
                shutil.copy(os.path.join(ROOT, file), os.path.join(tree, file))
        for sibling in SIBLINGS:
            wrong += apply(sibling, tree)
        if not wrong and not given.full:
            known = commands(given.build, tree)
            files = dict.fromkeys(f for s in SIBLINGS for f in [*s.edits, *s.also_checked] if f.endswith(".cpp"))
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                wrong += [said for said in pool.map(lambda f: syntax(f, tree, known), files) if said]
        if not wrong and given.full:
            wrong += full(tree)
    print(page(), end="")
    for line in wrong:
        print(f"FAILED: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
