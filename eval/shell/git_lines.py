"""Checks `docent sh git …` against git on real repositories.

    python3 eval/shell/git_lines.py --docent target/debug/docent --lines 600 REPOSITORY…

Each repository is cloned into a temporary directory, which gets changes of every kind: edited, staged, renamed, deleted
and untracked files, and files that the access rules block. Command lines are made from the flags that agents use, with a
fixed seed. Each is run twice, as it is and through docent, and compared:

- the exit status is the same, and standard error where git fails;
- output for programs, and everything behind `head`, `tail` and `sed -n`, is the same byte for byte;
- otherwise the shown lines are lines of the original in their order, and shown plus counted is the original, per file.

Lines that docent refuses (status 2 and a message of its own) are printed, and no deviation. Prints the deviations, the
characters of both by kind, and the number of lines. Exits 1 if there is a deviation.
"""

import argparse
import collections
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

LEFT_OUT = re.compile(r"left out: (?:([\d,]+) hunks?, )?([\d,]+) lines?$")
HEADING = re.compile(r"^([\d,]+) files?, \+(\d+) -(\d+); the rest: (command git .*)$")
DIRECTORY = re.compile(r"^(.*)/: ([\d,]+) files?, \+(\d+) -(\d+), left out: ([\d,]+) lines?$")
MORE_COMMITS = re.compile(r"^… ([\d,]+) more commits? with ([\d,]+) files?, \+(\d+) -(\d+), left out: ([\d,]+) lines?: ")
BLOCKED = re.compile(r"^… ([\d,]+) lines? of the patch of (.*) not shown: docent's access rules block the file$")
HUNK = re.compile(r"^(@@+) (.*) @@+")
CUT = re.compile(r"^(.*) … (\d+) more characters$", re.S)


MORE_MESSAGE = re.compile(r"^    … ([\d,]+) more lines? of the message(: command git .*)?$")


def number(text):
    return int(text.replace(",", ""))


def run(words, directory, shell=False):
    done = subprocess.run(words, cwd=directory, capture_output=True, shell=shell, executable="/bin/bash" if shell else None)
    return done.returncode, done.stdout, done.stderr


def git(directory, *words):
    return subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words],
        cwd=directory, capture_output=True, text=True, errors="replace").stdout


class Deviation(Exception):
    """The answer says something else than git."""


def lines_of(text):
    lines = text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return lines


class FilePatch:
    """The patch of one file in git's output."""

    def __init__(self, path):
        self.path, self.body, self.added, self.removed = path, [], 0, 0


def unquote(name):
    if not name.startswith('"'):
        return name
    raw = name[1:-1].encode().decode("unicode_escape").encode("latin-1", "replace")
    return raw.decode("utf-8", "replace")


def first_name(line):
    """The path in the first line of a patch, or nothing if only the lines below tell it."""
    if line.startswith("diff --cc "):
        return unquote(line[len("diff --cc "):])
    names = line[len("diff --git "):]
    if names.startswith('"'):
        return unquote(names[names.rindex(' "') + 1:]).split("/", 1)[1]
    one, other = names[:len(names) // 2].split("/", 1)[-1], names[len(names) // 2 + 1:].split("/", 1)[-1]
    return one if one == other else ""


def parse_original(text):
    """Groups of (text before the patches, patches), one for each commit."""
    groups, intro, files, file = [], [], [], None
    lines, at = lines_of(text), 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(("diff --git ", "diff --cc ")):
            file = FilePatch(first_name(line))
            files.append(file)
            at += 1
            continue
        found = HUNK.match(line) if file else None
        if found:
            columns = len(found[1]) - 1
            left = [int(part.split(",")[1]) if "," in part else 1 for part in found[2].split(" ")]
            at += 1
            while at < len(lines) and (any(left) or lines[at].startswith("\\ ")):
                body = lines[at]
                signs = body[:columns].ljust(columns)
                file.body.append(body)
                if not body.startswith("\\ "):
                    file.added += "+" in signs
                    file.removed += "-" in signs
                    is_removed = "-" in signs
                    for column, sign in enumerate(signs):
                        left[column] -= sign == "-" or (sign == " " and not is_removed)
                    left[-1] -= not is_removed
                at += 1
            continue
        header = re.match(r"(\+\+\+|---|rename to|copy to) (.*?)\t?$", line) if file else None
        if header and header[2] != "/dev/null":
            name = unquote(header[2])
            file.path = name if header[1].endswith("to") else name.split("/", 1)[1] if not file.path else file.path
        elif file and not re.match(r"(index|old mode|new mode|mode|deleted file|new file|copy|rename|similarity|"
                                   r"dissimilarity|---|\+\+\+|Binary files)", line):
            groups.append((intro, files))
            intro, files, file = [line], [], None
        elif not file:
            intro.append(line)
        at += 1
    groups.append((intro, files))
    return groups


def is_subsequence(shown, body):
    rest = iter(body)
    for line in shown:
        cut = CUT.match(line)
        if not any(line == other or (cut and other.startswith(cut[1]) and len(other) == len(cut[1]) + int(cut[2]))
                   for other in rest):
            return line
    return None


def check_group(lines, intro, files):
    """The lines of a shortened commit or diff."""
    at = 0
    while at < len(lines) and not HEADING.match(lines[at]):
        at += 1
    if at == len(lines):
        raise Deviation("there is no heading")
    head = [line for line in lines[:at]]
    more = [line for line in head if MORE_MESSAGE.match(line)]
    counted = number(re.search(r"[\d,]+", more[0])[0]) if more else 0
    kept = head[:head.index(more[0])] if more else head
    if kept != intro[:len(kept)] or len(kept) + counted != len(intro):
        raise Deviation(f"message: {len(kept)} shown + {counted} counted of {len(intro)}")
    found = HEADING.match(lines[at])
    sums = (number(found[1]), int(found[2]), int(found[3]))
    if sums != (len(files), sum(file.added for file in files), sum(file.removed for file in files)):
        raise Deviation(f"totals {sums}")
    waiting = collections.defaultdict(list)
    for file in files:
        waiting[file.path].append(file)
    left, listed, directories = {}, [], []
    at += 1
    seen = set()
    while at < len(lines):
        line = lines[at]
        if line.startswith("@@") or (line in seen):
            break
        below = DIRECTORY.match(line)
        if below:
            directories.append(below)
            at += 1
            continue
        paths = [path for path in waiting if waiting[path] and (line == path or line.startswith((path + " ", path + ",")))]
        if not paths:
            raise Deviation(f"a row of no file: {line}")
        path = max(paths, key=len)
        file = waiting[path].pop(0)
        rest = line[len(path):]
        counts = re.search(r" \+(\d+) -(\d+)", rest)
        if file.body and (not counts or (int(counts[1]), int(counts[2])) != (file.added, file.removed)):
            raise Deviation(f"counts of {path}: {rest}")
        found = LEFT_OUT.search(rest)
        left[id(file)] = number(found[2]) if found else 0
        listed.append(file)
        seen.add(path)
        at += 1
    shown = {id(file): [] for file in listed}
    body = lines[at:]
    if body and body[0].startswith("@@"):
        current = listed[0]
    by_path = collections.defaultdict(list)
    for file in listed:
        by_path[file.path].append(file)
    current = listed[0] if body and body[0].startswith("@@") else None
    for line in body:
        if line.startswith("@@") or line == "…" or line == "":
            if line == "" and current is not None:
                shown[id(current)].append(line)
            continue
        if line[0] in "+- \\":
            shown[id(current)].append(line)
        elif line in by_path and by_path[line]:
            current = by_path[line].pop(0)
        else:
            raise Deviation(f"a line of no file: {line}")
    for file in listed:
        wrong = is_subsequence(shown[id(file)], file.body)
        # The empty line between two commits belongs to neither file.
        count = len(shown[id(file)])
        if wrong is not None:
            raise Deviation(f"{file.path}: not a line of the original: {wrong!r}")
        if count + left[id(file)] != len(file.body):
            raise Deviation(f"{file.path}: {count} shown + {left[id(file)]} counted of {len(file.body)}")
    rest = [file for files in waiting.values() for file in files]
    for row in sorted(directories, key=lambda row: -len(row[1])):
        inside = [file for file in rest if row[1] == "." or file.path.startswith(row[1] + "/")]
        if row[1] == "." and len(directories) > 1:
            inside = [file for file in rest if "/" not in file.path]
        rest = [file for file in rest if file not in inside]
        sums = (len(inside), sum(f.added for f in inside), sum(f.removed for f in inside), sum(len(f.body) for f in inside))
        if sums != (number(row[2]), int(row[3]), int(row[4]), number(row[5])):
            raise Deviation(f"directory {row[1]}: {sums}")
    if rest:
        raise Deviation(f"{len(rest)} files are not counted")


def check_patches(plain, answer):
    """Compares commits one after the other."""
    groups = parse_original(plain)
    shown, at = lines_of(answer), 0
    more = MORE_COMMITS.match(shown[-1]) if shown else None
    if more:
        shown.pop()
    listed = len(groups) - (number(more[1]) if more else 0)
    if more:
        rest = [file for _, files in groups[listed:] for file in files]
        sums = (len(rest), sum(f.added for f in rest), sum(f.removed for f in rest), sum(len(f.body) for f in rest))
        if sums != (number(more[2]), int(more[3]), int(more[4]), number(more[5])):
            raise Deviation(f"commits that are not shown: {sums}")
    starts = [(intro[1] if intro and intro[0] == "" and len(intro) > 1 else (intro or [""])[0]) for intro, _ in groups[:listed]]
    for index, (intro, files) in enumerate(groups[:listed]):
        end = len(shown)
        if index + 1 < listed:
            following = [place for place in range(at + 1, len(shown)) if shown[place] == starts[index + 1]]
            if not following:
                raise Deviation(f"the commit is missing: {starts[index + 1]}")
            end = following[0]
        part = shown[at:end]
        if groups[index + 1][0][:1] == [""] if index + 1 < len(groups) else False:
            # Commits have an empty line before them.
            if part and part[-1] == "":
                part.pop()
        if intro[:1] == [""] and part[:1] != [""]:
            intro = intro[1:]
        if not any(HEADING.match(line) for line in part):
            check_exact_group(part, intro, files)
        else:
            check_group(part, intro, files)
        at = end


def check_exact_group(part, intro, files):
    """A commit that is printed as git prints it, but for blocked files."""
    blocked = {found[2]: number(found[1]) for found in map(BLOCKED.match, part) if found}
    if part and MORE_MESSAGE.match(part[-1]) and not files:
        if part[:-1] != intro[:len(part) - 1] or len(part) - 1 + number(MORE_MESSAGE.match(part[-1])[1]) != len(intro):
            raise Deviation("the message is counted wrong")
        return
    rest = parse_original("\n".join(line for line in part if not BLOCKED.match(line)))[0]
    if rest[0] != intro and rest[0] != [line for line in intro if line]:
        raise Deviation("the message differs")
    for one, other in zip(rest[1], files, strict=True):
        if other.path in blocked:
            if one.body or blocked[other.path] < len(other.body):
                raise Deviation(f"{other.path} is blocked and counted wrong")
        elif (one.path, one.body) != (other.path, other.body):
            raise Deviation(f"{other.path} differs")


BAR = re.compile(r"^( \S.*?) +\|  *(\d+)(?: [+-]*)?$")


def without_bar(line):
    """A row of `--stat` as it is shortened."""
    found = BAR.match(line)
    return f"{found[1]} | {found[2]}" if found and line.rstrip().endswith(("+", "-")) else line


def check_lines(plain, answer):
    original, shown = lines_of(plain), lines_of(answer)
    bare = [without_bar(line) for line in original]
    if shown == bare:
        return
    total = shown[-1] if shown and not shown[-1].startswith("… ") else None
    notice = re.match(r"… ([\d,]+) more lines? of ([\d,]+): command git ", shown[-2 if total else -1])
    kept = shown[:-2 if total else -1]
    if not notice:
        raise Deviation("nothing is counted")
    if original[:len(kept)] != kept:
        original = bare
    if original[:len(kept)] != kept or (total and original[-1] != total):
        raise Deviation("the lines differ")
    if len(kept) + number(notice[1]) + bool(total) != len(original) or number(notice[2]) != len(original):
        raise Deviation("the count differs")


def check_commits(plain, answer):
    commits = []
    for line in lines_of(plain):
        if line.startswith("commit "):
            commits.append((line.split(" ")[1], []))
        elif line.startswith("    ") or not line:
            commits[-1][1].append(line[4:])
    shown, at = lines_of(answer), 0
    last = shown.pop()
    more = re.match(r"… ([\d,]+) more commits?: ", last)
    if not more and not last.startswith("as git prints it: "):
        raise Deviation("there is no notice")
    listed = len(commits) - (number(more[1]) if more else 0)
    for commit, message in commits[:listed]:
        while message and not message[-1]:
            message.pop()
        while message and not message[0]:
            message.pop(0)
        if not shown[at].startswith(commit[:10] + " ") or not shown[at].endswith(message[0] if message else ""):
            raise Deviation(f"commit {commit}: {shown[at]}")
        at += 1
        body = message[1:]
        while body and not body[0]:
            body.pop(0)
        kept, counted = [], 0
        while at < len(shown) and (shown[at] == "" or shown[at].startswith("  ")) and len(kept) + counted < len(body):
            found = re.match(r"  … ([\d,]+) more lines?$", shown[at])
            if found and len(kept) + number(found[1]) == len(body):
                counted = number(found[1])
            else:
                kept.append(shown[at][2:])
            at += 1
        if kept != body[:len(kept)] or len(kept) + counted != len(body):
            raise Deviation(f"message of {commit}: {len(kept)} + {counted} of {len(body)}")
    if at != len(shown):
        raise Deviation("there are lines of no commit")


MACHINE = ["--name-only", "--name-status", "--numstat", "--raw", "-z", "--format", "--pretty=format", "--porcelain", "-q",
           "--quiet", "--line-porcelain", "-s --format"]


def check(plain, answer, words, is_cut):
    """Compares two outputs that differ. `is_cut` says that filters behind git left out some of its lines."""
    command = next(word for word in words if word in ("log", "show", "diff", "blame", "status"))
    has_patch = command in ("show", "diff") or any(word in ("-p", "-u", "--patch") for word in words)
    has_patch &= not any(word.startswith(("--stat", "--shortstat", "-s", "--no-patch")) for word in words) or "-p" in words or "--patch" in words
    is_exact = any(word.startswith(tuple(MACHINE)) and not (has_patch and word.startswith("--format")) for word in words)
    is_exact = is_exact or re.search(r"show \S+:\S", " ".join(words))
    if is_cut or is_exact:
        if any(BLOCKED.match(line) for line in lines_of(answer)):
            return
        raise Deviation("not the same bytes")
    if len(answer) >= len(plain) and not any(BLOCKED.match(line) for line in lines_of(answer)):
        raise Deviation("the answer is longer")
    if has_patch:
        check_patches(plain, answer)
    elif command in ("status", "blame") or any(word.startswith(("--oneline", "--stat", "--shortstat", "--graph", "--pretty=one")) for word in words):
        check_lines(plain, answer)
    elif re.match(r"… [\d,]+ more lines? of", lines_of(answer)[-1]):
        check_lines(plain, answer)
    else:
        check_commits(plain, answer)


def prepare(clone, rng):
    """Changes of every kind."""
    git(clone, "config", "user.name", "A"), git(clone, "config", "user.email", "a@b.c")
    tracked = [path for path in git(clone, "ls-files").splitlines() if not path.startswith('"')]
    (clone / ".env").write_text("TOKEN=old\nHOST=a\n")
    (clone / "secrets").mkdir(exist_ok=True)
    (clone / "secrets" / "token.txt").write_text("hidden\n" * 5)
    (clone / "naïve name.txt").write_text("größe\r\n" * 9)
    git(clone, "add", "-f", ".env", "secrets", "naïve name.txt")
    git(clone, "commit", "-qm", "blocked files\n\nand a name with a blank")
    (clone / ".env").write_text("TOKEN=new\nHOST=a\n")
    (clone / "naïve name.txt").write_text("größe\r\n" * 8 + "neu\n")
    (clone / "bin.dat").write_bytes(bytes(range(256)) * 40)
    git(clone, "add", "bin.dat")
    for path in rng.sample(tracked, min(40, len(tracked))):
        file = clone / path
        if file.is_file() and not file.is_symlink():
            text = file.read_bytes().splitlines(keepends=True)
            for _ in range(rng.randint(1, 6)):
                text.insert(rng.randint(0, len(text)), b"a line that was added %d\n" % rng.randint(0, 99))
            file.write_bytes(b"".join(text))
            if rng.random() < 0.4:
                git(clone, "add", "--", path)
    for path in rng.sample(tracked, min(4, len(tracked))):
        git(clone, "mv", path, path + ".moved")
    for path in rng.sample(tracked, min(3, len(tracked))):
        (clone / path).unlink(missing_ok=True)
    for at in range(150):
        (clone / f"untracked_{at}_with_a_name_of_some_length.txt").write_text("x\n")


def make_line(rng, commits, tracked, directories):
    """A command line: words of git, and filters behind it."""
    commit = lambda: rng.choice([*commits, "HEAD", "HEAD~1", "HEAD~3", "HEAD^", "@"])
    path = lambda: rng.choice([*tracked[:200], *directories[:50], rng.choice(tracked), rng.choice(directories)])
    maybe = lambda share, *words: list(words) if rng.random() < share else []
    kind = rng.choices(["log", "diff", "show", "status", "blame"], [30, 30, 25, 10, 5])[0]
    words = maybe(0.1, "--no-pager") + [kind]
    if kind == "log":
        words += rng.choice([["--oneline"], ["--oneline"], [], ["--format=%h %an %s"], ["--stat"], ["-p"], ["--graph", "--oneline"],
                             ["--pretty=format:%H|%s"], ["--name-only", "--oneline"], ["--pretty=oneline"], ["-p", "--oneline"],
                             ["-p", "--stat"], ["--shortstat"], ["--decorate", "--oneline"]])
        words += rng.choice([["-5"], ["-n", "3"], ["-20"], ["--max-count=40"], ["-1"], ["-150"]])
        words += maybe(0.2, "--all") + maybe(0.1, "--no-merges") + maybe(0.1, "--since=2015-01-01") + maybe(0.1, "--author=a")
        words += maybe(0.1, "--reverse") + maybe(0.1, "--date=short") + maybe(0.1, "--grep", "fix")
        words += maybe(0.2, commit()) + maybe(0.3, "--", path())
    elif kind == "diff":
        words += rng.choice([[], [], [], ["--stat"], ["--cached"], ["--name-only"], ["--name-status"], ["--numstat"], ["-w"], ["-U1"],
                             ["-U", "10"], ["-M"], ["--stat", "-p"], ["--shortstat"], ["-z", "--name-only"], ["--exit-code"],
                             ["--quiet"], ["-R"], ["--diff-filter=AM"], ["--full-index"], ["-W"], ["--no-renames"], ["-b"]])
        one, other = commit(), commit()
        words += rng.choice([[], [], ["HEAD"], [one], [one, other], [f"{one}..{other}"], [f"{one}...{other}"], [one + "~2", one]])
        words += maybe(0.3, "--", path(), path())
    elif kind == "show":
        words += rng.choice([[], [], [], ["--stat"], ["--name-only"], ["--name-status"], ["-s"], ["--oneline"], ["--format="],
                             ["-s", "--format=%B"], ["-U1"], ["-w"], ["--format=%h %s"], ["-m"], ["--first-parent"]])
        if rng.random() < 0.2:
            words += [f"{rng.choice(['HEAD', commit()])}:{path()}"]
            words = [word for word in words if not word.startswith(("-m",))]
        else:
            words += rng.choice([[], [commit()], [commit()], [commit()], [commit(), commit()]]) + maybe(0.15, "--", path())
    elif kind == "status":
        words += rng.choice([[], [], ["-s"], ["--short"], ["--porcelain"], ["-sb"], ["-uno"], ["-z"], ["--porcelain=v2"]])
        words += maybe(0.2, path())
    else:
        words += rng.choice([["-L", "1,20"], ["-L1,+5"], [], ["-w"], ["--line-porcelain", "-L", "1,3"], ["-s"]]) + [rng.choice(tracked)]
    filters = rng.choice([[]] * 7 + [["head -20"], ["head -n 5"], ["tail -5"], ["sed -n 1,30p"], ["cat"], ["sort"], ["head -60", "tail -n 3"], ["grep e"], ["grep -c e"], ["grep -v a", "head -5"], ["wc -l"], ["grep -iE 'fix|add'", "wc -l"]])
    return words, filters


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docent", required=True)
    parser.add_argument("--lines", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("repositories", nargs="+")
    given = parser.parse_args()
    docent = str(pathlib.Path(given.docent).resolve())
    rng = random.Random(given.seed)
    kinds, deviations, sizes = collections.Counter(), 0, collections.defaultdict(lambda: [0, 0, 0])
    for repository in given.repositories:
        with tempfile.TemporaryDirectory() as folder:
            clone = pathlib.Path(folder) / "clone"
            subprocess.run(["git", "clone", "-q", "--shared", repository, clone], check=True)
            commits = git(clone, "rev-list", "--all", "--max-count=4000").split()
            commits = rng.sample(commits, min(60, len(commits)))
            prepare(clone, rng)
            tracked = [path for path in git(clone, "ls-files").splitlines() if not path.startswith('"')]
            rng.shuffle(tracked)
            directories = sorted({str(pathlib.PurePosixPath(path).parent) for path in tracked})
            rng.shuffle(directories)
            for _ in range(given.lines // len(given.repositories)):
                words, filters = make_line(rng, commits, tracked, directories)
                plain_line = " | ".join([shlex.join(["git", *words]), *[line if line.startswith("grep") else f"LC_ALL=C {line}" for line in filters]])
                status, out, err = run(plain_line, clone, shell=True)
                then = [word for line in filters for word in ("--then", line)]
                answered = run([docent, "sh", *then, "git", *words], clone)
                line = f"{pathlib.Path(repository).name}: {plain_line}"
                if answered[0] == 2 and answered[2].startswith(b"docent sh: "):
                    kinds["refused"] += 1
                    print(f"refused {line}\n    {answered[2].decode().strip()}")
                    continue
                plain, answer = (text.decode("utf-8", "replace") for text in (out, answered[1]))
                try:
                    if answered[0] != status:
                        raise Deviation(f"status {answered[0]} instead of {status}")
                    if status >= 128 and answered[2] != err:
                        raise Deviation("standard error")
                    if answered[1] == out:
                        kinds["same bytes"] += 1
                    else:
                        is_cut = bool(filters) and run(["git", *words], clone)[1] != out
                        check(plain, answer, words, is_cut)
                        kinds["shortened and complete"] += 1
                except Deviation as deviation:
                    deviations += 1
                    print(f"DEVIATION {line}\n    {deviation}")
                kind = next(word for word in words if not word.startswith("-"))
                if filters:
                    kind += " with filters"
                for name in [kind] + ([kind + " over 4,000"] if len(plain) > 4000 and answered[1] != out else []):
                    sizes[name][0] += 1
                    sizes[name][1] += len(plain)
                    sizes[name][2] += len(answer)
    for name, (count, plain, answer) in sorted(sizes.items()):
        print(f"{name}: {count} lines, {plain:,} characters, {answer:,} through docent ({answer / max(plain, 1):.2f})")
    for kind, count in kinds.most_common():
        print(f"{count} {kind}")
    print(f"{sum(kinds.values()) + deviations} lines, {deviations} deviations")
    sys.exit(1 if deviations else 0)


if __name__ == "__main__":
    main()
