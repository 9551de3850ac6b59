"""Prints the truth of one symbol: its definitions, its uses, and the other places with its name."""

import os

import truth


def add_arguments(parser):
    parser.add_argument("project", help="the folder of the project")
    parser.add_argument("symbol", help="its name, or PATH:LINE of its definition")
    parser.add_argument("--cache", required=True, help="the folder with the truths")


def run(args):
    root = os.path.realpath(args.project)
    known = truth.load(args.cache, os.path.basename(root))
    shown = 0
    for symbol in known["symbols"]:
        if args.symbol not in (symbol["name"], f"{symbol['path']}:{symbol['line']}"):
            continue
        shown += 1
        print(f"{symbol['kind']} {symbol['name']}")
        for path, line, column in symbol["definitions"]:
            print(f"  definition {path}:{line}:{column}  {source_line(root, path, line)}")
        for path, line, column, role in symbol["uses"]:
            print(f"  {role:10} {path}:{line}:{column}  {source_line(root, path, line)}")
        for path, line, column in symbol["neutral"]:
            print(f"  neutral    {path}:{line}:{column}  {source_line(root, path, line)}")
        for path, line, column, key in symbol["others"]:
            print(f"  other      {path}:{line}:{column}  {source_line(root, path, line)}  -> {key}")
    if not shown:
        print(f"{args.symbol} is not in the sample of {known['project']}")


def source_line(root, path, line):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return file.read().split("\n")[line - 1].strip()[:160]
