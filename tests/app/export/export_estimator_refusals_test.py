#!/usr/bin/env python3
# `export-estimator`: missing scores, tensors, what its Python functions and its command line refuse, files that are in the way.
# Usage: export_estimator_refusals_test.py PROGRAM posterior_estimator.py
import json, math, os, subprocess, sys

import checks
from checks import check
from exported import computed, explained, export, fit_judge, loaded, near, np, refuses, trainer

fit_judge()

# --- missing, equal and single scores
posterior = loaded(export("mixed", "--prior", "fixed"))
nan = math.nan
check(np.isnan(posterior.values([[nan] * 8])).all(), "nobody has a score")
check(posterior.values(np.zeros((0, 8))).shape == (0, 8), "an empty batch")
got = posterior.trl([7, 7, 7, 7, 3, nan, nan, nan, nan, nan, nan, nan], 4)
check((got == 0).all(), f"equal, single and missing scores: {got}")
got = posterior.trl([3, 9, nan, 7], 4)
check(got[2] == 0 and not np.isnan(got).any(), "a missing score has advantage 0")
near(got[[0, 1, 3]], posterior.trl([3, 9, 7], 3), "and is not there for the others")
_, by_system = explained("mixed", "posterior(grpo)", [3, 9, 7], "--compat", "trl")
near(got[[0, 1, 3]], by_system["trl"], "three of four scores")


# --- tensors, as torch has them, without torch
class Tensor:
    def __init__(self, array, dtype, device="cuda:0"):
        self.array, self.dtype, self.device = np.asarray(array, dtype), dtype, device

    def is_floating_point(self):
        return self.array.dtype.kind == "f"

    def float(self):
        return Tensor(self.array, np.float32, self.device)

    def double(self):
        return Tensor(self.array, np.float64, self.device)

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array, self.dtype, "cpu")

    def numpy(self):
        assert self.device == "cpu"
        return self.array

    def tolist(self):
        return self.array.tolist()

    def new_tensor(self, array):
        return Tensor(array, self.dtype, self.device)


groups = [[3, 7, 7, 9, 1, 8, 8, 7], [5, 5, 6, 2, 9, 5, 4, 5]]
for dtype, out in ((np.float32, np.float32), (np.float16, np.float16), (np.int64, np.float32)):
    got = posterior.values(Tensor(groups, dtype))
    check(got.dtype == out and got.device == "cuda:0", f"values of tensors of {dtype}")
    near(got.array, posterior.values(groups), f"values of tensors of {dtype}", 0.005)
got, _ = posterior.verl(Tensor(np.reshape(groups, (16, 1)), np.float32), Tensor(np.ones((16, 1)), np.int64), Tensor([i // 8 for i in range(16)], np.int64))
near(got.array[:, 0], posterior.trl(np.ravel(groups), 8), "verl of tensors", 0.001)
check("torch" not in sys.modules, "the module imports no torch")
try:
    import torch
    values = posterior.values(torch.tensor(groups, dtype=torch.bfloat16))
    check(values.dtype == torch.bfloat16, "values of torch")
    near(posterior.trl(torch.tensor(groups).float().ravel(), 8).numpy(), posterior.trl(np.ravel(groups), 8), "TRL of torch", 1e-5)
except ImportError:
    pass


# --- what the functions refuse
refuses("11.0 is none of the judge's whole scores 1..10", lambda: posterior.values([[3, 11]]))
refuses("0.0 is none of", lambda: posterior.values([[3, 0]]))
refuses("7.5 is none of", lambda: posterior.values([[3, 7.5]]))
refuses("inf is none of", lambda: posterior.values([[3, math.inf]]))
refuses("are [groups, members]", lambda: posterior.values([3, 4]))
refuses("are no groups of 4", lambda: posterior.trl([1, 2, 3], 4))
refuses("are no groups of 0", lambda: posterior.trl([1, 2, 3], 0))
refuses("4 scores, but 3 members", lambda: posterior.verl(np.ones((4, 1)), np.ones((4, 1)), [0, 0, 1]))
refuses("verl and TRL have no rank-grpo", lambda: loaded(export("mixed", "--estimator", "posterior(rank-grpo)")).trl([1, 2], 2))
refuses("no path is given", trainer.Posterior)
refuses("another estimator", lambda: posterior.restore(loaded(export("mixed")).state()))
open("other.json", "w").write('{"format": "another", "format_version": 1}')
refuses("is no posterior estimator of format 2", lambda: trainer.Posterior("other.json"))

# --- an exported module alone, elsewhere
os.mkdir("alone")
checks.call("export-estimator", "low20", "-o", "alone/posterior_low20.py", "--prior", "fixed")
ran = subprocess.run([sys.executable, "-c", "import posterior_low20 as p; print(p.Posterior().values([[1, 7, 8, 8, 7, 8, 9, 7]]).tolist())"],
                     capture_output=True, text=True, cwd="alone")
near(json.loads(ran.stdout or "[]"), computed("low20", "fixed", [[1, 7, 8, 8, 7, 8, 9, 7]]), f"a module alone {ran.stderr}")

# --- files in the way: its own and empty ones are replaced, others with --force alone
for form in ("json", "py"):
    own = export("mixed", form=form)
    checks.call("export-estimator", "veto", "-o", own)
    check(str(loaded(own).tables["rater"]) == "veto", f"{form}: its own file is replaced")
    open(f"foreign.{form}", "w").write("# mine\n" * 500)
    checks.call("export-estimator", "veto", "-o", f"foreign.{form}", code=5, words="export-estimator did not write it")
    check(open(f"foreign.{form}").read() == "# mine\n" * 500, "it stays")
    checks.call("export-estimator", "veto", "-o", f"foreign.{form}", "--force")
    check(str(loaded(f"foreign.{form}").tables["rater"]) == "veto", "--force replaces it")
    open(f"mention.{form}", "w").write("import numpy\n" * 10 + "# of the odrpo-bench posterior estimator")
    checks.call("export-estimator", "veto", "-o", f"mention.{form}", code=5, words="export-estimator did not write it")
    open(f"empty.{form}", "w").close()
    checks.call("export-estimator", "veto", "-o", f"empty.{form}")

# --- command lines that cannot be; more are on pages/export-estimator-refusals.txt
TO = ("-o", "x.json")
open("text.toml", "w").write("[rater.reader]\ngaussian = { sigma = 1 }\nlength_bias = 0.1\n")
os.mkdir("folder.json")
os.mkfifo("pipe.json")
for code, words, arguments in (
    (5, "it is a directory", ("mixed", "-o", "folder.json")),
    (5, "it is not a regular file", ("mixed", "-o", "pipe.json")),
    (2, "this judge has 5 levels", ("judge.toml", *TO, "--levels", "10")),
    (2, "of rater resample.toml are no normal world", ("resample.toml", *TO, "--prior", "moments")),
    (2, "looks at the text of responses", ("text.toml", *TO)),
    (2, 'aggregate = "fraction", which keeps the votes of a response apart', ("fraction.toml", *TO, "--votes", "3")),
):
    checks.call("export-estimator", *arguments, code=code, words=words)
check(not os.path.exists("x.json"), "a refused command writes nothing")
if os.getuid() != 0:
    os.mkdir("locked", 0o555)
    checks.call("export-estimator", "mixed", "-o", "locked/x.json", code=5, words="cannot write")
checks.call("export-estimator", "fraction.toml", "-o", "one-vote.json")  # the score of one call
checks.finish()
