# The JSON Schema of suite files judges as the program does. Usage: schema_test.py PATH/TO/odrpo-bench SOURCE_FOLDER
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import tomllib
except ImportError as missing:
    print(f"skipped: no {missing.name}")
    sys.exit(77)

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
text = subprocess.run([program, "list", "--schema"], check=True, capture_output=True, text=True).stdout
schema = json.loads(text)
failed = 0


def fail(what):
    global failed
    failed += 1
    print("FAILED:", what)


jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)

# the file that editors read is the program's own answer
shipped = source / "suites" / "odrpo-bench.schema.json"
if shipped.read_text() != text:
    fail(f"{shipped.name} is not what `odrpo-bench list --schema` says: write it again with\n"
         "  odrpo-bench list --schema > suites/odrpo-bench.schema.json")

HEAD = '[suite]\nname = "a"\n[grid]\nestimator = "grpo"\n'


def rest(lines):
    return HEAD + lines + "\n"


# what both refuse
BAD = [
    "[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 'a'\n",
    "[suite]\nseed = 1\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 'a'\n[grid]\nvotes = 1\n",
    "[suite]\nname = 'a b'\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = ''\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = '../a'\n[grid]\nestimator = 'grpo'\n",
    f"[suite]\nname = '{'a' * 65}'\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 7\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 'a'\nseed = -1\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 'a'\nseeds = [1, 2]\n[grid]\nestimator = 'grpo'\n",
    "[suite]\nname = 'a'\n[grid]\nestimator = []\n",
    "[suite]\nname = 'a'\n[grid]\nestimator = [1]\n",
    "[suite]\nname = 'a'\n[grid]\nestimator = ['grpo', 'grpo']\n",
    "[suite]\nname = 'a'\n[grid]\nestimator = 'a b'\n",
    "[suite]\nname = 'a'\n[grid]\nestimator = ''\n",
    "grid = 3\n[suite]\nname = 'a'\n",
    *map(rest, [
        "votes = 0",
        "votes = [1, 2.5]",
        "votes = []",
        "votes = [1, 8, 1]",
        "votes = 1025",
        "rater = ['mixed', 'mixed']",
        "foo = 1",
        "[lern]\nsteps = 3",
        "[learn]\nshedule = 'cosine'",
        "[learn]\nschedule = 'cosin'",
        "[learn]\nsteps = 0",
        "[learn]\nsteps = 'many'",
        "[learn]\nsteps = 2026-01-01",
        "[learn]\nsteps = true",
        "[learn]\nsteps = { n = 3 }",
        "[learn]\nrollouts = 256",
        "[learn]\nlr = -1",
        "[learn]\nlr = inf",
        "[learn]\nlr = []",
        "[learn]\nlr = [0.1, 0.10]",
        "[learn]\nlr = [0.1, 'b']",
        "[learn]\nepochs = 65",
        "[learn]\nwhiten = 'batch'",
        "[learn]\ndead_groups = 'skip'",
        "[[learn]]\nsteps = 3",
        "[record]\nevery = [1, 2]",
        "[record]\ngradient = 5000",
        "[table]\nvalue = 'gian'",
        "[table]\nvalue = ['gain', 'gian']\ncolumns = 'value'",
        "[table]\nvalue = ['gain', 'gain']\ncolumns = 'value'",
        "[table]\nvalue = []\ncolumns = 'value'",
        "[table]\nvalue = ['gain', 3]\ncolumns = 'value'",
        "[table]\ncompare = 'ratio'",
        "[table]\ncompare = ['percent']",
        "[table]\nbest = [1]",
        "[table]\nrows = ['votes']",
        "[table]\ntune_seeds = -1",
        "[gate]\nquality = 3",
        "[gate]\nquality = [{ at_most = 3 }]",
        "[gate]\nquality = [{ row = 'grpo' }]",
        "[gate]\nquality = [{ row = 'grpo', atmost = 3 }]",
        "[gate]\nquality = [{ row = 'grpo', at_most = 'three' }]",
        "[gate]\nquality = [{ row = 'grpo', at_most = 3, where = 'votes' }]",
        "[gate]\ntime = [{ row = 'grpo', at_most = 3 }]",
        "[limits]\nruns = 0",
        "[limits]\nmemory = 3",
        "[estimator]\nbase = 'grpo'",
        "[estimator.x]\nmedian = 'upper'",
        "[estimator.x]\nbase = 'grop'",
        "[estimator.x]\nbase = ['grpo']",
        "[estimator.x]\nbase = 'grpo'\ncompat = 'verll'",
        "[estimator.x]\nbase = 'maxrl'\norigin = 2",
        "[estimator.x]\nbase = 'grpo'\nddof = 1.5",
        "[estimator.grpo]\nbase = 'maxrl'",
        "[estimator.'a b']\nbase = 'grpo'",
        "[estimator.'odrpo(grop)']\neps = 0.1",
        "[env.bandit]\nlevels = 1",
        "[env.bandit]\nquality = 'whole'",
        "[env.small]\nprompts = 64",
        "[env.bandit]\nbase = 'bandits'",
        "[policy.flat]\nlr = 1",
        "[policy.linear]\nbase = 'tabular'",
        "[policy.linear]\ntilt = -1",
        "[policy.linear]\ntilt = [0, 1001]",
        "[rater.r]\ntie = 'lowest'",
        "[rater.r]\nbase = 'mixed'\nlow.p = 1.5",
        "[rater.r]\nbase = 'mixed'\nlow.q = 0.1",
        "[rater.r]\nbase = 'mixed'\nlow = 0.1",
        "[rater.r]\nbase = 'mixed'\naggregate = 'max'",
        "[rater.r]\nbase = 'panel-essays'\nprices = 2",
        "[rater.r]\nbase = 'panel-essays'\nprices = []",
        "[rater.r]\nbase = 'panel-essays'\nseconds = [1, 2, -3, 4]",
        "[rater.r]\nbase = 'mixed'\nparse_policy = 'retry'",
        "[rater.r]\nbase = 'mixed'\nworld_spread_sd = 6",
        "[rater.r]\nnoise = []",
        "[rater.r]\nnoise = 'gaussian'",
        "[rater.r]\nnoise = [{ sigma = 1 }]",
        "[rater.r]\nnoise = [{ model = 'gausian' }]",
        "[rater.r]\nnoise = [{ model = 'gaussian', sigma = -1 }]",
        "[rater.r]\nnoise = [{ model = 'gaussian', sigma = [1, 2] }]",
        "[rater.r]\nnoise = [{ model = 'gaussian', p = 0.1 }]",
        "[rater.r]\nnoise = [{ model = 'low', p = 0.1 }]",
        "[rater.r]\nnoise = [{ model = 'gaussian' }, { model = 'gaussian' }]",
        "[rater.r]\nnoise = [{ model = 'gaussian' }, 3]",
        "[rater.r]\nnoise = [{ model = 'confusion' }]",
        "[rater.r]\nnoise = [{ model = 'confusion', matrix = [[1.0]] }]",
        "[rater.r]\nnoise = [{ model = 'confusion', matrix = [[0.5, 0.5], [1.5, -0.5]] }]",
        "[rater.r]\nnoise = [{ model = 'confusion', matrix = [0.5, 0.5] }]",
        "[rater.r]\nbase = 'mixed'\nlevels = 5",
        "[rater.r]\nbase = 'mixed'\nscores = 'scores.csv'",
        "[rater.r]\nscores = 3",
        "[rater.r]\nscores = 'scores.csv'\nconfusion.matrix = [[1, 0], [0, 1]]",
        "[rater.mixed]\nscores = 'scores.csv'",
        "[rater.r]\nscores = 'scores.csv'\nlevels = 1",
        "[rater.r]\nscores = 'scores.csv'\nlevels = 5\nscale = '1..5'",
        "[rater.r]\nscores = 'scores.csv'\nscale = 5",
        "[rater.r]\nscores = 'scores.csv'\nscale = [1, 1]",
        "[rater.r]\nscores = 'scores.csv'\ncolumns = { socre = 'x' }",
        "[rater.r]\nbase = 'mixed'\ncolumns = { score = 'x' }",
        "[rater.r]\nbase = 'mixed'\nseconds_per_call = -1",
        "[rater.r]\nbase = 'mixed'\nseconds_per_call = 1\nparallel = 0",
        "[rater.r]\nbase = 'mixed'\nprice_per_call = 'cheap'",
        "zip = 3",
        "zip = []",
        "zip = [3]",
        "zip = [{}]",
        "zip = [{ vote = 1 }]",
        "zip = [{ votes = 0 }]",
        "zip = [{ votes = [1, 8] }]",
        "zip = [{ 'record.every' = 3 }]",
        "zip = [{ 'learn.steps' = [3, 4] }]",
    ]),
]

# what looks odd and is right
GOOD = [
    "[suite]\nname = 'a'\n[grid]\nestimator = ['dr-grpo', 'odrpo-uniform(maxrl)', 'odrpo_gini_median(grpo)']\n",
    "[grid]\nestimator = 'x.1'\nvotes = 3\n[suite]\nname = '0._-'\nseed = 9223372036854775807\n[estimator.'x.1']\nbase = 'maxrl'\n",
    "[suite]\nname = 'a'\n[grid]\nzip = [{ estimator = 'grpo', 'learn.lr' = 0.1 }, { estimator = 'maxrl', 'learn.lr' = 0.2 }]\n",
    *map(rest, [
        "votes = [1, 1024]\nrater = ['low20', 'mixed']",
        "[learn]\nlr = 1\nweight-decay = 0\nratio_clip = 0",
        "[learn]\noptimizer = ['adamw']\nweight_decay = [0, 0.1]",
        "[learn]\nkl = [0, 1e-3]\nschedule = ['cosine', 'constant']",
        "[learn]\nwhiten_eps = 1e-6\nwhiten-ddof = 1\ndead-groups = 'drop'",
        "[learn]\nepochs = [1, 4]\nratio_clip = 0.2",
        "[gate]\nquality = { row = 'grpo', at_least = 3 }",
        "[gate]\nstep_time = [{ axis = 'votes', row = 1, at_most = 1, at_least = 0.5, where = ['estimator=grpo'] }]\ngain = []",
        "[table]\nbest = []\nbaseline = ''\ncolumns = 'votes'",
        "[table]\nvalue = ['gain', 'quality-fall', 'largest_fall']\ncolumns = 'value'\nbaseline = 'grpo'\ncompare = 'percent'",
        "[table]\nvalue = ['gain']",
        "[table]\nbest = 'lr'\n[learn]\nlr = [0.1, 0.2]",
        "[estimator.grpo]\nbase = 'grpo'\neps = [0, 1e-6]",
        "[estimator.dr-grpo]",
        "[estimator.dr_grpo]\nbase = 'reinforce'",
        "[estimator.'odrpo-uniform(grpo)']\neps = 0.5",
        "[estimator.'odrpo_gini_median(grpo)']\nmedian = ['lower', 'running']\nrho = 0.9",
        "[estimator.x]\nbase = 'maxrl'\norigin = [0, 1]",
        "[estimator.x]\nbase = 'grpo'\ncompat = ['paper', 'verl']",
        "[env.bandit]\nmean = -1000\nhack-share = [0, 0.1]",
        "[env.small]\nbase = 'bandit'\nprompts = 64",
        "[policy.linear]",
        "[policy.mine]\nbase = 'tabular'",
        "[policy.mine]\nbase = 'linear'\ntilt = [0, 0.5, 1000]\n[learn]\nlr = 0",
        "[table]\nvalue = 'gradient_cosine'\n[record]\ngradient = 2",
        "[rater.veto]\nlow.p = [0.01, 0.02]",
        "[rater.mixed]\nworld_hack_share = 0.1\n[rater.mixed.low]\np = 0.1\ntarget = 'hack'",
        "[rater.r]\ngaussian.sigma = 1",
        "[rater.r]\nnoise = [{ model = 'gaussian' }, { model = 'low', p = 1 }, { model = 'low' }]\nworld-mean-sd = 1.5\nworld_hack-penalty = 2",
        "[rater.r]\nnoise = [{ model = 'confusion', matrix = [[1, 0], [0.25, 0.75]] }, { model = 'offset', sd = 1 }]",
        "[rater.r]\nbase = 'mixed'\naggregate = 'mean'\nsampling = 'draws'\nparse_failure = 0.1\nparse-policy = 'drop'",
        "[rater.r]\nbase = 'mixed'\ntie = ['median_low', 'nearest-mean', 'first']",
        "[rater.r]\nbase = 'hack'\noffset.sd = 0.5",
        "zip = [{ votes = 1, 'learn.steps' = 80 }, { votes = 8, learn.steps = 10 }]",
        "zip = [{ rater.mixed.low.p = 0.1, policy = 'linear' }, { 'rater.mixed.low.p' = 0.2, policy = 'tabular' }]",
        "[rater.r]\nbase = 'panel-essays'\nseconds = [1, 2, 3, 4]\nparallel = 4\nprices = [0, 0.5, 1, 2]",
        "[rater.mixed]\nseconds_per_call = [0.5, 2]\nparallel = 64\nprice-per-call = 0",
    ]),
]

# what only the program can see (docs/commands.md, list --schema); the reader of this list learns what an editor does not tell
BEYOND = {
    "a name that nothing has": rest("rater = 'nobody'"),
    "a word twice in two spellings": "[suite]\nname = 'a'\n[grid]\nestimator = ['rank-grpo', 'rank_grpo']\n",
    "a key twice in two spellings": rest("[learn]\nwhiten_eps = 0\nwhiten-eps = 0"),
    "2.0 for a whole number": rest("[learn]\nsteps = 2.0"),
    "nan": rest("[learn]\nlr = nan"),
    "a matrix that is not square": rest("[rater.r]\nnoise = [{ model = 'confusion', matrix = [[1, 0], [0, 0, 1]] }]"),
    "a row that does not sum to 1": rest("[rater.r]\nnoise = [{ model = 'confusion', matrix = [[1, 0], [0.5, 0.4]] }]"),
    "a model twice that may stand once": rest("[rater.r]\nnoise = [{ model = 'gaussian' }, { model = 'veto' }, { model = 'veto' }]"),
    "a key without effect": rest("[estimator.x]\nbase = 'grpo'\nmedian = 'upper'"),
    "a convention that the system lacks": rest("[estimator.x]\nbase = 'rank-grpo'\ncompat = 'maxrl-reference'"),
    "sections that do not fit each other": rest("[learn]\nbatch = 512"),
    "a value twice in two spellings": rest("[table]\ncolumns = 'value'\nvalue = ['quality-fall', 'quality_fall']"),
    "several values without their dimension": rest("[table]\nvalue = ['gain', 'regret']"),
    "a value that no world of the grid has": rest("[table]\nvalue = 'grounding'"),
    "a value that nothing records": rest("[table]\nvalue = 'gradient-cosine'"),
    "a key of another policy": rest("[policy.p]\nbase = 'transformer'\ntilt = 1"),
    "a world that has nothing to learn": rest("[rater.mixed]\nworld_spread = 0"),
    "a target that nothing is": rest("[rater.mixed.low]\ntarget = 'hack'"),
    "entries with different keys": rest("zip = [{ votes = 1 }, { votes = 2, 'learn.steps' = 3 }]"),
    "a zipped key that no section has": rest("zip = [{ 'learn.stesp' = 3 }]"),
    "a zipped key that stands in its section too": rest("zip = [{ 'learn.lr' = 0.1 }]\n[learn]\nlr = 0.2"),
    "a cost that no rater models": rest("[table]\nvalue = 'judge-cost'"),
    "neither estimators nor entries that have them": "[suite]\nname = 'a'\n[grid]\nzip = [{ votes = 1 }]\n",
    "a table of what the grid lacks": rest("[table]\nbest = ['lr']"),
}


# rules of keys: the schema and `list` say the same, and every rule names a key beside it that may have the values
rules = 0
listed = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
in_schema = {"learn": schema["properties"]["learn"], "table": schema["properties"]["table"], "raters": schema["definitions"]["rater"],
             "policies": schema["definitions"]["policy"], "estimators": schema["definitions"]["estimator"]}
for part, content in listed.items():
    for key in content["keys"]:
        where = f"{part}.{key['key']}"
        keys = in_schema.get(part, {"properties": {}})["properties"]
        rule = keys.get(key["key"], {}).get("x-only-if")
        if ("only_if" in key) != (rule is not None):
            fail(f"{where}: the schema's rule is {rule}, and `list` says {key.get('only_if')}")
        if rule is None:
            continue
        rules += 1
        if f"Has an effect only if {key['only_if']}." not in keys[key["key"]]["description"]:
            fail(f"{where}: `list` says: only if {key['only_if']}")
        for need in rule.get("all", []) + rule.get("any", []):
            if need["key"] in ("base", "env.base"):
                continue
            if need["key"] == "noise":  # the first model; models are keys of the section, too
                for word in need["is"]:
                    if word not in keys:
                        fail(f"{where}: there is no noise model {word}")
                continue
            other = jsonschema.Draft7Validator(keys.get(need["key"], False))
            for value in need.get("is", []):
                if not other.is_valid(value):
                    fail(f"{where}: `{need['key']}` cannot be {value}")
            if need["key"] not in keys:
                fail(f"{where} needs `{need['key']}`, and there is no such key beside it")
if rules < 25:
    fail(f"only {rules} rules")


def verdict_of(path):
    done = subprocess.run([program, "check", str(path)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        fail(f"check ended with {done.returncode}: {done.stderr}")
    return done.returncode == 0, done.stderr


def program_takes(toml):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "suite.toml"
        path.write_text(toml)
        return verdict_of(path)


def compare(toml, program_should, schema_should, what=""):
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        return fail(f"not even TOML ({error}):\n{toml}")
    takes, why = program_takes(toml)
    if takes != program_should:
        fail(f"{what}the program {'takes' if takes else 'refuses'}:\n{toml}{why}")
    errors = list(validator.iter_errors(data))
    if (not errors) != schema_should:
        fail(f"{what}the schema {'refuses' if errors else 'takes'}:\n{toml}" + "".join(f"  {e.message[:300]}\n" for e in errors))


suites = sorted(source.glob("suites/**/*.toml")) + sorted(source.glob("tests/config/*.toml"))
good = 0
for suite in suites:
    takes, why = verdict_of(suite)
    good += takes
    errors = list(validator.iter_errors(tomllib.loads(suite.read_text())))
    if takes and errors:
        fail(f"{suite.name}: {errors[0].message} at {list(errors[0].absolute_path)}")
    if not takes and not errors:  # one that wants a --set
        fail(f"{suite.name}: the program says {why}")
if good < 5:
    fail(f"only {good} shipped suites")

for case in BAD:
    compare(case, False, False)
for case in GOOD:
    compare(case, True, True)
for what, case in BEYOND.items():
    compare(case, False, True, what + ": ")

print(f"schema_test: {len(suites)} suites, {len(BAD)} refused by both, {len(GOOD)} taken by both, {len(BEYOND)} beyond a schema, "
      f"{rules} keys with a rule")
sys.exit(failed > 0)
