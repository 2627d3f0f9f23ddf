# The JSON Schema of suite files judges as the program does. Usage: schema_test.py PATH/TO/odrpo-bench SOURCE_FOLDER
import collections
import json
import pathlib
import re
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

# whether the program and the schema should take a case of pages/schema.txt
VERDICTS = {"refused by both": (False, False), "taken by both": (True, True), "beyond a schema": (False, True)}
HEAD = '[suite]\nname = "a"\n[grid]\nestimator = "grpo"\n'

# rules of keys: the schema and `list` say the same, and every rule names a key beside it that may have the values
rules = 0
listed = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True, text=True).stdout)
in_schema = {"envs": schema["definitions"]["env"], "learn": schema["properties"]["learn"], "table": schema["properties"]["table"], "raters": schema["definitions"]["rater"],
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
            if need["key"] in ("base", "env.base", "med"):  # med: what the base or a formula reads
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

page = (source / "tests/config/pages/schema.txt").read_text()
found = collections.Counter()
for case in re.split(r"(?m)^=== ", page)[1:]:
    kind, toml = case.split("\n", 1)
    program_should, schema_should = VERDICTS[kind.split(":")[0]]
    compare(toml if re.search(r"\[(suite|grid)\]", toml) else HEAD + toml, program_should, schema_should, kind + ": ")
    found[kind.split(":")[0]] += 1

print(f"schema_test: {len(suites)} suites, {', '.join(f'{n} {kind}' for kind, n in found.items())}, {rules} keys with a rule")
sys.exit(failed > 0)
