#!/usr/bin/env python3
"""Measures definitions and references of docent against language tools: one subcommand for each step.

    eval/symbols/run.py truth PROJECTS --cache CACHE --tools TOOLS …       make the truth of the projects
    eval/symbols/run.py score DOCENT PROJECTS --cache CACHE …              score `find_references` against it
    eval/symbols/run.py positions DOCENT PROJECTS --cache CACHE …          score `docent lsp` against it, by position
    eval/symbols/run.py judged DOCENT PROJECTS …                           score Rust and Java against a reader's verdicts
    eval/symbols/run.py peer CODEGRAPH PROJECTS --cache CACHE …            score codegraph against the same truth
    eval/symbols/run.py definitions DOCENT PROJECTS …                      compare `outline` with universal-ctags
    eval/symbols/run.py check-truth PROJECT SYMBOL --cache CACHE           print the truth of one symbol

`eval/symbols/run.py SUBCOMMAND --help` describes each.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import by_position  # noqa: E402
import check  # noqa: E402
import definitions  # noqa: E402
import judged  # noqa: E402
import peer  # noqa: E402
import score  # noqa: E402
import truth  # noqa: E402

STEPS = {"truth": truth, "score": score, "positions": by_position, "judged": judged, "peer": peer, "definitions": definitions, "check-truth": check}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    subcommands = parser.add_subparsers(dest="step", required=True)
    for name, step in STEPS.items():
        summary = step.__doc__.partition("\n")[0]
        subcommand = subcommands.add_parser(name, help=summary, description=step.__doc__, formatter_class=raw)
        step.add_arguments(subcommand)
    args = parser.parse_args()
    STEPS[args.step].run(args)


if __name__ == "__main__":
    main()
