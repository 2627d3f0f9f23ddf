#!/usr/bin/env python3
# Pages of `report` without a browser: well-formed, within their policy, no address of anybody, every text escaped, and their commands
# repeat the results. Usage: report_test.py PROGRAM SAMPLE_PROGRAM SUITES
import base64, hashlib, html, os, re, shutil, subprocess
from html.parser import HTMLParser

from checks import call, check, digest, finish, paths, program

sample, suites = paths[:2]
VOID = {"meta", "link", "br", "img", "hr", "input"}
KNOWN = {"html", "head", "title", "style", "body", "header", "h1", "h2", "h3", "p", "nav", "ul", "li", "a", "main", "section", "pre", "code",
         "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "em", "span", "details", "summary", "script",
         "figure", "figcaption", "strong", "meta", "link"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.text = open(path, encoding="utf-8", newline="").read()
        self.open, self.tags, self.problems, self.data, self.meta = [], [], [], {}, {}
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag, attributes):
        names = [n for n, _ in attributes]
        if tag not in KNOWN and "svg" not in self.open and tag != "svg":
            self.problems.append(f"element {tag}")
        self.problems += [f"{tag} has {n}" for n in names if n == "style" or n.startswith("on") or n == "src"]
        if len(set(names)) != len(names):
            self.problems.append(f"{tag} has an attribute twice")
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else, line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open:
            self.data.setdefault(self.open[-1], []).append(data)

    def handle_comment(self, data):
        self.problems.append(f"a comment {data[:20]!r}")

    def attribute(self, tag, name):
        return [a[name] for t, a in self.tags if t == tag and name in a]


def whole(path, name):
    """What every page must be."""
    page = Page(path)
    check(not page.problems and not page.open, f"{name}: {page.problems[:5]}, open {page.open}")
    check(len(page.text.encode()) < 2_000_000, f"{name}: {len(page.text)} bytes")
    check(page.text.startswith("<!DOCTYPE html>\n"), f"{name}: doctype")
    policy = [a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    check(len(policy) == 1 and policy[0].startswith("default-src 'none'; ") and "unsafe" not in policy[0], f"{name}: policy {policy}")
    for tag in ("script", "style"):
        texts = page.data.get(tag, [])
        check(len(page.attribute(tag, "src")) == 0 and sum(t == tag for t, _ in page.tags) == 1, f"{name}: one {tag}")
        digest = base64.b64encode(hashlib.sha256("".join(texts).encode()).digest()).decode()
        check(f"{tag}-src 'sha256-{digest}'" in policy[0], f"{name}: the policy has another hash of its {tag}")
    addresses = [f"{t} {n}" for t, a in page.tags for n, v in a.items() if re.search(r"//|https?:|javascript:", v or "") and
                 n not in ("xmlns", "xmlns:xlink", "aria-label")]
    check(not addresses, f"{name}: addresses in {addresses}")
    style = "".join(page.data["style"])
    check("url(" not in style and "@import" not in style and "@font-face" not in style, f"{name}: the style loads something")
    links = page.attribute("link", "href") + page.attribute("a", "href")
    ids = [a["id"] for _, a in page.tags if "id" in a]
    check(all(l == "data:," or (l[0] == "#" and l[1:] in ids) for l in links), f"{name}: links {links}")
    check(len(set(ids)) == len(ids), f"{name}: ids {ids}")
    check(all(a.get("scope") in ("col", "row", "colgroup") for t, a in page.tags if t == "th"), f"{name}: th has no scope")
    # every row of a table has as many cells as its header has numbered columns
    for table in re.findall(r"<table>.*?</table>", page.text, re.S):
        columns = sorted(int(c) for c in re.findall(r'data-column="(\d+)"', table))
        body = table.split("<tbody>")[1]
        rows = [len(re.findall(r"<t[hd]", row)) for row in body.split("</tr>")[:-1]]
        check(columns == list(range(len(columns))) and set(rows) == {len(columns)}, f"{name}: columns {columns}, cells {set(rows)}")
    return page


# --- the sample
subprocess.run([sample, "sample.h5"], check=True, stdout=subprocess.DEVNULL)
call("report", "sample.h5", words="wrote sample.html")
page = whole("sample.html", "sample")
check(sorted(os.listdir(".")) == ["sample.h5", "sample.html"], f"files: {os.listdir('.')}")
check("1 of them failed" in page.text and "made to fail" in page.text, "the failed run and its reason")
check(page.data["h2"] == ["Result", "Tables", "More figures" if shutil.which("gnuplot") else "Figures", "Raters and formulas", "Failed runs", "Suite", "Reproduce"], f"sections {page.data['h2']}")
titles = ["gain [%]: differences from the baseline.", "gain [%] by votes.", "Learning curves."]
if shutil.which("gnuplot"):
    check(page.data["strong"] == titles and page.text.count("<svg ") == 3, f"figures {page.data.get('strong')}")
    names = "".join(page.data["text"])
    check("odrpo-gini(maxrl)" in names and "votes" in names, "the figures' texts")
os.mkdir("none")
done = subprocess.run([program, "report", "sample.h5", "-o", "no-gnuplot.html"], capture_output=True, text=True, env={"PATH": os.path.realpath("none")})
check(done.returncode == 0 and "gnuplot is not there" in done.stderr, f"without gnuplot: {done}")
bare = whole("no-gnuplot.html", "without gnuplot")
check("<svg" not in bare.text and bare.text.count("gnuplot is not there") == 1, "a page without gnuplot says so")
check(digest("sample.h5") in page.text, "the digest")
# the page's cells are those of `table`
printed = call("table", "sample.h5", "--format", "md", "--legend", "none")
cells = [html.unescape(re.sub(r"<[^>]+>", "", c)).replace("*", "").strip() for c in re.findall(r"<td[^>]*>(.*?)</td>", page.text)]
lines = [l for l in printed.split("\n") if l.startswith("| maxrl") or l.startswith("| odrpo")]
check(cells == [c.strip().replace("\\*", "").strip() for l in lines for c in l.strip("| ").split(" | ")[1:]], "cells as `table` prints them")

# --- what replaces what
call("report", "sample.h5")
open("sample.html", "w").write("my own page")
call("report", "sample.h5", code=5, words="'sample.html' is not a page of odrpo-bench, and stays")
check(open("sample.html").read() == "my own page", "somebody's page stays")
call("report", "sample.h5", "-o", "sample.html")
call("report", "sample.h5", "-o", "sample.h5", code=5, words="it is the input itself")
call("report", "missing.h5", code=5, words="missing.h5")
call("report", "sample.h5", "--value", "gan", code=2, words='did you mean "gain"')
call("report", "sample.h5", "--value", "gain,", code=2, words="--value: a word is missing")
check(call("report", "sample.h5", "--value", "gain,regret", "--value", "auc-quality") == "", "stdout is empty")
several = whole("sample.html", "several values")
check(several.data["h3"][:3] == ["gain [%]", "regret [levels]", "auc_quality"], f"a table for each value: {several.data['h3']}")
call("report", "sample.h5", "--value", "gain,regret", "--columns", "value", "-o", "both.html")
check(whole("both.html", "columns are values").text.count('class="span"') > 0, "columns are values")
for flags in (("--baseline", "none"), ("--compare", "percent"), ("--rows", "votes", "--columns", "estimator", "--baseline", "1"),
              ("--best", "learn.lr", "--tune-seeds", "1")):
    call("report", "sample.h5", *flags, "-o", "flags.html")
    whole("flags.html", " ".join(flags))

# --- texts of a hostile file
subprocess.run([sample, "hostile.h5", "texts"], check=True, stdout=subprocess.DEVNULL)
call("report", "hostile.h5")
page = whole("hostile.html", "hostile")
for evil in ("<img", "</script><script>", "\x1b", "\u202e", "\u2028"):
    check(evil not in page.text, f"{evil!r} in the page")
check("&lt;/script&gt;&lt;script&gt;alert(1)" in page.text and "=HYPERLINK(&quot;http://evil&quot;)&amp;amp;&#39;" in page.text, "escaped")
check("W" * 64 in page.text and "\\u202e" in page.text and "\\x1b[31m" in page.text, "long words and controls are shown")
commands = html.unescape(re.search(r'<section id="reproduce".*?<pre><code>(.*?)</code>', page.text, re.S)[1])
check("odrpo-bench run suite.toml --set 'x='\\''</script><script>alert(1)</script>'\\''' --only '*/s1' -o suite-again.h5" in commands,
      f"quoted for a shell: {commands}")

# --- the commands of a page repeat its results
os.mkdir("bin")
os.symlink(program, "bin/odrpo-bench")
call("run", os.path.join(suites, "smoke.toml"), "--set", "suite.seeds=1", "--set=learn.steps=20", "--only", "*/maxrl/*", "--only=*/grpo/*", "-q",
     "-j", "1", "-o", "it's mine.h5")
call("report", "it's mine.h5")
page = whole("it's mine.html", "smoke")
commands = html.unescape(re.search(r'<section id="reproduce".*?<pre><code>(.*?)</code>', page.text, re.S)[1])
done = subprocess.run(["bash", "-ec", commands], capture_output=True, text=True, env={**os.environ, "PATH": os.path.realpath("bin") + ":" + os.environ["PATH"]})
check(done.returncode == 0 and "equal" in done.stdout, f"{commands}: {done}")
suite = open(os.path.join(suites, "smoke.toml")).read()
shown = html.unescape(re.search(r"<summary>The suite, as run read it</summary>\n<pre><code>(.*?)</code>", page.text, re.S)[1])
check(shown == suite, "the suite verbatim")

# --- two steps are no learning curve, five are one
for steps, drawn in ((3, False), (4, True)):
    call("run", os.path.join(suites, "smoke.toml"), "--set", "suite.seeds=1", "--set", f"learn.steps={steps}", "--set", "record.every=1",
         "--only", "*small/mixed/linear*n1*", "-q", "-j", "1", "-o", f"short{steps}.h5")
    said = "" if drawn else f"Learning curves: not drawn: a run has {steps + 1} recorded steps, and a curve needs 5"
    if shutil.which("gnuplot"):
        call("report", f"short{steps}.h5", words=said)
        page = whole(f"short{steps}.html", f"{steps} steps")
        check(("Learning curves." in page.data["strong"]) == drawn and said in page.text, f"learning curves of {steps + 1} points")

# --- every run failed: no number, but a page
call("run", os.path.join(suites, "smoke.toml"), "--set", "suite.seeds=1", "--set", 'learn.optimizer="adamw"', "--set", "learn.weight_decay=1",
     "--set", "learn.lr=1000000", "--set", "learn.schedule=constant", "-q", "-o", "diverged.h5", code=7)
call("report", "diverged.h5")
check("No run has brought a number." in whole("diverged.html", "all failed").text, "a page without tables")

finish()
