"""From the first sentence of a function's documentation to the function, with that documentation removed from the tree.

    python3 eval/search/run.py sentences DOCENT WORK REPOSITORY… [--questions 20] [--bare] [--out FILE]

Each repository is copied into WORK, which must not hold it yet, as its HEAD has it and without `.git`. The questions are first sentences of doc
comments and docstrings, 5 to 30 words without their markup, of functions that have a body, outside tests, examples and generated
code. At most two come from one file, and `questions` from one repository; if one has fewer, the others give more. A sentence is not
used if it contains the function's name as a word (a name in front, as in Go, is cut off) or occurs anywhere else in the tree. The
documentation of every chosen function is removed before anything is indexed. With `--bare` that of all other functions is
removed too, so that no neighbour is described better than the target.

A result counts if it is of the right file and contains a line of the function: NDCG@10 with that as the only target, and the same for the
file alone. The baselines are BM25 over all code with its tests (windows of 40 lines, every 20, and of 20, every 10, none that overlaps a
better one; for files, whole files), and `rg` for each word as in `commits.py`, with the 21 lines of each file around the line that has
most of the words.
"""

import ast
import collections
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from benchmark import mean, write_lines
from client import ask
from commits import ASIDE, CODE, STOP, by_words, git

SUFFIXES = {"c": "c", "h": "c", "ex": "elixir", "go": "go", "java": "java", "js": "javascript", "php": "php", "py": "python", "rb": "ruby", "rs": "rust"}
ALSO_ASIDE = re.compile(r"(^|/)(benchmarks?|priv|dist|build|templates?|third_party|\w+_test|\.[^/]*)/|(^|/)(tests?|setup)\.\w+$|(^|/)test_|\.min\.", re.I)
JAVADOC = r"[ \t]*/\*\*(?:(?!\*/)[\s\S])*\*/[ \t]*\r?\n"
FUNCTIONS = {  # documentation, what may come between, the first line of a function
    "c": (r"[ \t]*/\*(?:(?!\*/)[\s\S])*\*/[ \t]*\r?\n", "", r"(?!typedef|return|else)[A-Za-z_][\w \t*]*?\b(?P<name>\w+)\([^;]*$"),
    "elixir": (
        r'[ \t]*@doc (?:~S)?(?:"""(?:(?!""")[\s\S])*"""|"[^"\n]*")[ \t]*\n', r"(?:[ \t]*@(?:spec|since|impl).*\n(?:[ \t]{4,}.*\n)*|[ \t]*\n)*",
        r"[ \t]*def(?:macro)?[ ]+(?P<name>\w+[?!]?)",
    ),
    "go": (r"(?://.*\n)+", "", r"func[ ](?:\([^)]*\)[ ])?(?P<name>\w+)"),
    "java": (JAVADOC, r"(?:[ \t]*@\w+(?:\(.*\))?[ \t]*\r?\n)*", r"[ \t]*(?!return|new|throw)[\w<>\[\],.?@ ]+[ ](?P<name>\w+)\("),
    "javascript": (
        JAVADOC, r"(?:[ \t]*\n)?",
        r"[ \t]*(?:(?:export |default |async )*function\*?[ ](?P<name>\w+)|[\w$.]*?(?P<set>\w+)[ ]*=[ ]*(?:function\b|\([^)]*\)[ ]*=>)"
        r"|(?:static |async )*(?!if|for|while|switch)(?P<method>\w+)\([^()]*\)[ ]*\{|.*\bfunction[ ](?P<given>\w+)\()",
    ),
    "php": (JAVADOC, r"(?:[ \t]*#\[.*\n)*", r"[ \t]*(?:(?:public|protected|private|static|final) )*function[ ]&?(?P<name>\w+)"),
    "ruby": (r"(?:[ \t]*#.*\n)+", "", r"[ \t]*def[ ](?:self\.)?(?P<name>\w+[?!=]?)"),
    "rust": (r"(?:[ \t]*///.*\n)+", r"(?:[ \t]*#\[.*\n)*", r"[ \t]*(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe) )*fn[ ](?P<name>\w+)"),
}
FUNCTIONS = {language: re.compile(rf"(?m)^(?P<doc>{doc}){between}(?P<head>{head})") for language, (doc, between, head) in FUNCTIONS.items()}
MARKER = re.compile(r'(?m)^[ \t]*(?:/\*+|\*+/|\*|//+|#+|@doc (?:~S)?"+)[ \t]?|[ \t]*\*+/[ \t\r]*$|"+[ \t]*\n?\Z')
MARKUP = re.compile(
    r"\{@\w+\s+([^}]*)\}|:\w+(?::\w+)?:`[~.]*([^`]*)`|\[`([^`]*)`\](?:\[[^\]]*\])?|\[([^\]]*)\]\([^)]*\)"
    r"|</?(?:code|tt|b|i|em|p|a)>|`+|\*+|(?<!\w)[+_](\w+)[+_](?!\w)"
)
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
IDLE = re.compile(r"deprecat|\balias\b|\btodo\b|\bfixme\b|\bxxx\b|\bhack\b|inherit_?doc|copyright|^(see|like|same|note|for|because|since)\b|https?:", re.I)
REMARK = re.compile(r"^((the|this|these|on|in|if|when|a|an|it|we|for|some|there|by|to)\b|pre-|\S+'s |\S+ (is|are|has|have)\b)", re.I)
QUIET = ("-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main")


def end_of(lines, at, language):
    """The last line of a function, found by the indentation of formatted code; `None` if it has no body."""
    braces, opened, margin = language not in ("elixir", "ruby"), False, len(lines[at]) - len(lines[at].lstrip())
    if re.search(r"\{.*\}$" if braces else r";\s*end$|\bdo:|\)\s*=\s", lines[at].rstrip()):
        return at
    for number, line in enumerate(lines[at:], at):
        text, opened = line.strip(), opened or "{" in line
        if braces and not opened and text.endswith(";"):
            return None
        if number > at and text and len(line) - len(line.lstrip()) <= margin:
            if re.match(r"\}|end\b", text):
                return number
            if not braces and text[0] not in ")]":
                return number - 1
    return None


def documented(text, language):
    """Yields for each documented function: name, documentation, first line of that and the line after it, first and last line of the function."""
    if language == "python":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) and len(node.body) > 1:
                yield node.name, ast.get_docstring(node), node.body[0].lineno - 1, node.body[0].end_lineno, node.lineno - 1, node.end_lineno - 1
        return
    lines = text.split("\n")
    for found in FUNCTIONS[language].finditer(text):
        name = next(one for what, one in found.groupdict().items() if one and what not in ("doc", "head"))
        first, after, at = (text.count("\n", 0, place) for place in (found.start("doc"), found.end("doc"), found.start("head")))
        end = more = end_of(lines, at, language)
        while language == "elixir" and more:
            more = next((number for number in range(end + 1, len(lines)) if lines[number].strip()), 0)
            more = more if re.match(rf"\s*def(macro)?\s+{re.escape(name)}(?!\w)", lines[more]) else 0
            end = more and end_of(lines, more, language) or end
        if end is not None:
            yield name, MARKER.sub("", found["doc"]), first, after, at, end


def words(text):
    return " " + " ".join(re.findall(r"[a-z0-9]+", text.lower())) + " "


def sentence(doc, name, language):
    """The first sentence as it is written, and as a question; `None` if it is not fit to be one."""
    first = re.split(r"\n[ \t]*(?:\r?\n|[@:\\]\w|[-*+] |\d+[.)] |```|<p|<ul|Returns? |={3}|-{3})", doc.strip())[0]
    raw = re.split(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)(?<![.\s])[.!?]\)?(?=\s|$|<)|:\s*$", first)[0]
    query = " ".join(MARKUP.sub(lambda found: next(filter(None, found.groups()), ""), raw).split())
    cut = re.sub(rf"^{re.escape(name)} (?:(?:is|are) )?(?=[a-z]{'' if language == 'go' else '+s '})", "", query)
    query = query if cut == query else cut[0].upper() + cut[1:]
    parts, bare = query.split(), re.sub(r"\W|^_+|_+$", "", name)
    prose = sum(bool(re.fullmatch(r"[(\"']?[A-Za-z][a-z'-]*[)\"',;]*", part)) for part in parts) >= 0.7 * len(parts)
    fit = prose and 5 <= len(parts) <= 30 and query.isascii() and query[0].isupper() and query.count("(") == query.count(")")
    if not fit or IDLE.search(query) or language == "c" and REMARK.search(query) or name.startswith("test"):
        return None
    return None if re.search(rf"(?<![A-Za-z0-9]){re.escape(bare)}(?![A-Za-z0-9])", query, re.I) else (raw, query)


def texts_of(root):
    """Text files below 1 MiB by path, in order of paths."""
    texts = {}
    for folder, _, names in os.walk(root):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.islink(path) and os.path.getsize(path) < 1 << 20:
                with open(path, encoding="utf-8", errors="replace", newline="") as file:
                    texts[os.path.relpath(path, root)] = file.read()
    return {path: text for path, text in sorted(texts.items()) if "\0" not in text}


def functions_of(texts):
    for path, text in texts.items():
        language = SUFFIXES.get(path.rsplit(".", 1)[-1])
        if language and not ASIDE.search(path) and not ALSO_ASIDE.search(path):
            for name, doc, *places in documented(text, language):
                yield {"language": language, "query": doc, "file": path, "name": name, "places": places}


def candidates(root):
    """Functions that can be a target, in the order of use: one of each file, then a second of each; no name twice."""
    texts, found, turns, taken = texts_of(root), [], ([], []), collections.Counter()
    whole = "\n".join(map(words, texts.values()))
    for one in functions_of(texts):
        raw, one["query"] = sentence(one["query"], one["name"], one["language"]) or ("", "")
        if raw and whole.count(words(raw)) == 1 and whole.count(words(one["query"])) <= 1:
            found.append(one)
    random.Random(9).shuffle(found)
    for one in found:
        if taken["name", one["name"]] == 0 and taken["file", one["file"]] < 2:
            turns[taken["file", one["file"]]].append(one)
            taken.update([("name", one["name"]), ("file", one["file"])])
    return turns[0] + turns[1]


def remove(root, asked, bare):
    """Removes the documentation of the targets (or of all functions) from the tree, and sets the lines where each target is then, from 1."""
    texts = texts_of(root)
    without = list(functions_of(texts)) if bare else asked
    for path in {one["file"] for one in without}:
        lines = texts[path].split("\n")
        gone = {number for one in without if one["file"] == path for number in range(*one["places"][:2])}
        for one in (one for one in asked if one["file"] == path):
            one["lines"] = [number + 1 - sum(line < number for line in gone) for number in one["places"][2:]]
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as file:
            file.write("\n".join(line for number, line in enumerate(lines) if number not in gone))


def bm25(texts, queries, k1=1.2, b=0.75):
    """Yields for each query the indexes of the matching texts, best first."""
    counts = [collections.Counter(map(str.lower, PARTS.findall(text))) for text in texts]
    postings, usual = collections.defaultdict(list), mean(count.total() for count in counts)
    for at, count in enumerate(counts):
        for word, often in count.items():
            postings[word].append((at, often * (k1 + 1) / (often + k1 * (1 - b + b * count.total() / usual))))
    for query in queries:
        scores = collections.Counter()
        for has in (postings.get(word, ()) for word in sorted(set(map(str.lower, PARTS.findall(query))))):
            for at, part in has:
                scores[at] += part * math.log(1 + (len(texts) - len(has) + 0.5) / (len(has) + 0.5))
        yield [at for at, _ in scores.most_common()]


def by_bm25(root, queries, size):
    """Yields for each query the ten best windows of `size` lines and the ten best files."""
    texts = {path: text.split("\n") for path, text in texts_of(root).items() if CODE.search(path)}
    starts = [(path, at) for path, lines in texts.items() for at in range(0, max(1, len(lines) - size // 2), size // 2)]
    windows, paths = ["\n".join(texts[path][at : at + size]) for path, at in starts], list(texts)
    for best, files in zip(bm25(windows, queries), bm25(["\n".join(lines) for lines in texts.values()], queries)):
        shown = []
        for path, at in (starts[number] for number in best):
            if len(shown) < 10 and all(path != other or abs(at + 1 - first) >= size for other, first, _ in shown):
                shown.append((path, at + 1, at + size))
        yield shown, [paths[number] for number in files[:10]]


def by_rg(root, query):
    """The ten best files by words, and of each the 21 lines around the line that has most of them."""
    asked = {word.lower() for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]{2,}", query)} - STOP
    shown, files = [], by_words(root, query)[:10]
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
            has = [{word for word in asked if word in line} for line in file.read().lower().split("\n")]
        at = max(range(len(has)), key=lambda at: (len(has[at]), len(set().union(*has[max(0, at - 10) : at + 11]))))
        shown.append((path, at - 9, at + 11))
    return shown, files


def ranks(target, chunks, files):
    """The ranks of the target function and of its file, `None` if not among the results."""
    (start, end), files = target["lines"], list(dict.fromkeys(files))
    hit = [path == target["file"] and first <= end and last >= start for path, first, last in chunks]
    return {"function": hit.index(True) + 1 if True in hit else None, "file": files.index(target["file"]) + 1 if target["file"] in files else None}


def table(rows):
    ways = [("function", way) for way in ("docent", "bm25 40", "bm25 20", "rg")] + [("file", way) for way in ("docent", "bm25 40", "rg")]
    print("| | questions | function: docent | BM25, 40 lines | BM25, 20 lines | `rg` | file: docent | BM25 | `rg` |\n|---|" + "--:|" * 8)
    for language in [*sorted({row["language"] for row in rows}), "all"]:
        of = [row for row in rows if language in ("all", row["language"])]
        gains = [mean(1 / math.log2(1 + (row["ranks"][way][what] or math.inf)) for row in of) for what, way in ways]
        print(f"| {language} | {len(of)} |", *(f"{gain:.3f} |" for gain in gains))
    for title, most in (("first", 1), ("among the first ten", 10)):
        print(f"| {title} | |", *(f"{mean((row['ranks'][way][what] or math.inf) <= most for row in rows):.1%} |" for what, way in ways))


def add_arguments(parser):
    parser.add_argument("docent")
    parser.add_argument("work")
    parser.add_argument("repository", nargs="+")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--out")


def run(args):
    pools, rows = {}, []
    for repository in args.repository:
        root = os.path.join(os.path.abspath(args.work), os.path.basename(repository.rstrip("/")))
        subprocess.run(["git", "clone", "-q", *QUIET, os.path.abspath(repository), root], check=True)
        commit = git(root, "rev-parse", "HEAD").strip()
        shutil.rmtree(os.path.join(root, ".git"))
        pools[root] = [{"repo": os.path.basename(root), "commit": commit, **one} for one in candidates(root)]
    counts = {root: min(args.questions, len(pool)) for root, pool in pools.items()}
    while sum(counts.values()) < args.questions * len(pools) and (more := [root for root in pools if counts[root] < len(pools[root])]):
        counts[min(more, key=counts.get)] += 1
    for root, pool in pools.items():
        asked = pool[: counts[root]]
        remove(root, asked, args.bare)
        queries = [one["query"] for one in asked]
        with tempfile.TemporaryDirectory(prefix="docent-eval-") as home:
            answers = [[tuple(one.values()) for one in results] for results in ask(os.path.abspath(args.docent), root, queries, home)]
        found = {
            "docent": [(chunks, [path for path, _, _ in chunks]) for chunks in answers],
            "bm25 40": list(by_bm25(root, queries, 40)),
            "bm25 20": list(by_bm25(root, queries, 20)),
            "rg": [by_rg(root, query) for query in queries],
        }
        for at, one in enumerate(asked):
            del one["places"]
            rows.append({"id": f"{one['repo']}-{at + 1}", **one, "ranks": {way: ranks(one, *of[at]) for way, of in found.items()}})
        print(f"{os.path.basename(root)}: {len(asked)} questions of {len(pool)} that could be asked", file=sys.stderr)
    table(rows)
    if args.out:
        write_lines(args.out, rows)
