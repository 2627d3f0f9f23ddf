#!/usr/bin/env python3
"""Checks README.md and docs/**: every relative link leads to a file of the tree, every anchor to a heading of it. Usage: docs_links.py [ROOT]"""
import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]+)\)")
HEADING = re.compile(r"#{1,6} +(.*?) *#*$")
CODE = re.compile(r"(`+)(?:(?!\1)[^\n])+\1")


def prose(path):
    """Lines of a page outside of fenced and indented code, with their numbers."""
    fence = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                fence = None
        elif mark:
            fence = mark.group(1)
        elif not line.startswith("    "):
            yield number, line


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them: small letters, blanks as hyphens, a number behind repeated ones."""
    seen = {}
    for _, line in prose(path):
        heading = HEADING.match(line)
        if not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        yield f"{anchor}-{count}" if count else anchor


def broken(root):
    """Every broken link as "FILE:LINE: what is wrong"."""
    known = {}
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        lines = list(prose(page))
        text = CODE.sub(lambda m: m.group(0) if "](" not in m.group(0) else "", "\n".join(line for _, line in lines))
        for link in LINK.finditer(text):  # its text may go over a line's end
            target = link.group(1)
            number = lines[text.count("\n", 0, link.start())][0]
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue  # another site
            name, _, anchor = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            place = f"{page.relative_to(root)}:{number}"
            if not file.exists() or root not in [file, *file.parents]:
                yield f"{place}: no such file: {target}"
            elif anchor and file.suffix == ".md":
                if file not in known:
                    known[file] = set(anchors(file))
                if anchor not in known[file]:
                    yield f"{place}: no such heading: {target}"


def check_checker():
    """Planted mistakes are found, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        (root / "docs").mkdir()
        (root / "docs" / "a.md").write_text("# One two\n## `three`: [x](b.md)\n## One two\n")
        (root / "README.md").write_text(
            "[good](docs/a.md#three-x) [good](docs/a.md#one-two-1) [good](https://example.org/x)\n```\n[code](c.md)\n```\n"
            "[bad](docs/c.md) and `code` [bad](docs/a.md#four)\n[over two\nlines](#one) `[code](d.md)`\n")
        found = list(broken(root))
    assert found == ["README.md:5: no such file: docs/c.md", "README.md:5: no such heading: docs/a.md#four",
                     "README.md:6: no such heading: #one", "docs/a.md:2: no such file: b.md"], found


def main():
    check_checker()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]).resolve()
    wrong = list(broken(root))
    print("\n".join(wrong) if wrong else "docs: every link leads somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
