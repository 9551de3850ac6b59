"""Tables of a replay, from its rows."""

import collections
import json


CLIENT_LIMIT = 30_000  # Characters of an output that Claude Code gives to its model.


def read_rows(work):
    """The rows, with outputs as long as a client shows them."""
    with open(work / "rows.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        for name in ("raw", "docent", "rtk", "pair"):
            if name in row and row["kind"] != "tool read":
                row[name] = min(row[name], CLIENT_LIMIT)
    return rows


def ratio(part, whole):
    return f"{part / whole:.2f}" if whole else "–"


def table(head, rows):
    print("\n| " + " | ".join(head) + " |\n|---|" + "--:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(f"{one:,}" if isinstance(one, int) else str(one) for one in row) + " |")


def programs(rows):
    by = collections.defaultdict(list)
    for row in rows:
        if row["kind"] in ("search", "list", "git"):
            by[row["program"]].append(row)
            by[f"all of {row['kind']}"].append(row)
    lines = []
    for program, mine in sorted(by.items(), key=lambda one: -len(one[1])):
        through = [row for row in mine if "docent" in row]
        rival = [row for row in mine if "rtk" in row]
        hooked = [row for row in mine if "rtk_hooked_wrong" in row]
        lines.append(
            [
                program,
                len(mine),
                len(through),
                sum(row["raw"] for row in mine),
                sum(row.get("docent", row["raw"]) for row in mine),
                ratio(sum(row.get("docent", row["raw"]) for row in mine), sum(row["raw"] for row in mine)),
                ratio(sum(row["docent"] for row in through), sum(row["raw"] for row in through)),
                sum(bool(row.get("deviation")) for row in through),
                f"{len(rival):,}",
                ratio(sum(row["rtk"] for row in rival), sum(row["raw"] for row in rival)),
                f"{sum(bool(row['rtk_wrong']) for row in rival):,}",
                f"{sum(bool(row['rtk_hooked_wrong']) for row in hooked):,} of {len(hooked):,}",
            ]
        )
    table(["program", "commands", "rewritten", "characters", "through docent", "ratio", "of the rewritten", "deviations", "rtk, own form", "rtk ratio", "rtk wrong", "rtk wrong as hooked"], lines)


def sizes(rows):
    lines = []
    for name, chosen in (
        ("searches up to 1,000", [row for row in rows if row["kind"] == "search" and row["raw"] <= 1000]),
        ("searches over 1,000", [row for row in rows if row["kind"] == "search" and row["raw"] > 1000]),
        ("lists over 1,000", [row for row in rows if row["kind"] == "list" and row["raw"] > 1000]),
        ("git diff and git show", [row for row in rows if row.get("program") in ("git diff", "git show")]),
        ("git diff and git show up to 4,000", [row for row in rows if row.get("program") in ("git diff", "git show") and row["raw"] <= 4000]),
        ("git diff and git show over 4,000", [row for row in rows if row.get("program") in ("git diff", "git show") and row["raw"] > 4000]),
    ):
        through = [row for row in chosen if "docent" in row]
        rival = [row for row in chosen if "rtk" in row]
        right = [row for row in rival if not row["rtk_wrong"]]
        lines.append(
            [
                name,
                len(chosen),
                len(through),
                ratio(sum(row.get("docent", row["raw"]) for row in chosen), sum(row["raw"] for row in chosen)),
                ratio(sum(row["docent"] for row in through), sum(row["raw"] for row in through)),
                f"{ratio(sum(row['rtk'] for row in rival), sum(row['raw'] for row in rival))} of {len(rival):,}",
                f"{ratio(sum(row['rtk'] for row in right), sum(row['raw'] for row in right))} of {len(right):,}",
            ]
        )
    table(["", "commands", "rewritten", "ratio", "of the rewritten", "rtk", "rtk, right answers"], lines)


def pairs(rows):
    mine = [row for row in rows if "pair" in row]
    lines = []
    for name, chosen in (("all", mine), ("rewritten", [row for row in mine if "docent" in row])):
        before = sum(row["raw"] + row["pair"] for row in chosen)
        answer = sum(row.get("docent", row["raw"]) for row in chosen)
        is_whole = lambda row: row["held"] == "whole" and "docent" in row
        is_range = lambda row: row["held"] == "range" and "docent" in row
        strict = answer + sum(0 if is_whole(row) else row["pair"] for row in chosen)
        part = answer + sum(0 if is_whole(row) else min(row["part"], row["pair"]) if is_range(row) else row["pair"] for row in chosen)
        states = collections.Counter(row["held"] for row in chosen)
        lines.append([name, len(chosen), states["whole"], states["range"], before, ratio(answer, sum(row["raw"] for row in chosen)), ratio(strict, before), ratio(part, before)])
    table(["searches with a read that followed", "pairs", "function shown", "its lines named", "characters", "search alone", "ratio", "if of a named range only the lines are read that the session read"], lines)


def everything(rows):
    lines = []
    for source in ["all", *sorted({row["source"] for row in rows})]:
        mine = [row for row in rows if source in ("all", row["source"])]
        before = sum(row["raw"] for row in mine)
        shell = sum(0 if row.get("saved") else row.get("docent", row["raw"]) for row in mine)
        both = sum(0 if row.get("saved") else row.get("hooked", row.get("docent", row["raw"])) for row in mine)
        kinds = collections.Counter()
        for row in mine:
            kinds[row["kind"]] += row["raw"]
        hooked = [row for row in mine if "hooked" in row]
        share = [f"{100 * kinds[kind] / max(before, 1):.0f} %" for kind in ("tool read", "shell read", "search", "tool search", "list", "git", "not replayed")]
        lines.append([source, len({row["session"] for row in mine}), before, ratio(shell, before), ratio(both, before), len(hooked), ratio(sum(row["hooked"] for row in hooked), sum(row["raw"] for row in hooked)), *share])
    table(["source", "sessions", "characters read", "shell", "shell and Read hook", "reads hooked", "their ratio", "Read", "cat, sed", "search", "Grep", "list", "git", "not replayed"], lines)


def report(work):
    rows = read_rows(work)
    print(f"{len({row['session'] for row in rows}):,} sessions of {len({row['repo'] for row in rows})} projects")
    programs(rows)
    sizes(rows)
    pairs(rows)
    everything(rows)


def show_deviations(work):
    for row in read_rows(work):
        if row.get("deviation"):
            print(f"{row['repo']} {row['session']} {row['number']}\n    {row['command']}\n    {row['deviation']}\n")
