#!/usr/bin/env python3
"""Builds the site of the docs (docs/site/build.py) and checks its HTML: every link and anchor leads somewhere, nothing is asked of another host, each
page has the headings, list items, tables, code blocks and figures of its source. Where Chromium is, pages are opened as files: no request leaves the
folder, no console message, nothing is wider than a narrow window, and the search finds a page. Usage: docs_site.py [FOLDER FOR SCREENSHOTS]"""
import base64
import html.parser
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

from browser import Browser, browser
from docs_links import prose

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "docs" / "site" / "build.py"
LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("form", "action"), ("object", "data"), ("embed", "src"),
         ("video", "src"), ("audio", "src"), ("use", "href"), ("image", "href"), ("img", "srcset"), ("body", "background")}
ELSEWHERE = re.compile(r"([a-z][a-z0-9+.-]*:)?//|(?!data:)[a-z][a-z0-9+.-]*:", re.I)


class Page(html.parser.HTMLParser):
    """What a page links to (text), what it loads, its anchors, and counts of what stands in its article."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors, self.counts, self.inside = [], [], set(), {}, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        for key, value in attributes:
            if (tag, key) in LOADS:
                self.loads.append(value)
            elif tag in ("a", "area") and key == "href":
                self.links.append(value)
            elif key == "style":
                self.loads += css_loads(value or "")
        if found.get("itemprop") == "articleBody":
            self.inside = 1
        elif self.inside and tag == "div":
            self.inside += 1
        elif self.inside:
            self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        if self.inside and tag == "div":
            self.inside -= 1


def css_loads(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [m[1] or m[2] for m in re.finditer(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)""", text)]


def broken(site):
    """Every link that leads nowhere, and everything that a page would ask another host for."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    links = loads = 0
    for file, page in pages.items():
        place = file.relative_to(site)
        if file.name == "404.html":  # its links begin at the host's root
            page.links, page.loads = [], [load for load in page.loads if re.match("([a-z]+:)?//[^/]*[.]", load or "")]
        for target in page.loads + page.links:
            if target in page.links and ELSEWHERE.match(target or ""):
                continue  # a reader follows it, no page asks for it
            if ELSEWHERE.match(target or ""):
                yield f"{place}: asks another host: {target}"
                continue
            links += 1
            name, _, anchor = (target or "").partition("#")
            there = (file.parent / urllib.parse.unquote(name.partition("?")[0])).resolve() if name else file
            if not there.is_file() or site not in there.parents:
                yield f"{place}: no such file: {target}"
            elif anchor and there in pages and urllib.parse.unquote(anchor) not in pages[there].anchors:
                yield f"{place}: no such anchor: {target}"
    for file in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = file.read_text(encoding="utf-8")
        for target in css_loads(text) + (re.findall(r"""(?:href|src)\s*=\s*["']([^"'#][^"']*)""", text) if file.suffix == ".svg" else []):
            loads += 1
            if ELSEWHERE.match(target):
                yield f"{file.relative_to(site)}: asks another host: {target}"
            elif file.suffix == ".css" and not target.startswith("data:") and not (file.parent / re.sub(r"[?#].*", "", target)).is_file():
                yield f"{file.relative_to(site)}: no such file: {target}"
    # scripts have no address of another host but in comments and names of namespaces
    for file in [*site.rglob("*.js"), *site.rglob("*.html")]:
        text = file.read_text(encoding="utf-8")
        scripts = [text] if file.suffix == ".js" else re.findall(r"<script\b[^>]*>(.*?)</script>", text, re.S)
        for script in scripts if file.name != "search_index.js" else []:
            bare = re.sub(r"/\*.*?\*/", "", script, flags=re.S)
            bare = re.sub(r"^\s*//.*$", "", bare, flags=re.M)
            for address in re.findall(r"""["'`](?:https?:)?//[\w-]+\.[^"'`]*""", bare):
                if not re.match(r"""["'`]https?://(www\.w3\.org/|mkdocs\.org)""", address):
                    yield f"{file.relative_to(site)}: a script names another host: {address}"
    print(f"{len(pages)} pages, {links} links, {loads} files that styles and figures name")


def differences(site):
    """Pages whose HTML has other numbers of elements than their source: a list that became a paragraph, a table that became text."""
    for source in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        path = pathlib.Path("index.html") if source.parent == ROOT else source.relative_to(ROOT / "docs").with_suffix(".html")
        path = path.with_name("index.html") if source.name == "README.md" else path
        page = Page((site / path).read_text(encoding="utf-8"))
        lines = [line for _, line in prose(source)]
        text = source.read_text(encoding="utf-8")
        fences = len(re.findall(r"^ {0,3}`{3,}[^`\n]*\n.*?^ {0,3}`{3,} *$", text, re.S | re.M))
        indented = sum(1 for above, line in zip([""] + text.split("\n"), re.sub(r"^ {0,3}(`{3,}).*?^ {0,3}\1 *$", lambda m: re.sub(r"[^\n]", "x", m[0]), text, flags=re.S | re.M).split("\n"))
                       if line.startswith("    ") and line.strip() and not above.strip())
        expected = {
            "headings": sum(bool(re.match(r"#{1,6} ", line)) for line in lines),
            "li": sum(bool(re.match(r" {0,3}(?:[*+-]|\d+\.) ", line)) for line in lines),
            "table": sum(bool(re.match(r" {0,3}\|?[ :]*-{3,}[ :|-]*$", line)) and "|" in line for line in lines),
            "img": len(re.findall(r"!\[(?:[^\]\[]|\[[^\]]*\])*\]\([^()\s]+\)", "\n".join(lines))),
            "fences": fences,
        }
        got = {name: page.counts.get(name, 0) for name in ("li", "table", "img")}
        got["headings"] = sum(page.counts.get(f"h{level}", 0) for level in range(1, 7))
        got["fences"] = page.counts.get("pre", 0) if not indented else expected["fences"] if page.counts.get("pre", 0) >= fences + 1 else -1
        if re.search(r"<code>[^<]*\\\|", (site / path).read_text(encoding="utf-8")):
            yield f"{source.relative_to(ROOT)}: a cell shows \\|"
        for name, count in expected.items():
            if got[name] != count:
                yield f"{source.relative_to(ROOT)}: {count} {name} became {got[name]}"


def looked_at(site, shots):
    """What Chromium finds in the pages, opened as files, and in the search."""
    b = Browser(site.parent)
    b.page("Page", "Runtime", "Log", "Network")
    seen = 0

    def opened(path, asked=""):
        b.open(f"{path}{asked}")
        for event in b.events:
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith((site.as_uri() + "/", "data:")):
                    yield f"{path.relative_to(site)}: a request for {url}"
            elif event.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                yield f"{path.relative_to(site)}: a message: {event['params']}"

    def sized(width):
        b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)

    for path in sorted(site.rglob("*.html")):
        sized(400)
        yield from opened(path)
        seen += 1
        wide = b.value("document.documentElement.scrollWidth")
        if wide > 400:
            yield f"{path.relative_to(site)}: {wide} wide in a window of 400"
        broken_images = b.value("[...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)")
        if broken_images:
            yield f"{path.relative_to(site)}: figures that do not load: {broken_images}"
        for width in (400, 1280) if shots else ():
            sized(width)
            png = b.call("Page.captureScreenshot", captureBeyondViewport=width == 1280 and b.value("document.documentElement.scrollHeight") < 8000)["data"]
            (shots / f"{'-'.join(path.relative_to(site).with_suffix('').parts)}-{width}.png").write_bytes(base64.b64decode(png))
    # found: all words, the last not complete; nothing; signs that mean something to lunr
    for query, wanted in (("kendall hist", "reference/commands.html#judge-analyze"), ("exit codes", "reference/commands.html#exit-codes"), ("zzzzqx", None), ("odrpo-gini(grpo):*", "export-estimator.html")):
        yield from opened(site / "search.html", "?q=" + urllib.parse.quote(query))
        found = b.value("new Promise(done => { const look = (n) => { const box = document.getElementById('mkdocs-search-results');"
                        " if (box.textContent.trim() || !n) done([...box.querySelectorAll('a')].map(a => a.href)); else setTimeout(look, 100, n - 1); }; look(100); })")
        places = [urllib.parse.unquote(url[len(site.as_uri()) + 1:]) for url in found or []]
        if not (wanted in places[:10] or any(place.startswith(f"{wanted}#") for place in places[:10]) if wanted else not places):
            yield f"search for {query}: {places[:10]}, expected {wanted}"
    b.close()
    print(f"{seen} pages and the search in {browser}")


def check_checker():
    """Planted mistakes are found."""
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder).resolve()
        (site / "a.html").write_text('<a href="b.html">x</a><a href="#no">x</a><a id="yes" href="#yes">x</a><script src="//cdn.example.org/x.js"></script>'
                                     '<a href="https://example.org/">x</a><script>import("https://example.org/x.js")</script><p style="background:url(http://e.org/i)">')
        (site / "a.css").write_text("@import 'https://fonts.example.org/c'; /* url(https://example.org/comment) */ a { background: url(gone.png) }")
        found = sorted(broken(site))
    assert found == ["a.css: asks another host: https://fonts.example.org/c", "a.css: no such file: gone.png",
                     'a.html: a script names another host: "https://example.org/x.js', "a.html: asks another host: //cdn.example.org/x.js",
                     "a.html: asks another host: http://e.org/i", "a.html: no such anchor: #no", "a.html: no such file: b.html"], "\n".join(found)


def main():
    shots = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    check_checker()
    if subprocess.run([sys.executable, "-c", "import mkdocs"], capture_output=True).returncode:
        print("skipped: mkdocs is missing")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder).resolve() / "site"
        ran = subprocess.run([sys.executable, BUILD, site], capture_output=True, text=True)
        wrong = [f"build.py: exit {ran.returncode}: {ran.stderr}"] if ran.returncode else []
        if not wrong:
            wrong = [*broken(site), *differences(site)]
            wrong += [line for line in ran.stderr.splitlines() if "WARNING" in line]
            # a second call replaces the site; another folder that is not empty is left alone
            again = subprocess.run([sys.executable, BUILD, site], capture_output=True, text=True)
            other = subprocess.run([sys.executable, BUILD, ROOT / "docs"], capture_output=True, text=True)
            wrong += ["a second call fails: " + again.stderr] * bool(again.returncode) + ["a folder of other files is taken for a site"] * (other.returncode == 0)
            wrong += looked_at(site, shots) if browser else []
            size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file())
            print(f"{size / 1e6:.1f} MB")
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
