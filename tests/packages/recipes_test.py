#!/usr/bin/env python3
"""Checks that pages, citation and changelog name the version that CMakeLists.txt says, and that every YAML of the pages and examples can be read.
Usage: recipes_test.py. Exit 77 without a reader of YAML (Debian: python3-yaml), after the rest."""
import pathlib, re, sys

root = pathlib.Path(__file__).resolve().parents[2]


def read(name):
    return (root / name).read_text(encoding="utf-8")


def other_versions(version, texts):
    """Each place where {name: text} names a package of another version: "FILE: NAME"."""
    return [f"{name}: {found}" for name, text in texts.items() for found, named in re.findall(r"((?:odrpo-bench|libodrpo-dev)[-_](\d+\.\d+\.\d+))", text) if named != version]


def blocks(text):
    """The YAML blocks of a page."""
    return re.findall(r"^```ya?ml\n(.*?)^```$", text, re.M | re.S)


def main():
    wrong = []
    version = re.search(r"project\(odrpo-bench VERSION ([0-9.]+)", read("CMakeLists.txt")).group(1)
    planted = {"a.md": "odrpo-bench-9.0.1-linux-x86_64.tar.gz", "b.md": f"odrpo-bench_{version}_amd64.deb"}
    assert other_versions(version, planted) == ["a.md: odrpo-bench-9.0.1"], other_versions(version, planted)
    pages = {str(page.relative_to(root)): page.read_text(encoding="utf-8") for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]}
    wrong += other_versions(version, pages)
    cited = dict(re.findall(r"^([a-z-]+): *(.*)$", read("CITATION.cff"), re.M))
    newest = re.search(r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.M).groups()
    if (cited.get("version"), cited.get("date-released")) != newest or newest[0] != version:
        wrong.append(f"CMakeLists.txt says {version}, CITATION.cff {cited.get('version')} of {cited.get('date-released')}, CHANGELOG.md {newest}")

    try:
        import yaml
    except ImportError:
        print("\n".join(wrong) or "versions agree; no reader of YAML here")
        return 1 if wrong else 77
    recipes = [(name, block) for name, text in pages.items() for block in blocks(text)]
    recipes += [(str(file.relative_to(root)), file.read_text(encoding="utf-8")) for file in [*root.glob("examples/**/*.yaml"), root / "CITATION.cff"]]
    for name, text in recipes:
        try:
            parsed = list(yaml.safe_load_all(text))
            if not all(isinstance(document, dict) for document in parsed):
                wrong.append(f"{name}: no mapping: {parsed}")
        except yaml.YAMLError as error:
            wrong.append(f"{name}: {error}")
    # what GitHub asks of a workflow ("on" is true in YAML 1.1)
    jobs = [document["jobs"] for name, text in recipes if name == "docs/gate.md" for document in yaml.safe_load_all(text) if "jobs" in document]
    if not jobs:
        wrong.append("docs/gate.md has no recipe for GitHub")
    for job in (job for several in jobs for job in several.values()):
        if "runs-on" not in job or not all(("uses" in step) != ("run" in step) for step in job["steps"]):
            wrong.append(f"docs/gate.md: no job of GitHub: {job}")
    print("\n".join(wrong) or f"versions agree; {len(recipes)} recipes can be read")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
