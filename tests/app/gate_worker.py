"""A worker with a made-up clock, for gate_test.py: its times are drawn, so that no test depends on the machine. argv[1] is JSON."""
import json, os, random, signal, subprocess, sys, time

how = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
cases = how.get("cases", ["a", "b", "c"])
does, when = how.get("does"), how.get("when", 20)  # what it does wrong, at which request for a case
random.seed(os.getpid() ^ time.time_ns())
asked = 0


def place():
    """The block of this life, from 0 (below it the gate lists and calibrates), and its place among the block's lives of the same command line, in
    the order in which they were started. how["lives"] = [a file that counts lives, how many come before the first block]."""
    file, before = how["lives"]
    parent = os.getppid()
    children = [int(pid) for pid in open(f"/proc/{parent}/task/{parent}/children").read().split()]
    alike = sorted(pid for pid in children if open(f"/proc/{pid}/cmdline").read() == open("/proc/self/cmdline").read())
    return (life - before) // len(alike), alike.index(os.getpid())


def life_factor():
    """"later": of two lives in a block, the one started later is slower by the block's factor. "wild": each life by one of its own."""
    block, rank = place()
    if block < 0:
        return 1
    if "later" in how:
        return how["later"][block % len(how["later"])] if rank == 1 else 1
    return random.Random(10 * block + rank).lognormvariate(0, how["wild"])


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
    answer = {"ns": 1000 * n * how.get("factor", {}).get(name, 1) * random.lognormvariate(0, how.get("noise", 0.002)), "checksum": f"{name} x {n}"}
    if "lives" in how:
        answer["ns"] *= life_factor()
    for _ in range(how.get("waste", 0) * n):
        bytearray(2000)
    if "random_waste" in how:
        spent = [bytearray(2000) for _ in range(random.randrange(how["random_waste"] * n))]
    if name in how.get("other", []):
        answer["checksum"] += " otherwise"
    if name in how.get("varies", []):
        answer["checksum"] = str(random.random())
    if name in how.get("refuses", []):
        answer = {"error": "not \x1b[31mtoday"}
    if asked == when or when == 0:
        if does == "dies":
            sys.stderr.write("out of patience\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGSEGV)
        elif does == "hangs":
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
        elif does == "leaves a child":
            subprocess.Popen(["sleep", how["mark"]], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        elif does == "leaves a child that holds its pipes":
            subprocess.Popen(["sleep", how["mark"]], start_new_session=True)
        elif does == "is slow to end":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            put(json.dumps(answer))
            time.sleep(1000)
    put(json.dumps(answer))
