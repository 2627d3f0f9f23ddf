#!/usr/bin/env python3
"""Writes the fuzz targets' seed corpora to FOLDER/TARGET/, from the tests' own tables, the shipped suites and the examples of the docs."""
import hashlib
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LITERAL = re.compile(r'R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"', re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def unescape(text):
    """The bytes of a C++ string literal."""
    def one(m):
        word = m.group(1)
        if word[0] == "x":
            return bytes([int(word[1:], 16) & 255])
        if word[0] in "uU":
            return chr(int(word[1:], 16)).encode("utf-8", "surrogatepass")
        if word[0] in "01234567":
            return bytes([int(word, 8) & 255])
        return ESCAPES.get(word, word).encode()
    parts = re.split(r"(\\(?:x[0-9a-fA-F]+|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.))", text, flags=re.S)
    return b"".join(one(re.match(r"\\(.*)", p, re.S)) if p.startswith("\\") else p.encode() for p in parts)


def literals(path):
    """String literals of a C++ file; those that only white space separates are one."""
    text = re.sub(r"^\s*//.*$", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.M)
    joined, end = b"", None
    for m in LITERAL.finditer(text):
        piece = m.group(2).encode() if m.group(2) is not None else unescape(m.group(3) or "")
        if end is not None and not text[end:m.start()].strip():
            joined += piece
        else:
            if end is not None:
                yield joined
            joined = piece
        end = m.end()
    if end is not None:
        yield joined


def quoted_words(path):
    """What a shell script has in quotes, and its here-documents."""
    text = (ROOT / path).read_text(encoding="utf-8")
    for m in re.finditer(r"'([^'\n]+)'|\"([^\"\n]+)\"", text):
        yield (m.group(1) or m.group(2)).encode()
    for m in re.finditer(r"<<-?'?(\w+)'?[^\n]*\n(.*?)\n\1\n", text, re.S):
        yield m.group(2).encode() + b"\n"


def fences(language):
    for page in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]:
        for m in re.finditer(r"```" + language + r"\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            yield m.group(1).encode()


def all_of(pattern):
    return [literal for path in sorted(ROOT.glob(pattern)) for literal in literals(path.relative_to(ROOT))]


def page_inputs(page):
    """The inputs of a page of cases (tests/page.hpp)."""
    for case in re.split(r"(?m)^=== .*\n", (ROOT / page).read_text(encoding="utf-8"))[1:]:
        yield case.split("---\n")[0].encode()


def score_files():
    """The files of scores and of rollouts on pages, as bytes, without the flags before them."""
    for text in [*page_inputs("tests/results/pages/score-files.txt"), *page_inputs("tests/results/pages/rollouts.txt")]:
        yield unescape(re.sub(r"^(@.*\n)*", "", text.decode()).replace("\\\n", ""))


SMALL = b'[suite]\nname = "small"\n[grid]\nestimator = ["grpo", "maxrl"]\n'


def suites():
    for pattern in ("suites/**/*.toml", "tests/config/*.toml", "examples/**/*.toml"):
        yield from (path.read_bytes() for path in sorted(ROOT.glob(pattern)))
    yield from fences("toml")
    for text in all_of("tests/config/*_test.cpp") + all_of("tests/train/**/*_test.cpp"):
        if b"\n" in text:
            yield text if text.startswith(b"[suite]") else SMALL + text
    for page in sorted((ROOT / "tests/config/pages").glob("*.txt")):
        for text in page_inputs(page.relative_to(ROOT)):
            yield text if text.startswith((b"[suite]", b"[grid]")) else SMALL + text
    yield SMALL + b'rater = "j"\n[rater.j]\nscores = "judge.csv"\n'
    for script in ("cli", "bad_input"):
        yield from (w for w in quoted_words(f"tests/app/{script}_test.sh") if w.startswith(b"[suite]"))


def sets():
    texts = all_of("tests/config/*_test.cpp") + all_of("tests/train/**/*_test.cpp") + [w for s in ("cli", "bad_input") for w in quoted_words(f"tests/app/{s}_test.sh")]
    texts += [text[:-1] for text in page_inputs("tests/config/pages/set.txt")]
    texts += [line for page in sorted((ROOT / "tests/config/pages").glob("*.txt")) for text in page_inputs(page.relative_to(ROOT)) for line in text.split(b"\n")]
    for text in texts:
        if b"=" in text and b"\n" not in text and len(text) < 4096:
            yield text
            # a line of a suite as an override of [learn], and of the rater that the target's suite has
            if re.match(rb"[\w.]+ = ", text):
                yield b"learn." + text
                yield b"rater.r." + text
        elif b"*" in text and len(text) < 100:
            yield b"@" + text


def scores():
    yield (ROOT / "tests/config/judge.csv").read_bytes()
    header = b"prompt_id,response_id,sample_id,score\n"
    for text in literals("tests/results/scores/score_file_test.cpp"):
        yield text
        if re.match(rb"-?\d+,", text):
            yield header + text
    yield from score_files()
    for text in literals("tests/config/learned_judge_test.cpp"):
        if b"," in text:
            yield text
            yield header + text
    yield header + b"".join(b"%d,%d,%d,%d\n" % (p, r, s, 1 + (p + r + (s == 2)) % 5) for p in range(6) for r in range(4) for s in range(3))
    for path in sorted((ROOT / "tests/app/judge/formats").rglob("*.json*")) + sorted((ROOT / "tests/app/judge/formats").rglob("*.eval")):
        yield path.read_bytes()[:20000]
    yield from (b'{"results": {"results": [{"vars": {"q": "x"}, "response": {"output": "y"}, "score": 0.5}]}, "evalId": "e"}',
                b'{"question_id": 81, "turn": 1, "model": "a", "judge": ["g", "v"], "score": -1}\n', b'{"task": {"key": "t"}, "traces": [{"id": 1, "rewards": {"j": {"score": 1}}}]}\n',
                b'{"example_id": 1, "rollout_number": 0, "reward": 0.5}\n', b'{"content": "ab", "rewards": 1, "idx": 0}\n{"content": "ac", "rewards": 2, "idx": 1}\n',
                b'{"spec": {"eval_name": "q"}}\n{"run_id": "r", "event_id": 1, "sample_id": "s", "data": {"correct": true}}\n',
                b'prompt_id,response_id,s1,s2\n0,0,1,2\n', b'prompt_id,response_id,score\n0,0,"[1, 2, null]"\n', b"sep=;\nprompt_id;response_id;score\n0;0;1,5\n")


def compute():
    for case in json.loads((ROOT / "tests/golden/golden_public.json").read_text())["cases"]:
        yield json.dumps({"id": case["id"], "fn": case["fn"], "args": case["args"]}).encode()
    for path in ("tests/app/compute/line_test.cpp", "tests/app/compute/stream_test.cpp"):
        yield from (t for t in literals(path) if t.startswith(b"{"))
    for page in fences(r"\w*"):
        yield from (line for line in page.split(b"\n") if line.startswith(b'{"'))


def stored():
    """The counts that CI compares with, a smaller file with times, and that one without each of its members, or with a member of another type."""
    text = (ROOT / "tests/app/gate/counts.json").read_bytes()
    yield text
    small = json.loads(text)
    del small["cases"][1:], small["conditions"][1:]
    yield json.dumps(small).encode()
    small["sessions"], small["cases"][0]["ns"] = ["2026-11-24T03:00:00Z"], [[1.5, 2.5]]
    yield json.dumps(small).encode()
    for key in small:
        yield json.dumps({k: v for k, v in small.items() if k != key}).encode()
        yield json.dumps({**small, key: 1e300}).encode()


def judge_json():
    yield from literals("tests/envs/toy_lm/json_test.cpp")
    yield from (t.replace(b"...", b"x") for t in literals("envs/toy_lm/judge_json.hpp") if b"{" in t)
    yield from (b'{"score": %d}' % s for s in range(1, 11))


def hdf5():
    """Programs of one edit: every kind, over objects and choices, as tests/fuzz/edits.cpp decodes them."""
    for kind in range(16):
        for item in range(0, 64, 4):
            yield bytes([kind, item, 1, 1, item, 3, 5, item, 1, 7, 1, 2])
    for item in range(0, 64, 2):  # every type, shape, layout and attribute
        yield bytes([0, item, 1, item % 24, 0, 0, 0])
        yield bytes([0, item % 8, 0, item % 16, 3, 3, 0, 0])
        yield bytes([0, 5, 0, 0, 5 + item % 3, item, item % 4, item, item, 0, 0, 0])
        yield bytes([6, item, 3, item, item % 8, 3, item, 3, item])
        yield bytes([3, item % 32, 1, 0, 0, 3, item, 2, item])
        yield bytes([15, item, 1, 3, item])


TARGETS = {"suite": suites, "set": sets, "scores": scores, "compute": compute, "judge_json": judge_json, "stored": stored, "hdf5": hdf5}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_corpus.py FOLDER")
    for target, seeds in TARGETS.items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        files = {hashlib.sha1(seed).hexdigest(): seed for seed in seeds() if seed}
        for name, seed in files.items():
            (folder / name).write_bytes(seed)
        print(f"{target}: {len(files)} seeds")
        if len(files) < 20:
            sys.exit(f"{target}: too few seeds: has a table of the tests moved?")


main()
