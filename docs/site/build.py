#!/usr/bin/env python3
"""Builds a static HTML site of README.md and docs/** with mkdocs: `docs/site/build.py [FOLDER]` (default build/docs), or `./bootstrap.sh docs [FOLDER]`.

The navigation is the index of README.md, which becomes the first page. Links to files outside of docs lead to copies of their text; links to folders
lose the link. The site asks no other host for anything, and its search works from a web server and from the files alike."""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SECTIONS = ["Start", "Use", "Reference", "Developers"]
# code, which is left as it is, or a link: text, target
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?^ {0,3}\1[`~]*[ ]*$", re.S | re.M)
LINK = re.compile(r"(?P<code>(?P<ticks>`+)(?:(?!(?P=ticks))[^\n])+(?P=ticks)(?!\]))|(?P<bang>!?)\[(?P<text>(?:[^\]\[]|\[[^\]]*\])*)\]\((?P<target>[^()\s]+)\)")
ITEM = re.compile(r"( *)([*+-]|\d+\.) +")


def site_path(file):
    """Where a file of the tree lies on the site; none for folders and what does not exist."""
    if file == ROOT / "README.md":
        return pathlib.PurePosixPath("index.md")
    if not file.is_file():
        return None
    path = pathlib.PurePosixPath(file.relative_to(ROOT))
    if path.parts[0] == "docs" and path.suffix in (".md", ".svg", ".png"):
        return pathlib.PurePosixPath(*path.parts[1:])
    return pathlib.PurePosixPath("source", f"{path}.txt")  # browsers show .txt and download .toml


def slug(text, _=None):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def split(text):
    """A page as pieces (is it a fenced block?, text)."""
    end = 0
    for fence in FENCE.finditer(text):
        yield False, text[end:fence.start()]
        yield True, fence.group(0)
        end = fence.end()
    yield False, text[end:]


def relinked(prose, page, copied):
    """A page's prose with links that lead where the site has their targets; adds the files that they lead to."""
    def link(match):
        target = match["target"]
        if match["code"]:  # a | of a cell needs no \\ within code
            row = match.string[match.string.rfind("\n", 0, match.start()) + 1:].startswith("|")
            return match[0].replace("\\|", "|") if row else match[0]
        if target.startswith("#") or re.match(r"[a-z][a-z0-9+.-]*:", target):
            return match[0]
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve()
        path = site_path(file)
        text = LINK.sub(link, match["text"])
        if path is None:
            print(f"docs: {page.relative_to(ROOT)}: no page for {target}, its text stays", file=sys.stderr)
            return text
        copied.add(file)
        here = os.path.relpath(path, site_path(page).parent)
        return f"{match['bang']}[{text}]({here}{'#' if anchor else ''}{anchor})"
    return LINK.sub(link, prose)


def plain_lists(text):
    """A page with lists as Python's Markdown reads them: a blank line before the first item; what belongs to an item is indented by four for each
    level, and a fenced block in it is indented code."""
    lines, columns, before, fence = [], [], "", None  # columns: where the texts of the open items begin
    parts = False  # has the last item a second paragraph?
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        mark = re.match(r" *(`{3,}|~{3,})", line)
        if fence:
            within, opened, column = fence
            if mark and mark[1].startswith(opened):
                fence = None
                lines.append("" if within else line)
            else:
                lines.append("    " * (within + 1) + line[min(indent, column):] if within else line)
            continue
        item = ITEM.match(line)
        in_list = bool(columns)
        while columns and line.strip() and indent < columns[-1] and (item or not before.strip()):
            columns.pop()
        if mark and (indent < 4 or columns):
            fence = len(columns), mark[1], indent
            lines.append("" if columns else line)
        elif item and (indent < 4 or columns):
            if before.strip() and (parts or not in_list):
                lines.append("")
            parts = False
            lines.append("    " * len(columns) + line[indent:])
            columns.append(item.end())
        elif columns and line.strip():
            lines.append("    " * len(columns) + line[min(indent, columns[-1]):])
        else:
            lines.append(line)
            parts = parts or bool(columns)
        before = line
    return "\n".join(lines)


def staged(page, folder, copied):
    """Writes a page as the site has it."""
    out = folder / site_path(page)
    out.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(piece if code else relinked(piece, page, copied) for code, piece in split(page.read_text(encoding="utf-8")))
    out.write_text(plain_lists(text), encoding="utf-8")


def navigation(pages):
    """README's index: a part for each section, a part of it for each item in bold; then that of docs/lab. Each page stands where it is named first."""
    readme, seen = (ROOT / "README.md").read_text(encoding="utf-8"), set()

    def entries(text, folder=ROOT):
        found = []
        for link in LINK.finditer(text):
            file = link["target"] and (folder / link["target"].partition("#")[0]).resolve()
            if file in pages and file not in seen:
                seen.add(file)
                name = link["text"].replace("`", "")
                found.append({name[0].upper() + name[1:]: str(site_path(file))})
        return found

    nav = [{"Home": "index.md"}]
    for section in SECTIONS:
        body = re.search(rf"^## {section}$(.*?)(?=^## |\Z)", readme, re.S | re.M)[1]
        parts = re.split(r"^\* \*\*(.+?)\*\*: ", body, flags=re.M)
        inside = entries(parts[0])
        for title, text in zip(parts[1::2], parts[2::2]):
            inside += [{title: found}] if (found := entries(text)) else []
        nav.append({section: inside})
    notes = ROOT / "docs" / "lab" / "README.md"
    nav.append({"Laboratory": entries(notes.read_text(encoding="utf-8"), notes.parent)})
    rest = [{page.stem: str(site_path(page))} for page in pages if page not in seen and page.name != "README.md"]
    return nav + ([{"More": rest}] if rest else [])


def search_in_pages(site):
    """The index of the search as a script: pages opened as files may not fetch JSON or start workers."""
    folder = site / "search"
    index = json.loads((folder / "search_index.json").read_text(encoding="utf-8"))
    text = json.dumps(index["docs"], ensure_ascii=False, separators=(",", ":")).replace("\u2028", " ").replace("\u2029", " ")
    (folder / "search_index.js").write_text(f"var odrpoPages = {text};\n", encoding="utf-8")
    shutil.copyfile(HERE / "search.js", folder / "main.js")
    for name in ("search_index.json", "worker.js"):
        (folder / name).unlink()


def finished(site):
    """Mends what the theme leaves open: Debian's package lacks two scripts that it names; tables get a frame that scrolls."""
    for name in ("sitemap.xml", "sitemap.xml.gz", "404.html"):  # of a site whose host is known
        (site / name).unlink(missing_ok=True)
    scripts = sorted((site / "js").glob("jquery*.js"))
    for page in site.rglob("*.html"):
        text = re.sub(r"<!--\[if .*?<!\[endif\]-->", "", page.read_text(encoding="utf-8"), flags=re.S)
        for tag, name in re.findall(r'(<script src="[^"]*?(js/[^"/]+\.js)" defer></script>)', text):
            if not (site / name).exists() and name.startswith("js/jquery") and scripts:
                scripts[0].rename(site / name)
            elif not (site / name).exists():
                text = text.replace(tag, "")
        # a group of the menu leads to its first page; "#" is what the theme's script takes for the page that is open
        text = re.sub(r'(<a class="[^"]*" href=")#(">[^<]*</a>\s*<ul[^>]*>\s*<li[^>]*><a class="[^"]*" href=")([^"]*)', r"\1\3\2\3", text)
        text = text.replace("<table>", '<div class="wy-table-responsive"><table class="docutils">').replace("</table>", "</table></div>")
        page.write_text(text, encoding="utf-8")


def build(site):
    try:
        from mkdocs.commands.build import build as build_site
        from mkdocs.config.base import load_config
    except ImportError:
        sys.exit("docs: mkdocs is missing: apt-get install --no-install-recommends mkdocs")
    if site.exists() and any(site.iterdir()) and not (site / "search" / "main.js").exists():
        sys.exit(f"docs: {site} is not empty and no site of these pages; name another folder")
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    with tempfile.TemporaryDirectory() as folder:
        docs, config = pathlib.Path(folder, "docs"), pathlib.Path(folder, "mkdocs.yml")
        copied = set()
        for page in pages:
            staged(page, docs, copied)
        for file in copied - set(pages):
            out = docs / site_path(file)
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, out)
        shutil.copyfile(HERE / "style.css", docs / "style.css")
        config.write_text("site_name: odrpo-bench\n")
        with open(config, "rb") as opened:
            build_site(load_config(
                config_file=opened, docs_dir=str(docs), site_dir=str(site), nav=navigation(pages), use_directory_urls=False,
                site_description="Which advantage estimator should train on noisy ordinal scores?", extra_css=["style.css"],
                theme={"name": "readthedocs", "highlightjs": False, "navigation_depth": 3, "include_homepage_in_sidebar": False},
                markdown_extensions=["tables", "fenced_code", {"toc": {"slugify": slug}}, "sane_lists"], plugins=["search"]))
    search_in_pages(site)
    finished(site)


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit(len(sys.argv) > 2 and 2)
    site = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()
    build(site)
    print(site / "index.html")
