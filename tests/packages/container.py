#!/usr/bin/env python3
"""Runs the steps of a Containerfile in copies of a minimal Debian, and then its entrypoint without a network.
Usage: container.py CONTAINERFILE CONTEXT DEBIAN WORK DIGEST. CONTEXT is a git tree, whose last commit COPY takes; DEBIAN the root that every
`FROM debian:12` begins with; WORK a folder to work in; DIGEST what the entrypoint must print for the quickstart suite. As root."""
import glob, json, os, pathlib, shutil, subprocess, sys

file, context, debian, work, digest = sys.argv[1:]
os.makedirs(work, exist_ok=True)


def instructions(text):
    """(line, word, arguments) of each instruction, without comments, continued lines joined."""
    joined, number = "", 0
    for n, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not (joined or line.strip()):
            continue
        number = number if joined else n
        joined += line.removesuffix("\\")
        if not line.endswith("\\"):
            word, _, rest = joined.strip().partition(" ")
            yield number, word, rest.strip()
            joined = ""


class Stage:
    def __init__(self, name):
        self.root = os.path.join(work, name)
        self.folder, self.user, self.entrypoint = "/", "root", []
        subprocess.run(["cp", "-a", debian, self.root], check=True)
        shutil.copy("/etc/resolv.conf", os.path.join(self.root, "etc", "resolv.conf"))

    def within(self, words, *flags):
        """Runs a command there as its user, in its folder."""
        shell = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', self.folder, *words]
        if self.user != "root":
            shell = ["/sbin/runuser", "-u", self.user, "--", *shell]
        return subprocess.run(["unshare", *flags, "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc", "chroot", self.root, "/usr/bin/env", "-i", "LANG=C.UTF-8",
                               "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", *shell], capture_output=True, text=True)


def copy(stage, stages, words):
    """COPY [--from=STAGE] SOURCE... TARGET"""
    *sources, target = [word for word in words if not word.startswith("--")]
    origin = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
    if origin:
        here = stages[origin[0]].root
    else:
        here = os.path.join(work, "context")
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", pathlib.Path(context).as_uri(), here], check=True)
    target = os.path.join(stage.root, os.path.join(stage.folder, target).lstrip("/"))
    os.makedirs(target, exist_ok=True)
    for source in sources:
        found = glob.glob(os.path.join(here, source.lstrip("/")))
        if not found:
            raise SystemExit(f"COPY: nothing is {source}")
        for path in found:
            if os.path.isdir(path):
                shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True)
            else:
                shutil.copy(path, target)


stages, stage = {}, None
for number, word, rest in instructions(open(file, encoding="utf-8").read()):
    if word == "FROM":
        image, *name = rest.split(" AS ")
        if image not in ("debian:12", "debian:12-slim"):
            raise SystemExit(f"line {number}: no root for {image}")
        name = name[0] if name else str(len(stages))
        stage = stages[name] = Stage(name)
    elif word == "RUN":
        done = stage.within(["/bin/sh", "-c", rest])
        if done.returncode != 0:
            raise SystemExit(f"line {number}: exit {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    elif word == "COPY":
        copy(stage, stages, rest.split())
    elif word == "WORKDIR":
        stage.folder = os.path.join(stage.folder, rest)
        os.makedirs(os.path.join(stage.root, rest.lstrip("/")), exist_ok=True)
    elif word == "USER":
        stage.user = rest
    elif word == "ENTRYPOINT":
        stage.entrypoint = json.loads(rest)
    else:
        raise SystemExit(f"line {number}: {word} is not known here")

if stage.user == "root" or not stage.entrypoint:
    raise SystemExit("the image would run as root, or nothing")
done = stage.within([*stage.entrypoint, "run", "quickstart"], "--net")
if done.returncode != 0 or f"digest {digest}" not in done.stdout:
    raise SystemExit(f"the entrypoint: exit {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
mib = int(subprocess.run(["du", "-sm", stage.root], check=True, capture_output=True, text=True).stdout.split()[0])
print(f"    image: {mib} MiB; {done.stdout.splitlines()[0]}")
