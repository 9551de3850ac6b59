#!/usr/bin/env python3
"""How much an agent reads with docent: `run.py tasks|screen|walk|locate|reads|sizes …`; see README.md."""

import argparse
import importlib


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="measure", required=True)
    for name in ("tasks", "screen", "walk", "locate", "reads", "sizes"):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name == name:
                continue
            raise
        command = commands.add_parser(name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
