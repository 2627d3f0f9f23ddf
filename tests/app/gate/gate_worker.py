"""Answers a gate with times that are made up, 1000 ns a unit, so that no verdict depends on the machine. argv[1] is JSON.

A gate starts dozens of them: modules that few need are imported where they are needed."""
import json, os, sys

how = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
cases = how.get("cases", ["a", "b", "c"])
does, when = how.get("does"), how.get("when", 20)  # what it does wrong, at which request for a case
asked = 0
# answers with an error: "refuses" to these cases; "refuses_later" from life how["lives"][1] on; "refuses_above" to b with more units than that


def command_line(pid):
    try:
        return open(f"/proc/{pid}/cmdline").read()
    except OSError:
        return ""  # it has ended meanwhile


def life_factor():
    """Of the block's lives of this command line, the one that was started last is slower by the block's factor in how["later"]. how["lives"] =
    [a file that counts lives, how many come before the first block: the gate lists and calibrates]."""
    before = how["lives"][1]
    if life < before:
        return 1
    parent = os.getppid()
    children = [int(pid) for pid in open(f"/proc/{parent}/task/{parent}/children").read().split()]  # in the order of their starts
    alike = [pid for pid in children if command_line(pid) == command_line("self")]
    return how["later"][(life - before) // len(alike) % len(how["later"])] if alike[-1] == os.getpid() else 1


if "lives" in how:
    with open(how["lives"][0], "a") as lives:
        lives.write(".")
        lives.flush()
        life = lives.tell() - 1


def put(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


odd_times = {"no time": 0, "tiny time": 1e-310, "endless time": 1e300}
if does == "dies when preloaded" and "LD_PRELOAD" in os.environ:
    sys.exit(4)
if does == "dies at once":
    sys.stderr.write("cannot load \x1b[31mmodel\nsecond line\n")
    sys.exit(3)
for line in sys.stdin:
    request = json.loads(line)
    if request.get("list"):
        put(json.dumps({"cases": cases}) if does != "bad list" else '{"cases": [1]}')
        continue
    asked += 1
    name, n = request["case"], request["repeat"]
    answer = {"ns": 1000 * n * how.get("factor", {}).get(name, 1), "checksum": f"{name} x {n}"}
    if "later" in how:
        answer["ns"] *= life_factor()
    for _ in range(how.get("waste", 0) * n):
        bytearray(2000)
    if "waste_varies" in how:
        spent = [bytearray(2000) for _ in range(asked * asked % 7 * how["waste_varies"] * n)]
    if name in how.get("other", []):
        answer["checksum"] += " otherwise"
    if name in how.get("varies", []):
        answer["checksum"] = f"{os.getpid()} {asked}"
    later = "lives" in how and life >= how["lives"][1]
    if name in how.get("refuses", []) or (later and name in how.get("refuses_later", [])) or (name == "b" and n > how.get("refuses_above", n)):
        answer = {"error": "not \x1b[31mtoday"}
    if asked == when or when == 0:
        if does == "dies":
            sys.stderr.write("out of patience\n")
            sys.stderr.flush()
            import signal
            os.kill(os.getpid(), signal.SIGSEGV)
        elif does == "hangs":
            import time
            time.sleep(1000)
        elif does == "garbage":
            put("Traceback \x1b[31m(most recent call last)")
            continue
        elif does == "floods stderr":
            while True:
                sys.stderr.write("no " * 20000)
        elif does == "nested error":
            put('{"error": ' + "[" * 200_000 + "]" * 200_000 + "}")
            continue
        elif does == "wrong case":
            answer["case"] = "another"
        elif does == "long line":
            put("x" * (3 << 20))
            continue
        elif does == "endless line":
            while True:
                sys.stdout.write("x" * 65536)
        elif does == "two answers":
            put(json.dumps(answer))
        elif does in odd_times:
            answer["ns"] = odd_times[does]
        elif does == "text as time":
            answer["ns"] = "fast"
        elif does == "infinite time":
            put('{"ns": 1e999}')
            continue
        elif does in ("leaves a child", "leaves a child that holds its pipes"):
            import subprocess
            pipes = {} if "pipes" in does else dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            subprocess.Popen(["sleep", how["mark"]], start_new_session=True, **pipes)
        elif does == "is slow to end":
            import signal, time
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            put(json.dumps(answer))
            time.sleep(1000)
    put(json.dumps(answer))
