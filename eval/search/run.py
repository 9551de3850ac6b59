#!/usr/bin/env python3
"""Measures how well `context_search` finds code: one subcommand for each set of questions.

    eval/search/run.py benchmark DOCENT BENCHMARK TREES …     808 labelled questions of an outside benchmark
    eval/search/run.py tune BENCHMARK TREES …                 choose ranking weights on some projects, report them on the others
    eval/search/run.py commits DOCENT WORK REPOSITORY… …      from a commit's subject to the files it changed
    eval/search/run.py sessions DOCENT BENCHMARK TREES …      five questions in a row against each by itself
    eval/search/run.py sentences DOCENT WORK REPOSITORY… …    from a sentence of documentation to its function

`eval/search/run.py SUBCOMMAND --help` describes each.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import benchmark  # noqa: E402
import commits  # noqa: E402
import sentences  # noqa: E402
import sessions  # noqa: E402
import tune  # noqa: E402

EVALUATIONS = {"benchmark": benchmark, "tune": tune, "commits": commits, "sentences": sentences, "sessions": sessions}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    subcommands = parser.add_subparsers(dest="evaluation", required=True)
    for name, evaluation in EVALUATIONS.items():
        summary = evaluation.__doc__.partition("\n")[0]
        subcommand = subcommands.add_parser(name, help=summary, description=evaluation.__doc__, formatter_class=raw)
        evaluation.add_arguments(subcommand)
    args = parser.parse_args()
    EVALUATIONS[args.evaluation].run(args)


if __name__ == "__main__":
    main()
