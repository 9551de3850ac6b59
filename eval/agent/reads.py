"""The read that follows a search: whether docent's answer to the same search already holds the function that was read next.

    python3 eval/agent/run.py reads extract MIRRORS     # writes reads.jsonl: sessions, commits, places, counts; no texts
    python3 eval/agent/run.py reads replay MIRRORS WORK --docent DOCENT [--form compact|contract]

A pair is a search and, within two calls, a read of a file that it printed, with a printed line in the range that was read. The line has
to be in the file at the session's commit as it was printed, in a function, and the file has to be unedited so far.

If the answer lacks the function's text, the reader of docent's answer reads on: the lines of the function that the session read
(`ratio`), or the whole function (`ratio, whole function read`).
"""

import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys

from definitions import GRAMMARS, enclosing, extension_of, functions
from docents import Docent
from sessions import Edit, Read, Search, entire, relative, vorflux
from tasks import HERE, git, mirror_of
from visible import files_of, lines_of, names, sections, shows

PER_SESSION = 3
MAX_CONTEXT = 10  # of grep_codebase
SOURCES = {"vorflux": ("piyushhhxyz/vorflux-swe-benchmarks", vorflux), "entire": ("entireio/cli", entire)}
ALSO_TUNED_ON = {"django/django"}
PRINTED = re.compile(r"^(?:(?P<path>[^\s:]+?\.\w+)[:-])?(?P<line>\d+)[:-](?P<text>.*)$")


def printed(search, root):
    """Lines that a search printed: path, number and text."""
    only = search.paths[0] if len(search.paths) == 1 and extension_of(search.paths[0]) else None
    for line in search.text.splitlines():
        if found := PRINTED.match(line):
            path = relative(found["path"], search.named, root) if found["path"] else only
            if path:
                yield path, int(found["line"]), found["text"]


def root_of(session):
    """The folder of the project in the session: searches carry the folder that they ran in."""
    folders = [event.named for event in session.events if isinstance(event, Search)]
    return min(folders, key=len, default="/")


def file_at(mirror, commit, path):
    try:
        return git(mirror, "show", f"{commit}:{path}").split("\n")
    except Exception:  # The file is not at that commit, or the commit is not in the mirror.
        return None


def pair_of(session, root, search, read, edited, mirror):
    """The pair as a record, or why it is none."""
    if not isinstance(read, Read) or read.path in edited or extension_of(read.path) not in GRAMMARS:
        return None
    hits = [(line, text) for path, line, text in printed(search, root) if path == read.path and read.start <= line <= read.end]
    if not hits:
        return None
    for commit in session.commits:
        lines = file_at(mirror, commit, read.path)
        if lines and all(line <= len(lines) and lines[line - 1].strip() == text.strip() for line, text in hits):
            function = enclosing(functions("\n".join(lines), extension_of(read.path)), hits[0][0])
            if not function:
                return "outside of functions"
            full = git(mirror, "rev-parse", commit).strip()
            return {
                "source": session.source,
                "session": session.id,
                "repo": session.repo,
                "commit": full,
                "search": search.number,
                "read": read.number,
                "path": read.path,
                "line": hits[0][0],
                "name": function.name,
                "start": function.start,
                "end": function.end,
                "from": read.start,
                "to": min(read.end, len(lines)),
                "searched": len(search.text),
                "characters": len(read.text),
            }
    return "not as printed"


def pairs(session, mirror, why):
    root, edited, found = root_of(session), set(), 0
    for at, event in enumerate(session.events):
        if isinstance(event, Edit):
            edited.add(event.path)
        if not isinstance(event, Search):
            continue
        for later in session.events[at + 1 : at + 3]:
            if later.number > event.number + 2:
                break
            one = pair_of(session, root, event, later, edited, mirror)
            if isinstance(one, str):
                why[one] += 1
                break
            if one:
                yield one, event
                found += 1
                break
        if found == PER_SESSION:
            return


def all_pairs(mirrors, why):
    for source, (repository, load) in SOURCES.items():
        for session in load(mirror_of(mirrors, repository)):
            mirror = mirror_of(mirrors, session.repo)
            if session.repo not in ALSO_TUNED_ON and mirror.exists():
                yield from pairs(session, mirror, why)


def extract(args):
    why, count = collections.Counter(), collections.Counter()
    with open(HERE / "reads.jsonl", "w", encoding="utf-8") as out:
        for number, (one, _) in enumerate(all_pairs(args.mirrors, why), 1):
            out.write(json.dumps({"id": number, **one}) + "\n")
            count[one["source"], one["session"]] += 1
    print(f"{sum(count.values())} pairs of {len(count)} sessions; left out: {dict(why)}")


def arguments(search, form):
    pattern = re.escape(search.pattern) if search.fixed else search.pattern
    given = {"pattern": pattern, "caseSensitive": not search.ignore_case}
    if form == "contract":
        path = search.paths[0]
        glob = search.globs[0] if search.globs else ""
        if extension_of(path) in GRAMMARS:
            given["filePattern"] = path
        elif path or glob:
            given["filePattern"] = f"{path}/**/{glob or '*'}".lstrip("/")
        return given
    paths = [path for path in search.paths if path]
    if search.globs and not any(extension_of(path) for path in paths):
        paths = [f"{path}/**/{glob}".lstrip("/") for path in paths or [""] for glob in search.globs]
    if paths:
        given["paths"] = paths
    if search.before or search.after:
        given["contextLines"] = min(max(search.before, search.after), MAX_CONTEXT)
    return given


def readable(text):
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t") if text.startswith("{") else text


def held(root, pair, lines, answer):
    """`whole` if every line of the function is in the answer, `range` if its signature and exact range are, else what is missing."""
    mine = [line for path, line in sections(str(root), readable(answer)) if path == pair["path"]]
    if not mine:
        return "file missing"
    body = [line.strip() for line in lines[pair["start"] - 1 : pair["end"]] if len(line.strip()) > 3]
    if all(any(shows(line, {one}) for line in mine) for one in dict.fromkeys(body)):
        return "whole"
    signature = any(shows(line, {body[0]}) or pair["name"].rpartition(".")[2] in line for line in mine)
    if signature and any(names(line, pair) for line in mine):
        return "range"
    number = re.compile(rf"(?<!\d){pair['line']}(?!\d)")
    return "line only" if any(number.search(line) for line in mine) else "line missing"


def replay(args):
    with open(HERE / "reads.jsonl", encoding="utf-8") as file:
        known = {(one["session"], one["search"]): one for one in map(json.loads, file)}
    store = args.work / "raw" / f"reads-{args.form}.jsonl"
    done = {json.loads(line)["id"] for line in store.read_text("utf-8").splitlines()} if store.exists() else set()
    todo = collections.defaultdict(list)
    for one, search in all_pairs(args.mirrors, collections.Counter()):
        pair = known.get((one["session"], one["search"]))
        if pair and pair["id"] not in done:
            todo[pair["repo"], pair["commit"]].append((pair, search))
    with open(store, "a", encoding="utf-8") as out:
        for (repo, commit), group in sorted(todo.items()):
            try:
                root = check_out(args, repo, commit)
            except subprocess.CalledProcessError:
                print(f"{repo} {commit[:9]}: {len(group)} pairs left out, the mirror lacks files of this commit", file=sys.stderr)
                continue
            docent = Docent(args.docent, root, args.work / "home", args.form)
            for pair, search in group:
                answer = docent.try_asking("grep_codebase", arguments(search, args.form))
                lines = (root / pair["path"]).read_text("utf-8", "replace").split("\n")
                read = lambda first, last: len(docent.ask("read_file", {"path": pair["path"], "ranges": [f"{first}-{last}"], "again": True}))
                part = read(max(pair["start"], pair["from"]), min(pair["end"], pair["to"]))
                whole = read(pair["start"], pair["end"])
                row = {"id": pair["id"], "held": held(root, pair, lines, answer), "answer": len(answer), "read": part, "function": whole}
                out.write(json.dumps({**row, "searched": pair["searched"], "characters": pair["characters"], "text": answer}) + "\n")
                out.flush()
            docent.close()
    report(args, store)


def check_out(args, repo, commit):
    """One working copy for each project, moved from commit to commit."""
    root = (args.work / "reads" / repo.partition("/")[2]).resolve()
    if not root.exists():
        git(args.work, "clone", "-q", "--no-checkout", str(mirror_of(args.mirrors, repo).resolve()), str(root))
    git(root, "checkout", "-q", "-f", "--detach", commit)
    git(root, "clean", "-fdxq")
    files_of.cache_clear()
    lines_of.cache_clear()
    return root


def report(args, store):
    rows = [json.loads(line) for line in store.read_text("utf-8").splitlines()]
    states = collections.Counter(row["held"] for row in rows)
    total = len(rows)
    theirs = sum(row["searched"] + row["characters"] for row in rows)

    def ratio(read, saved):
        return round(sum(row["answer"] + (0 if row["held"] in saved else row[read]) for row in rows) / theirs, 2)

    figures = {
        "pairs": total,
        "held": round(100 * (states["whole"] + states["range"]) / total, 1),
        **{state: round(100 * count / total, 1) for state, count in states.most_common()},
        "ratio": ratio("read", ("whole",)),
        "ratio, whole function read": ratio("function", ("whole",)),
        "ratio, a named range saves the read": ratio("read", ("whole", "range")),
        "ratio, median": round(
            statistics.median((row["answer"] + (0 if row["held"] == "whole" else row["read"])) / max(row["searched"] + row["characters"], 1) for row in rows), 2
        ),
        "answer, median": statistics.median(row["answer"] for row in rows),
        "search of the session, median": statistics.median(row["searched"] for row in rows),
        "read of the session, median": statistics.median(row["characters"] for row in rows),
    }
    for what, value in figures.items():
        print(f"| {what} | {value} |")
    if args.out:
        kept = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {}
        kept.setdefault("reads", {})[args.form] = figures
        args.out.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    sys.stdout.flush()


def add_arguments(parser):
    parser.add_argument("what", choices=["extract", "replay"])
    parser.add_argument("mirrors")
    parser.add_argument("work", nargs="?", type=pathlib.Path)
    parser.add_argument("--docent")
    parser.add_argument("--form", choices=["contract", "compact"], default="compact")
    parser.add_argument("--out", type=pathlib.Path, help="adds the figures to this JSON file")


def run(args):
    (extract if args.what == "extract" else replay)(args)
