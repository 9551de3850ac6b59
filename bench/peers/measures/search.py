"""Search: questions in words to servers that have their index."""

import statistics
import subprocess
import time

from ..bench import SEMBLE
from ..figures import docent_first, percentile, plain, ratio_to_docent, spread, succeeded, table, tools_of
from ..registry import PEERS
from ..usage import cpu, resident

# Seconds for a question, above which probe is left out of the large repository.
SLOW_SECONDS = 10
QUESTIONS = """where are command line options parsed
how are errors turned into responses
retry a failed request with backoff
read the configuration from environment variables
cache results and throw old entries away
validate input before it is used
write log messages with a level
take a lock and release it again
turn an object into JSON
close connections when the program shuts down
find the handler for an incoming request
check whether a user may do this
watch files for changes and reload
create a client and connect to the server
parse a version string and compare versions
register a plugin or a module by its name
send a message to all subscribers
limit the number of requests per second
wait until all tasks have finished
compute a hash of the content""".splitlines()

ABOUT = f"""{len(QUESTIONS)} questions in words, one after the other, over stdio to servers that have their index and
have answered one question before. docent `context_search`, semble `search`, codegraph
`codegraph_explore`, probe `search_code`, all with the question and their defaults. code-index-mcp has no
search by words: it gets `search_code_advanced` with the longer words of the question as a regular
expression (`a|b|c`), unranked. Bytes are those that the model reads; CPU is that of the whole time,
including background work of the server.

In every round each server is started again, alone, so that it has not seen the questions before. Other questions come
first, back to back right after the start (“at once”: docent scans all files until its watcher is trusted, semble does
not look for changes for a while). Three seconds later follow the questions that count, 0.2 s apart. docent's answer
has 5 results with whole chunks, semble's 5 with 10 lines each, codegraph's up to 12 files of source, probe's up to
8,000 tokens, code-index-mcp's the first 10 lines in order of files."""


def measure(bench):
    """A server at a time, so that none notices the others: it is started, answers one question, and then those that count."""
    places = [("middle", bench.name, bench.options.rounds)]
    if bench.options.large:
        places.append(("large", bench.options.large.name, 2))
    for which, repository, rounds in places:
        slow = set()
        names = ["docent", "semble", "probe", "code-index-mcp", *(["codegraph"] if which == "middle" else [])]
        for number in range(rounds):
            for name in bench.turns(names, number):
                if name not in slow:
                    root = bench.root(name) if which == "middle" else bench.options.large
                    figures = ask_questions(bench, name, str(root))
                    bench.record("search", name, number, repository=repository, **figures)
                    if "failed" in figures:
                        slow.add(name)


def ask_questions(bench, name, root):
    if name == "docent":
        subprocess.run([bench.docent, "--root", root, "index"], env=bench.environment, check=True, capture_output=True)
    if name == "semble":
        command = [PEERS[name].path, str(SEMBLE), "index", root]
        subprocess.run(command, env=bench.environment, check=True, capture_output=True)
    tool = bench.serve(name, root)
    try:
        if name == "code-index-mcp":
            tool.ask("set_project_path", {"path": root})
        took, _ = tool.ask(*question(name, "something that is asked first", root))
        if name == "probe" and took > SLOW_SECONDS * 1e3:
            return {"failed": f"left out: one question took {took / 1e3:.0f} s"}
        # Other words, so that the questions that count are not asked twice; probe keeps nothing between two.
        at_once = [] if name == "probe" else [tool.ask(*question(name, f"{text} in this project", root))[0] for text in QUESTIONS]
        time.sleep(3)
        before, answers = cpu(tool.processes()), []
        for text in QUESTIONS:
            answers.append(tool.ask(*question(name, text, root)))
            time.sleep(0.2)
        pids = tool.processes()
        figures = {"ms": [round(took, 3) for took, _ in answers], "at_once": [round(took, 3) for took in at_once], "bytes": [len(text.encode()) for _, text in answers]}
        return {**figures, "cpu": (cpu(pids) - before) * 1e3 / len(QUESTIONS), "resident": resident(pids)}
    except SystemExit as error:
        return {"failed": plain(error)}
    finally:
        tool.close()


def question(name, text, root):
    """The tool and the arguments by which each peer is asked."""
    if name == "code-index-mcp":
        words = "|".join(word for word in text.split() if len(word) > 4) or text
        return "search_code_advanced", {"pattern": words, "regex": True, "case_sensitive": False}
    return {
        "docent": ("context_search", {"query": text}),
        "semble": ("search", {"query": text, "repo": root}),
        "codegraph": ("codegraph_explore", {"query": text}),
        "probe": ("search_code", {"query": text, "path": root}),
    }[name]


def tables(bench):
    for repository in dict.fromkeys(one["repository"] for one in bench.of("search")):
        rows = []
        for name in docent_first(tools_of(bench.of("search", repository=repository))):
            mine = succeeded(bench.of("search", repository=repository, tool=name))
            if not mine:
                rows.append([name, bench.of("search", repository=repository, tool=name)[0]["failed"], *[""] * 7])
                continue
            every = [took for one in mine for took in one["ms"]]
            read_by = mine[0]["bytes"]
            at_once = [took for one in mine for took in one["at_once"]]
            figures = [f"{statistics.median(every):.1f}", f"{percentile(every, 0.95):.1f}", f"{statistics.median(at_once):.1f}" if at_once else ""]
            figures += [spread([one["cpu"] for one in mine])]
            figures += [f"{statistics.median(read_by):,.0f}", f"{max(read_by):,}", f"{mine[-1]['resident']:.0f}"]
            rows.append([name, *figures, ratio_to_docent(bench, mine, lambda one: statistics.median(one["ms"]))])
        head = ["tool", "p50, ms", "p95, ms", "p50 at once, ms", "CPU a question, ms", "bytes, median", "bytes, most", "resident, MiB", "p50 to docent's"]
        yield f"Search in {repository}", table(head, rows)
