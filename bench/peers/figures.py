"""Figures of records: medians with their range, percentiles, ratios to docent, and markdown tables."""

import re
import statistics


def plain(text):
    """A text in one line, without paths of this machine."""
    return re.sub(r"\S*/\S*", "…", " ".join(str(text).split()))[:250]


def spread(values, digits=1):
    """The median, with the range in brackets."""
    middle = f"{statistics.median(values):,.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def percentile(values, part):
    """The percentile, for example 0.95."""
    return sorted(values)[round(part * (len(values) - 1))]


def ratio_to_docent(bench, records, value, ours="docent"):
    """The tool's figure divided by docent's of the same round."""
    base = {one["round"]: value(one) for one in succeeded(bench.of(records[0]["measure"], tool=ours)) if all(one.get(key) == records[0].get(key) for key in ("repository", "call", "writers"))}
    ratios = [value(one) / max(base[one["round"]], 1e-9) for one in records if one["round"] in base]
    return spread(ratios, 2) if ratios else ""


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|", *("| " + " | ".join(row) + " |" for row in rows)]
    return "\n".join(lines) + "\n"


def tools_of(records):
    """The tools of these records, in the order of their first record."""
    return sorted({one["tool"] for one in records}, key=[one["tool"] for one in records].index)


def succeeded(records):
    return [one for one in records if "failed" not in one]


def docent_first(names):
    return sorted(names, key=lambda name: not name.startswith("docent"))
