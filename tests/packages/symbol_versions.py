#!/usr/bin/env python3
"""Checks that programs start on the oldest system that packages are for: which shared libraries they need, and which versions of their symbols.
Usage: symbol_versions.py [FILE...]. Prints the newest version of each kind. Without files only the check itself is tried, on planted files."""
import os, re, subprocess, sys, tempfile

# what Ubuntu 22.04 has, and with it every later system: glibc 2.35, libstdc++ and libgcc_s of g++ 12
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
LIBRARIES = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def told_by(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def needs(file):
    """The shared libraries that a file needs, and {kind: newest version} of the symbols that it takes from them."""
    libraries = re.findall(r"^\s*NEEDED\s+(\S+)", told_by("objdump", "-p", file), re.M)
    newest = {}
    for line in told_by("objdump", "-T", file).splitlines():
        if "*UND*" in line:
            for kind, version in re.findall(r"\(?\b([A-Z]+)_([0-9.]+)\)?", line):
                newest[kind] = max(newest.get(kind, ()), tuple(map(int, version.split("."))))
    return libraries, newest


def dotted(version):
    return ".".join(map(str, version))


def wrong(file):
    """What keeps a file from starting there."""
    libraries, newest = needs(file)
    for library in libraries:
        if library not in LIBRARIES:
            yield f"{file} needs {library}"
    for kind, version in newest.items():
        if kind not in NEWEST:
            yield f"{file} needs {kind}_{dotted(version)}, of no known library"
        elif version > NEWEST[kind]:
            yield f"{file} needs {kind}_{dotted(version)}; {dotted(NEWEST[kind])} is the newest that older systems have"


def check_checker():
    """Planted symbols and libraries are found, and nothing else. A library under a known name has the versions that are newer."""
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        def built(output, source, *words):
            with open(path("source.c"), "w") as file:
                file.write(source)
            subprocess.run(["gcc", "-o", path(output), path("source.c"), *words], check=True)
            return path(output)

        with open(path("versions"), "w") as file:
            file.write("GLIBC_2.35 { global: old; };\nGLIBC_2.36 { global: newer; } GLIBC_2.35;\nGLIBC_2.4 { global: older; };\nGLIBCXX_3.4.31 { global: newest; };\nZLIB_1.2 { global: packed; };\n")
        library = built("lib.so", "void old(void){}\nvoid newer(void){}\nvoid older(void){}\nvoid newest(void){}\nvoid packed(void){}\n", "-shared", "-fPIC",
                        "-Wl,-soname,libm.so.6", f"-Wl,--version-script={path('versions')}")
        other = built("other.so", "void elsewhere(void){}\n", "-shared", "-fPIC", "-Wl,-soname,libelsewhere.so.1")

        def said(*functions):
            declared = "".join(f"void {name}(void);\n" for name in functions)
            program = built("program", declared + "int main(void){" + "".join(f"{name}();" for name in functions) + "}\n", "-nostartfiles", "-Wl,-e,main", "-Wl,--as-needed", library, other)
            return [line.replace(program, "it") for line in wrong(program)]

        for functions, expected in (
                (("old", "older"), []),
                (("newer", "old"), ["it needs GLIBC_2.36; 2.35 is the newest that older systems have"]),
                (("newest",), ["it needs GLIBCXX_3.4.31; 3.4.30 is the newest that older systems have"]),
                (("packed",), ["it needs ZLIB_1.2, of no known library"]),
                (("elsewhere", "old"), ["it needs libelsewhere.so.1"])):
            assert said(*functions) == expected, (functions, said(*functions))


def main():
    check_checker()
    found = {}
    for file in sys.argv[1:]:
        for kind, version in needs(file)[1].items():
            found[kind] = max(found.get(kind, ()), version)
    broken = [line for file in sys.argv[1:] for line in wrong(file)]
    print("\n".join(broken + ["newest symbols: " + ", ".join(f"{kind}_{dotted(version)}" for kind, version in sorted(found.items()))] * bool(found)) or "planted symbols are found")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
