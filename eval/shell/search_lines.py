"""Searches: generated command lines of grep, rg, git grep and ag, answered by the programs and by `docent sh`.

    python3 eval/shell/search_lines.py DOCENT WORK TREE … [--count N] [--seed N]

Each TREE is copied to WORK and given hidden, ignored, binary, CRLF, Latin-1, empty, long-lined and linked files. Patterns are made of
words and lines of the tree. A command counts if `docent rewrite` takes it. Two answers are compared with the program's:

- `docent sh --plain`: lines, order (for grep) and exit status are equal.
- `docent sh`: the lines that are shown and those that are counted, by file or directory, are those of the program.

A pipeline of filters is compared with what a shell makes of it. Prints the deviations, and the number of commands by kind.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys

HEADING = re.compile(r"^[\d,]+ match(?:es)? in [\d,]+ files?(, with context)?$")
REST = re.compile(r"^… ([\d,]+) more: (.*)$")
HIDDEN = re.compile(r"^not shown, because docent does not show such files: (.*)$")
LISTED = re.compile(r"^(\d+): ?")
CONTEXT = re.compile(r"^(\d+)-")
EQUAL = re.compile(r"^equal in [\d,]+ files: ")
MORE = re.compile(r"^… (\d+) (?:more|equal) \d+(?:-\d+)?$")


def run(command, directory, environment):
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, stdin=subprocess.DEVNULL, shell=isinstance(command, str), executable="/bin/bash" if isinstance(command, str) else None)
    return done.returncode, done.stdout, done.stderr


def prepare(tree, work):
    """A copy of the tree as a git repository, with files of every kind."""
    copy = work / tree.name
    if copy.exists():
        return copy
    subprocess.run(["git", "clone", "-q", "--shared", "--depth", "1", f"file://{tree.resolve()}", copy], check=False, capture_output=True)
    if not (copy / ".git").is_dir() or not any(copy.glob("*")):
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git"), dirs_exist_ok=True)
        subprocess.run(["git", "init", "-q", copy], check=True)
    extra = copy / "extra"
    extra.mkdir(exist_ok=True)
    (copy / ".hidden").mkdir(exist_ok=True)
    (copy / ".hidden" / "notes.txt").write_text("import hidden walrus\nreturn value\n")
    (copy / ".env").write_text("TOKEN=return value\nimport secret\n")
    (copy / "ignored").mkdir(exist_ok=True)
    (copy / "ignored" / "made.txt").write_text("import made walrus\nreturn value here\n")
    with (copy / ".gitignore").open("a") as file:
        file.write("\n/ignored/\n*.log\n")
    (copy / "node_modules" / "x").mkdir(parents=True, exist_ok=True)
    (copy / "node_modules" / "x" / "index.js").write_text("return import value\n" * 5)
    (extra / "run.log").write_text("return from the log\nimport x\n")
    (extra / "binary.bin").write_bytes(b"import\0return\nvalue\n" * 20)
    (extra / "late.bin").write_bytes(b"return value one\n" * 10_000 + b"\0\nimport\n")
    (extra / "crlf.txt").write_bytes(b"import one\r\nreturn two\r\n\r\nvalue\r\n")
    (extra / "latin.txt").write_bytes(b"import first\nreturn caf\xe9 value\nimport second\n")
    (extra / "utf8.txt").write_text("import café\nreturn über value\nÉTÉ import\n", "utf-8")
    (extra / "empty.txt").write_text("")
    (extra / "blank.txt").write_text("\n\n\nreturn\n\n")
    (extra / "no_end.txt").write_text("import without end")
    (extra / "long.txt").write_text("x" * 5_000 + " import " + "y" * 5_000 + "\nreturn\n")
    (extra / "name with space.txt").write_text("return import value\n")
    (extra / "-dash.txt").write_text("return import\n")
    for name in ("crlf.txt", "latin.txt", "utf8.txt", "empty.txt", "blank.txt", "no_end.txt", "long.txt", "name with space.txt", "-dash.txt", "binary.bin", "late.bin", "\u00e9\u00e9 tab\there.txt"):
        if not (extra / name).exists():
            (extra / name).write_text("return import value\n")
        subprocess.run(["git", "-C", copy, "add", "-f", "--", f"extra/{name}"], check=True)
    for name, target in (("link.txt", "utf8.txt"), ("outside", "/etc/hostname"), ("loop", "."), ("broken", "absent")):
        if not (extra / name).is_symlink():
            (extra / name).symlink_to(target)
    return copy


class Generator:
    """Command lines over one tree."""

    def __init__(self, tree, dice):
        self.tree, self.dice = tree, dice
        listed = subprocess.run(["git", "-C", tree, "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
        self.files = [name for name in listed if name and (tree / name).is_file() and " " not in name and name.isascii()]
        self.files += ["extra/" + name.name for name in (tree / "extra").iterdir() if name.is_file()]
        self.directories = sorted({os.path.dirname(name) for name in self.files if "/" in name} - {""})
        self.words, self.lines = ["import", "return", "value"], []
        for name in dice.sample(self.files, min(60, len(self.files))):
            text = (tree / name).read_bytes()[:40_000].decode("utf-8", "replace")
            self.words += re.findall(r"[A-Za-z_]{3,20}", text)[:60]
            self.lines += [line.strip() for line in text.splitlines() if 6 < len(line.strip()) < 60 and line.isprintable()][:20]

    def word(self):
        return self.dice.choice(self.words)

    def pattern(self, extended):
        dice, word = self.dice, self.word
        bar, left, right, plus, question = ("|", "(", ")", "+", "?") if extended else (r"\|", r"\(", r"\)", r"\+", r"\?")
        line = dice.choice(self.lines) if self.lines else "x"
        return dice.choice(
            [
                word,
                word,
                word,
                lambda: f"{word()}{bar}{word()}",
                lambda: f"{word()}{bar}{word()}{bar}{word()}",
                lambda: f"^{word()}",
                lambda: f"{word()}$",
                lambda: f"{word()}.*{word()}",
                lambda: f"{left}{word()}{bar}{word()}{right} *=",
                lambda: rf"\b{word()}\b",
                lambda: rf"\<{word()[:3]}",
                lambda: rf"{word()[:3]}\w*",
                lambda: rf"{word()}\s*{left if not extended else chr(92) + '('}" if extended else rf"{word()}(",
                lambda: f"[A-Z][a-z]{plus}_{word()[0]}",
                lambda: f"[[:space:]]{word()}",
                lambda: f"[^a-z]{word()}",
                lambda: f"{word()}s{question}",
                lambda: r"\." + word(),
                lambda: "^$",
                lambda: "",
                lambda: "*" + word(),
                lambda: word() + "()",
                lambda: word() + "{}",
                lambda: f"{word()[0]}{{2}}" if extended else rf"{word()[0]}\{{2\}}",
                lambda: re.sub(r"[\[\]\\]", ".", line),
                lambda: "é",
                lambda: "zzqqx" + word(),
            ]
        )()

    def operands(self):
        kind = self.dice.random()
        if kind < 0.5:
            return [self.dice.choice(self.files)], False
        if kind < 0.65:
            return self.dice.sample(self.files, min(3, len(self.files))), False
        if kind < 0.9:
            return [self.dice.choice([*self.directories, "extra", ".", "./", "extra/"])], True
        if kind < 0.95:
            return self.dice.sample(self.directories, min(2, len(self.directories))), True
        return ["absent.txt", self.dice.choice(self.files)], False

    def filters(self):
        if self.dice.random() < 0.65:
            return ""
        choice = self.dice.choice
        return " | " + choice(
            ["head -20", "head -5", "head -n 3", "head", "tail -5", "sed -n '1,4p'", "cat", "sort", "sort -u", "uniq", f"grep -v {choice(self.words)}", "wc -l", "tail -n +3", f"grep {choice(self.words)} | wc -l", f"grep -i '{choice(self.words)}\\|x'", f"grep -v {choice(self.words)} | head -4", "head -10 | tail -3", "grep -vE 'import|return'"]
        )

    def grep(self):
        dice = self.dice
        program = dice.choice(["grep"] * 8 + ["egrep", "fgrep"])
        flags, extended, is_perl = [], program == "egrep", False
        if dice.random() < 0.2 and program == "grep":
            flags.append("-E")
            extended = True
        elif dice.random() < 0.25 and program == "grep":
            flags.append("-P")
            is_perl = True
        operands, is_directory = self.operands()
        if is_directory or dice.random() < 0.1:
            flags.append(dice.choice(["-r"] * 5 + ["-R"]))
        if dice.random() < 0.8:
            flags.append("-n")
        for flag, share in (("-i", 0.2), ("-w", 0.1), ("-x", 0.03), ("-v", 0.05), ("-h", 0.04), ("-H", 0.04), ("-s", 0.05), ("-I", 0.1), ("-a", 0.03), ("-F", 0.04), ("--color=never", 0.03)):
            if dice.random() < share:
                flags.append(flag)
        output = dice.random()
        if output < 0.25:
            flags.append(dice.choice(["-c", "-l", "-L", "-o", "-q", "-l", "-c"]))
        elif output < 0.45:
            flags.append(dice.choice(["-A 2", "-B1", "-C 3", "-A3 -B 1", "-2", "--context=1"]))
        elif output < 0.5:
            flags.append(dice.choice(["-m 1", "-m3", "--max-count=2"]))
        if is_directory and dice.random() < 0.4:
            flags.append(dice.choice(["--include=*.py", "--include='*.{rs,go}'", "--include=*.ts --include=*.js", "--exclude=*.md", "--exclude-dir=node_modules", "--exclude-dir=extra", "--include='*.txt'", "--exclude-dir=.git"]))
        pattern = shlex.quote(self.perl() if is_perl else self.pattern(extended))
        parts = [program, *flags, pattern, *(shlex.quote(one) if one[0] != "-" else "./" + one for one in operands)]
        if dice.random() < 0.15:
            parts = [program, pattern, *(shlex.quote(one) for one in operands), *flags]
        return " ".join(parts) + dice.choice(["", "", "", " 2>/dev/null"]) + self.filters()

    def perl(self):
        """A pattern of `-P`; some are left to the program."""
        dice, word = self.dice, self.word
        return dice.choice(
            [
                word,
                lambda: rf"\b{word()}\b",
                lambda: rf"{word()[:3]}\w*",
                lambda: rf"{word()}\s*\(",
                lambda: rf"^\s*({word()}|{word()})\b",
                lambda: rf"{word()}.*?{word()}",
                lambda: rf"(?:{word()}|{word()})\d+",
                lambda: rf"\d{{2,}}",
                lambda: rf"[\w.-]+@[\w.]+",
                lambda: rf"[^\s\w]{word()[:2]}",
                lambda: rf"\W{word()}",
                lambda: rf"\S+{word()[-3:]}$",
                lambda: rf"{word()}(?=\()",
                lambda: rf"(?<!_){word()}",
                lambda: rf"{word()}\K\w+",
                lambda: rf"(\w)\1{word()[:2]}",
                lambda: rf"(?i){word()}",
                lambda: rf"\p{{L}}+{word()[:2]}",
                lambda: rf"{word()[0]}++{word()[1:3]}",
                lambda: rf"[A-Z][a-z]+_?{word()[0]}",
                lambda: r"^\t+\S",
                lambda: r"\bé",
                lambda: r"\s$",
                lambda: r"\x41",
                lambda: r"a{,3}b",
                lambda: r"x{y}",
                lambda: r"caf.",
                lambda: r"\W\w+\W$",
                lambda: r"[\d.]+x?",
                lambda: r"\Bimport\b|return",
                lambda: "zzqqx" + word(),
            ]
        )()

    def git_grep(self):
        dice = self.dice
        flags = []
        if dice.random() < 0.8:
            flags.append("-n")
        kind = dice.choice(["", "", "", "-E", "-F", "-P", "-G"])
        if kind:
            flags.append(kind)
        for flag, share in (("-i", 0.2), ("-w", 0.15), ("-v", 0.04), ("-h", 0.05), ("-H", 0.05), ("-I", 0.1), ("-a", 0.04), ("--untracked", 0.1), ("--cached", 0.08), ("--full-name", 0.1), ("--no-color", 0.05), ("--color=never", 0.05), ("--max-depth 1", 0.04), ("-r", 0.03), ("--heading", 0.03), ("-p", 0.03), ("-z", 0.02)):
            if dice.random() < share:
                flags.append(flag)
        output = dice.random()
        if output < 0.25:
            flags.append(dice.choice(["-c", "-l", "-L", "-o", "-q", "--name-only", "-l"]))
        elif output < 0.45:
            flags.append(dice.choice(["-A 2", "-B1", "-C 3", "-A3 -B 1", "-2", "--context=1"]))
        elif output < 0.52:
            flags.append(dice.choice(["-m 1", "-m3", "--max-count 2"]))
        pattern = self.perl() if kind == "-P" else self.pattern(kind == "-E")
        patterns = [shlex.quote(pattern)]
        if dice.random() < 0.12:
            patterns = ["-e", shlex.quote(pattern), *dice.choice([["-e", self.word()], ["--and", "-e", self.word()], ["--or", "-e", self.word()], ["--and", "--not", "-e", self.word()], ["--all-match", "-e", self.word()]])]
        paths = dice.choice([[], [], [], [dice.choice(self.files)], [dice.choice([*self.directories, "extra"])], ["--", dice.choice([*self.directories, "extra"])], ["--", "*.py"], ["--", "'*.rs'", "'*.go'"], ["--", "':!*.md'"], ["HEAD"], ["HEAD", "--", "extra"], ["absent"], ["--", "absent"], ["--", "':(exclude)extra'", "."]])
        git = dice.choice(["git"] * 8 + ["git --no-pager", f"git -C {dice.choice([*self.directories, 'extra'])}"])
        if git.startswith("git -C"):
            paths = dice.choice([[], [], ["--", "."], ["--", "'*.txt'"], [".."]])
        return " ".join([git, "grep", *flags, *patterns, *paths]) + dice.choice(["", "", "", " 2>/dev/null"]) + self.filters()

    def silver(self):
        dice = self.dice
        flags = []
        for flag, share in (("-i", 0.2), ("-s", 0.15), ("-S", 0.1), ("-Q", 0.1), ("-w", 0.15), ("--nocolor", 0.15), ("--nogroup", 0.1), ("--hidden", 0.12), ("-u", 0.08), ("-a", 0.06), ("-t", 0.06), ("-U", 0.08), ("-v", 0.03), ("-C 2", 0.05), ("-o", 0.03), ("--py", 0.03)):
            if dice.random() < share:
                flags.append(flag)
        if dice.random() < 0.3:
            flags.append(dice.choice(["-c", "-l", "-L", "-l", "--count", "--files-with-matches"]))
        operands, _ = self.operands()
        if dice.random() < 0.35:
            operands = dice.choice([[], ["."], ["./"], [str(self.tree)]])
        pattern = shlex.quote(self.pattern(True) or "x")
        return " ".join(["ag", *flags, pattern, *(shlex.quote(one) if one[0] != "-" else "./" + one for one in operands)]) + self.filters()

    def line(self, at):
        """Lines of all programs in turn."""
        return [self.grep, self.ripgrep, self.grep, self.git_grep, self.grep, self.silver, self.ripgrep, self.git_grep][at % 8]()

    def ripgrep(self):
        dice = self.dice
        operands, _ = self.operands()
        if dice.random() < 0.3:
            operands = ["."]
        flags = []
        if dice.random() < 0.85:
            flags.append("-n")
        for flag, share in (("-i", 0.1), ("-S", 0.2), ("-w", 0.1), ("-v", 0.03), ("-F", 0.08), ("--no-heading", 0.1), ("--hidden", 0.08), ("-u", 0.04), ("-uu", 0.04), ("--no-ignore", 0.05), ("-H", 0.04), ("-I", 0.03), ("--color never", 0.05)):
            if dice.random() < share:
                flags.append(flag)
        output = dice.random()
        if output < 0.25:
            flags.append(dice.choice(["-c", "-l", "--files-without-match", "-o", "-q", "-l"]))
        elif output < 0.4:
            flags.append(dice.choice(["-A 2", "-B1", "-C 3"]))
        elif output < 0.45:
            flags.append("-m 2")
        if dice.random() < 0.25:
            flags.append(dice.choice(["-g '*.py'", "-g '*.rs' -g '*.go'", "-g '!*.md'", "-t py", "-t rust", "-T md", "-g 'extra/**'", "--max-depth 2", "-g '*.{ts,js}'"]))
        parts = ["rg", *flags, shlex.quote(self.pattern(True)), *(shlex.quote(one) for one in operands)]
        return " ".join(parts) + self.filters()


def counted(text):
    """`a.rs 3, src/net/ 8` as a dictionary."""
    return {name: int(number) for name, number in re.findall(r"(.+?) (\d+)(?:, |$)", text)}


def shown_and_counted(text, expected):
    """Removes the (file, line) pairs that the answer shows. Returns those left, what it counts by file, and what does not fit."""
    left, wrong, counts = collections.Counter(expected), [], collections.Counter()
    paths = {path for path, _ in expected}
    lines_of = collections.defaultdict(set)
    for path, number in expected:
        lines_of[path].add(number)
    path, inside = None, None
    has_context = text.split("\n", 1)[0].endswith(", with context")
    texts = iter(text.split("\n"))
    for line in texts:
        if re.match(r"^\d*\t", line) and path:
            # A function that is shown whole: every line has a number, which is written at some of them.
            inside = int(line.split("\t")[0] or inside + 1)
            if inside in lines_of[path]:
                left[path, inside] = 0
            continue
        inside = None
        if rest := REST.match(line) or HIDDEN.match(line):
            counts.update(counted(rest.group(rest.lastindex)))
        elif EQUAL.match(line):
            for place in next(texts).split(", "):
                name, _, number = place.rpartition(":")
                left[name, int(number)] -= 1
        elif listed := LISTED.match(line) or has_context and CONTEXT.match(line):
            key = (path, int(listed[1]))
            if left[key] > 0:
                left[key] -= 1
            else:
                wrong.append(f"not in the original: {key}")
        elif more := MORE.match(line):
            counts[path] += int(more[1])
        elif line in paths:
            path = line
    wrong += [f"shown twice: {key}" for key, number in left.items() if number < 0]
    return left, counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("trees", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=400, help="command lines for each tree and locale")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    docent, kinds, deviations = os.path.abspath(args.docent), collections.Counter(), 0
    for tree in args.trees:
        copy = prepare(tree, args.work)
        for locale in ("C.UTF-8", "C"):
            environment = {"PATH": os.environ["PATH"], "HOME": str(args.work), "LC_ALL": locale}
            make = Generator(copy, random.Random(f"{args.seed} {tree.name} {locale}"))
            for at in range(args.count):
                line = make.line(at)
                outcome = check(docent, line, copy, environment)
                kinds[kind_of(line), outcome if outcome in ("same", "left alone") else "deviates"] += 1
                if outcome not in ("same", "left alone"):
                    deviations += 1
                    print(f"{copy.name} {locale}: {line}\n    {outcome}")
    for (kind, outcome), number in sorted(kinds.items()):
        print(f"{kind}: {number} {outcome}")
    print(f"{sum(kinds.values())} lines, {deviations} deviations")
    sys.exit(1 if deviations else 0)


def kind_of(line):
    words = line.split()
    if words[0] == "git":
        return "git grep"
    return "grep -P" if words[0] == "grep" and "-P" in words else words[0]


def check(docent, line, directory, environment):
    status, rewritten, _ = run([docent, "rewrite", "--", line], directory, environment)
    if status != 0:
        return "left alone"
    command = rewritten.decode("utf-8", "surrogateescape").rstrip("\n")
    expected_status, expected, original_error = run(line, directory, environment)
    plain_command = re.sub(r"^(\S+) sh ", rf"{docent} sh --plain ", command)
    plain_status, plain, error = run(plain_command, directory, environment)
    # Older versions of grep have other words, and messages about escapes are not repeated.
    messages = [[one for one in text.split(b"\n") if one and b"warning" not in one] for text in (original_error, error)]
    if line.lstrip().startswith(("grep", "egrep", "fgrep", "git")) and "2>" not in line and sorted(messages[0]) != sorted(messages[1]):
        return f"messages {messages[1][:2]} instead of {messages[0][:2]}"
    if expected_status != plain_status:
        return f"status {plain_status} instead of {expected_status} {error.decode(errors='replace')[:200]!r}"
    hidden = hidden_lines(expected, line)
    wanted, got = [one for one in expected.split(b"\n") if one not in hidden], plain.split(b"\n")
    if line.startswith("ag "):
        # Its threads have an order of their own.
        if re.search(r"\| (head|tail|sed|uniq|.*head)", line):
            return "same" if len(wanted) == len(got) or hidden or "uniq" in line else f"{len(got)} lines instead of {len(wanted)}"
        wanted, got = sorted(wanted), sorted(got)
    if line.startswith("rg") or " rg " in line:
        # ripgrep finds a late NUL byte sooner or later, by the buffers that its threads have; and its order is its own.
        if "late.bin" in line or b"late.bin" in expected + plain or (b"binary file matches" in original_error + error):
            return "same"
        if "|" in line and re.search(r"\| (head|tail|sed)", line):
            return "same" if len(wanted) == len(got) or hidden else f"{len(got)} lines instead of {len(wanted)}"
        wanted, got = sorted(one for one in wanted if one != b"--"), sorted(one for one in got if one != b"--")
    status, answer, _ = run(re.sub(r"^\S+ sh ", f"{docent} sh ", command), directory, environment)
    # Without names, lines of files that are not shown cannot be told from the others.
    is_explained = b"not shown, because" in answer and not collections.Counter(got) - collections.Counter(wanted)
    if wanted != got and not is_explained:
        return difference(wanted, got)
    if status != expected_status:
        return f"status {status} instead of {expected_status} when shortened"
    return compare_shortened(expected, answer, command)


# A name with a control character, which git quotes.
CONTROL = re.compile(rb"tab(\t|\\\\t)here")
BLOCKED = re.compile(rb"(^|/)(\.env|\.npmrc|node_modules|\.git|outside|secrets|[^/]*\.(key|pem|p12|pfx))(/|$)|(^|/)(id_rsa|credentials(?![^/]*\.(rb|py|rs|go|ts|js|java|sh)$))")


def hidden_lines(output, line):
    """Lines of files that docent does not show. Names and counts of files are shown."""
    if re.search(r" (-l|-c|-L|-q|--files-without-match)( |$)", line):
        return set()
    paths = ((one, re.match(rb"^(.+?)(?:[:-]\d+[:-]|:)", one)) for one in output.split(b"\n"))
    return {one for one, path in paths if path and (BLOCKED.search(path[1]) or CONTROL.search(path[1]))}


def difference(wanted, got):
    in_wanted, in_got = set(wanted), set(got)
    missing = [line for line in wanted if line not in in_got][:2]
    extra = [line for line in got if line not in in_wanted][:2]
    return f"missing {[one[:150] for one in missing]} extra {[one[:150] for one in extra]} ({len(wanted)} and {len(got)} lines)"


def compare_shortened(expected, answer, command):
    text, original = answer.decode("utf-8", "replace"), expected.decode("utf-8", "replace")
    if original and not text:
        return "the shortened answer is empty"
    first = text.split("\n", 1)[0]
    if not HEADING.match(first):
        return "same"
    lines = original.removesuffix("\n").split("\n")
    search = re.sub(r"--then ('[^']*'|\S+)|\| *(head|tail|sed|grep|sort|uniq|cat|wc)\b.*$", "", command)
    has_context = bool(re.search(r" (-[A-Za-z]*[ABC] ?\d|--context|--before-context|--after-context|-\d)", search))
    pairs, name = printed_pairs(lines, has_context)
    if name is not None:
        # The answer names the file, which the program does not.
        name = text.split("\n")[1 + text.startswith("defined") + text.count("\ndefined: ")]
        pairs = [(name, number) for _, number in pairs]
    if not pairs:
        return "same"
    if not re.search(r" -\w*n|--line-number", command) or re.search(r" -\w*[hI]\w* ", command):
        # Without names or numbers, only the sums can be compared.
        numbers = sum(bool(LISTED.match(line)) for line in text.split("\n"))
        return "same" if numbers <= len(lines) else f"shortened: {numbers} lines of {len(lines)}"
    left, counts, wrong = shown_and_counted(text, pairs)
    if wrong:
        return f"shortened: {wrong[0]}"
    by_name = collections.Counter()
    for (path, _), number in left.items():
        by_name[path] += number
    if sum(counts.values()) != sum(by_name.values()):
        return f"shortened: {sum(counts.values())} counted, {sum(by_name.values())} not shown"
    for name, number in counts.items():
        inside = sum(of for path, of in by_name.items() if path == name or name.endswith("/") and path.startswith(name) or name == "./")
        if inside < number:
            return f"shortened: {number} counted for {name}, {inside} not shown"
    return "same"


def printed_pairs(lines, has_context):
    """The (file, line) pairs that a program has printed with numbers. The second value is "" if it names no file."""
    mark = "[:-]" if has_context else ":"
    lines = [line for line in lines if not (has_context and line == "--")]
    if all(re.match(rf"^\d+{mark}", line) for line in lines):
        return [("", int(re.match(r"^\d+", line)[0])) for line in lines], ""
    paths = {found[1] for line in lines if (found := re.match(r"^(.*?):(\d+):", line))}
    if not has_context:
        return [(found[1], int(found[2])) for line in lines if (found := re.match(r"^(.*?):(\d+):", line))], None
    is_context_of = lambda path, line: line.startswith(path + "-") and re.match(r"\d+-", line[len(path) + 1 :])
    # The text of a context line may look like a match.
    paths = {path for path in paths if not any(is_context_of(other, path + "-") for other in paths)}
    pairs = []
    for line in lines:
        found = re.match(r"^(.*?):(\d+):", line)
        if found and found[1] in paths:
            pairs.append((found[1], int(found[2])))
        elif owners := [path for path in paths if is_context_of(path, line)]:
            path = max(owners, key=len)
            pairs.append((path, int(re.match(r"\d+", line[len(path) + 1 :])[0])))
    return pairs, None


if __name__ == "__main__":
    main()
