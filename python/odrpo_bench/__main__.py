# Starts the packaged program with the arguments of this one.
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "odrpo-bench")
    os.execv(program, ["odrpo-bench", *sys.argv[1:]])


if __name__ == "__main__":
    main()
