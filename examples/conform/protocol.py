"""Speaks the protocol of odrpo-bench for the adapters beside this file: a line of JSON in, a line out. docs/own-estimator.md describes it."""
import importlib.abc, importlib.machinery, importlib.metadata, json, os, sys, types

replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what a library prints goes to stderr


class Batch:
    """The responses of a request that have a score, one after another: lists of the same length."""

    def __init__(self, request):
        self.rows, self.levels = request["scores"], request["levels"]
        self.places = [(p, j) for p, row in enumerate(self.rows) for j, score in enumerate(row) if score is not None]
        self.group = [p for p, _ in self.places]  # the same number for responses of one group
        self.prompts = [request["prompts"][p] for p in self.group]
        self.scores = [float(self.rows[p][j]) for p, j in self.places]
        self.lengths = [request["lengths"][p][j] if "lengths" in request else 1 for p, j in self.places]  # tokens

    def reached(self, level):
        """1[score >= level]."""
        return [float(score >= level) for score in self.scores]

    def groups(self):
        """Places in the lists, by group."""
        return [[i for i, g in enumerate(self.group) if g == p] for p in sorted(set(self.group))]

    def answer(self, advantages):
        """Advantages in the shape of the request, null for a missing score."""
        rows = [[None] * len(row) for row in self.rows]
        for (p, j), a in zip(self.places, advantages, strict=True):
            rows[p][j] = float(a)
        return rows


def serve(advantages, **about):
    """Answers until stdin ends. advantages: Batch to one number per response. about: name, version, source; the result file keeps them."""
    print(about, file=sys.stderr, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request["id"]}
        try:
            if "protocol" in request:
                reply.update(about)
            elif "scores" in request:
                batch = Batch(request)
                reply["advantages"] = batch.answer(advantages(batch) if batch.scores else [])
        except Exception as error:
            reply["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(reply), file=replies, flush=True)


def estimator(names):
    """The argument of the command line, one of names."""
    if len(sys.argv) != 2 or sys.argv[1] not in names:
        sys.exit(f"usage: python3 {os.path.basename(sys.argv[0])} {'|'.join(names)}")
    return sys.argv[1]


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a package"


class StandIn:
    def __init__(self, *arguments, **keywords):
        pass

    def __call__(self, *arguments, **keywords):
        return arguments[0] if arguments else None


class StandInModule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (StandIn,), {})


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, packages):
        self.packages = packages

    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in self.packages else None

    def create_module(self, spec):
        return StandInModule(spec.name)

    def exec_module(self, module):
        pass


def stand_in_for(*packages):
    """Lets packages that are not installed be imported, as empty ones: for a file whose other parts need them, on GPUs for example."""
    sys.meta_path.append(StandIns(packages))
