"""Compares `docent sh` with find, fd, rg --files, tree and ls -R on real projects.

    python3 eval/shell/find_lines.py --docent target/debug/docent --work /tmp/find-lines TREE…

Copies each TREE below --work once, adds hidden, ignored and awkward files to the copy, generates command lines
from the names that are in it, and runs every line twice: by the program and by `docent sh`. A line passes if exit
status and messages are equal, and if the answer is the program's byte for byte, or if what it shows and counts is
the program's list: every path once, every directory's count right, and no more characters than the program's. (Behind
`sort` and `uniq`, `tree` and `ls -R` are checked for exit status, messages and length only.)
Needs find, rg, tree and fd (also found as fdfind). Prints deviations, and sums by program; exits 1 on a deviation.
"""

import argparse
import codecs
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

AWKWARD = ["sp ace.txt", 'qu"ote.py', "it's.py", "back\\slash.py", "new\nline.py", "tab\there.rs", "é.ts", "dir:", "->",
           "…", "UPPER.PY", ".hidden.py", "[x].py", "star*.js", "two  blanks.md"]
LIMIT = 300


def prepare(tree, work):
    copy = work / tree.name
    if copy.exists():
        return copy
    shutil.copytree(tree, copy, symlinks=True)
    odd = copy / "odd names"
    for directory in [odd, odd / ".hid", copy / "node_modules" / "left" / "lib", copy / "empty" / "inner",
                      copy / ".cache" / "v1", copy / "dist", copy / "ignored_by_rule"]:
        directory.mkdir(parents=True, exist_ok=True)
    for name in AWKWARD:
        (odd / name).write_text("x\n")
    (Path(os.fsdecode(os.fsencode(odd) + b"/bad\xff.py"))).write_text("")
    for at in range(400):
        (copy / "node_modules" / "left" / "lib" / f"mod{at}.js").write_text("")
        (copy / "dist" / f"chunk.{at}.py").write_text("")
    for at in range(30):
        (copy / ".cache" / "v1" / f"entry{at}.py").write_text("1234567890" * at)
        (copy / "ignored_by_rule" / f"out{at}.rs").write_text("")
    (copy / ".ignore").write_text("ignored_by_rule/\n*.map\n")
    with open(copy / ".gitignore", "a") as file:
        file.write("\nnode_modules/\ndist/\n")
    (copy / "broken").symlink_to("nowhere")
    (copy / "odd names" / "loop").symlink_to("..")
    deep = copy / "deep"
    for at in range(60):
        deep = deep / f"level{at}"
    deep.mkdir(parents=True)
    (deep / "end.py").write_text("")
    return copy


class Names:
    """Names of a project that command lines are made of."""

    def __init__(self, root):
        self.directories, self.files = [], []
        for place, directories, files in os.walk(root):
            directories[:] = [name for name in directories if name != ".git"]
            relative = os.path.relpath(place, root)
            self.directories += [os.path.normpath(os.path.join(relative, name)) for name in directories]
            self.files += files
        is_plain = re.compile(r"^[\w.@-]+$", re.ASCII)
        self.files = sorted(name for name in self.files if is_plain.match(name))
        self.directories = sorted(path for path in self.directories if re.match(r"^[\w./@-]+$", path, re.ASCII))
        endings = Counter(os.path.splitext(name)[1][1:] for name in self.files)
        self.endings = [ending for ending, _ in endings.most_common(8) if ending]


def find_line(names, pick):
    file, directory, ending = pick(names.files), pick(names.directories), pick(names.endings)
    base = os.path.basename(directory)
    stem = file.split(".")[0] or file
    where = pick([["."], ["."], [directory], [directory + "/"], ["./" + directory], [directory, pick(names.directories)],
                  [], ["nope", directory], ["odd names"], ["odd names/loop"], ["broken"], [file]])
    tests = {
        "name": lambda: ["-name", pick([f"*.{ending}", file, f"*{stem}*", f"{stem}*", "*", "?[a-m]*", f"*.[{ending[0]}]*",
                                         "[!a-z]*", ".*", "*[[:digit:]]*", "*\\.py", "b?d*", "?.ts", "*e", base,
                                         ".", "odd*", "*'*", '*"*', "*\\\\*", "[[]*", "*[*]*", "*/*"])],
        "iname": lambda: ["-iname", pick([f"*.{ending.upper()}", file.swapcase(), "readme*", "*TEST*", "upper.py"])],
        "path": lambda: ["-path", pick([f"*/{base}/*", f"./{directory}/*", f"{directory}*", "*test*", "*/.*", "*odd*",
                                         "./node_modules*", "*level1?/*"])],
        "type": lambda: ["-type", pick(["f", "d", "l", "f", "f,l"])],
        "size": lambda: ["-size", pick(["+10k", "-2k", "0", "1", "+100c", "-1M", "8", "+5w"])],
        "empty": lambda: ["-empty"],
        "notgit": lambda: ["-not", "-path", "*/.git/*"],
        "notmods": lambda: ["!", "-path", pick(["*/node_modules/*", "./dist/*", "./.*"])],
        "or": lambda: ["(", "-name", f"*.{ending}", "-o", "-name", f"*.{pick(names.endings)}", ")"],
        "age": lambda: pick([["-mtime", "-1"], ["-mtime", "+3"], ["-mmin", "-100000"], ["-mtime", "0"]]),
        "regex": lambda: pick([["-regex", f".*\\.\\({ending}\\|py\\)"], ["-regextype", "posix-extended", "-regex",
                                f".*/[a-d][a-z_]*\\.({ending}|md)$"]]),
    }
    depth = pick([[], [], ["-maxdepth", str(pick([0, 1, 2, 3]))], ["-mindepth", "2"], ["-mindepth", "1", "-maxdepth", "1"]])
    chosen = [word for test in random.sample(list(tests), pick([0, 1, 1, 2, 2, 3])) for word in tests[test]()]
    shape = pick(["plain"] * 8 + ["prune", "prune", "printf", "quit", "two"])
    if shape == "prune":
        skip = pick(["node_modules", base, ".git"])
        chosen = pick([["-name", skip, "-prune", "-o", *(chosen or ["-true"]), "-print"],
                       ["-path", f"./{skip}", "-prune", "-o", *(chosen or ["-true"]), "-print"],
                       ["(", "-name", skip, "-o", "-name", "dist", ")", "-prune", "-o", "-type", "f", "-print"]])
    elif shape == "printf":
        chosen += ["-printf", pick(["%p\\n", "%f\\n", "%P\\t%s\\n", "%d %p\\n", "%%%f\\\\\\n"])]
    elif shape == "quit":
        chosen += ["-print", "-quit"]
    elif shape == "two":
        chosen = (chosen or ["-true"]) + ["-o", "-name", file]
    return ["find", *where, *depth, *chosen]


def fd_line(names, pick):
    file, directory, ending = pick(names.files), pick(names.directories), pick(names.endings)
    stem = re.sub(r"\W", "", file.split(".")[0]) or "x"
    words = []
    for flag in random.sample(["t", "e", "I", "HI", "E", "d", "a", "i", "min", "vcs"], pick([0, 1, 1, 2, 3])):
        words += {"t": ["-t", pick(["f", "d", "l"])], "e": ["-e", ending], "I": ["-I"], "HI": ["-HI"], "i": ["-i"],
                  "E": ["-E", pick(["*." + ending, "dist", "tests"])], "d": ["-d", str(pick([1, 2, 3]))], "a": ["-a"],
                  "min": ["--min-depth", "2"], "vcs": ["--no-ignore-vcs"]}[flag]
    pattern = pick([[], [stem], [stem[:3]], [f"^{stem[0]}"], [f"\\.{ending}$"], ["."], ["-g", f"*.{ending}"], ["TEST"],
                    ["-F", f".{ending}"], ["[a-c]x"], ["zzznothing"], ["entry|chunk"]])
    where = pick([[], [], [directory], ["."], [directory + "/"], ["nope", directory]]) if pattern else []
    return ["fd", *words, *pattern, *where]


def rg_line(names, pick):
    directory, ending = pick(names.directories), pick(names.endings)
    words = []
    for flag in random.sample(["h", "g", "n", "u", "t", "d", "ng", "sort"], pick([0, 1, 1, 2])):
        words += {"h": ["--hidden"], "g": ["-g", pick([f"*.{ending}", f"**/test*/**", "dist/**", f"*{directory[:3]}*"])],
                  "n": ["--no-ignore"], "u": ["-uu"], "t": ["-t", pick(["rust", "go", "java", "yaml", "html"])],
                  "d": ["--max-depth", "2"], "ng": ["-g", "!" + pick(["*." + ending, "tests", ".git"])],
                  "sort": ["--sort", "path"]}[flag]
    return ["rg", "--files", *words, *pick([[], [], [directory], ["."], ["nope"], [directory + "/"]])]


def tree_line(names, pick):
    directory, ending = pick(names.directories), pick(names.endings)
    words = []
    for flag in random.sample(["L", "a", "d", "I", "P", "f", "i", "first", "no"], pick([0, 1, 1, 2, 3])):
        words += {"L": ["-L", str(pick([1, 2, 3]))], "a": ["-a"], "d": ["-d"], "f": ["-f"], "i": ["-i"],
                  "I": ["-I", pick(["node_modules|.git", "node_modules", f"*.{ending}|dist", "test*", "*"])],
                  "P": ["-P", pick([f"*.{ending}", "*test*", "?????.*"])], "first": ["--dirsfirst"],
                  "no": ["--noreport"]}[flag]
    return ["tree", *words, *pick([[], [directory], [directory + "/"], ["."], ["odd names"], ["nope"], ["empty"],
                                   ["empty/inner", directory], ["odd names/loop"]])]


def ls_line(names, pick):
    directory = pick(names.directories)
    flag = pick(["-R", "-R", "-aR", "-AR", "-1R"])
    return ["ls", flag, *pick([[directory], [directory], ["odd names"], [directory + "/", "nope"], ["empty"], ["."],
                               ["broken", "odd names/loop"]])]


FILTERS = [["head", "-20"], ["head", "-5"], ["tail", "-30"], ["sed", "-n", "1,40p"], ["sort"], ["sort", "-u"], ["uniq"],
           ["cat"], ["head", "-n", "100"]]


def generate(names, count, seed):
    random.seed(seed)
    pick = random.choice
    makers = [find_line] * 10 + [fd_line] * 3 + [rg_line] * 2 + [tree_line] * 3 + [ls_line]
    for _ in range(count):
        maker = pick(makers)
        # Threads of fd and rg find files in an order of their own, of which a filter would take any part.
        some = FILTERS if maker in (find_line, tree_line, ls_line) else [["sort"], ["cat"]]
        yield maker(names, pick), [pick(some)] if random.random() < 0.3 else []


UNQUOTE = re.compile(r'\\(u\{[0-9a-f]+\}|x[0-9a-f]{2}|.)', re.S)


def unquote(text):
    out, at = b"", 0
    for match in UNQUOTE.finditer(text):
        out += text[at:match.start()].encode()
        code = match.group(1)
        if code.startswith("u{"):
            out += chr(int(code[2:-1], 16)).encode()
        elif code.startswith("x") and len(code) == 3:
            out += bytes([int(code[1:], 16)])
        else:
            out += {"n": b"\n", "t": b"\t"}.get(code, code.encode())
        at = match.end()
    return out + text[at:].encode()


TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(:?)|(\S+)')


def tokens(line):
    """Words of a line: the text, whether it was quoted, and whether a colon ends it."""
    for match in TOKEN.finditer(line):
        if match.group(3) is None:
            yield unquote(match.group(1)), True, bool(match.group(2))
        else:
            word = match.group(3)
            ends = word.endswith(":")
            yield word.removesuffix(":").encode(), False, ends


def normal(path):
    while path.startswith(b"./") and len(path) > 2:
        path = path[2:]
    return b"" if path == b"./" else path


def parse_answer(text):
    """Shown paths, counts by directory of a line, and counts of the last line."""
    shown, capped, tail, total = Counter(), {}, {}, 0
    for line in text.splitlines():
        words = list(tokens(line))
        if not words[0][1] and words[0][0] == "…".encode():
            total = int(words[1][0])
            for part in line.split(": ", 1)[1].split(", "):
                (directory, _, _), (count, _, _) = list(tokens(part))
                tail[normal(directory)] = int(count)
            continue
        if not words[0][2]:
            path, rest = words[0][0], words[1:]
            if rest:
                assert rest[0][:2] == (b"->", False) and len(rest) == 2, line
                path += b" -> " + rest[1][0]
            shown[normal(path)] += 1
            continue
        directory, at = normal(words[0][0]), 1
        while at < len(words):
            word, is_quoted, _ = words[at]
            if word == "…".encode() and not is_quoted:
                assert words[at + 2][0] == b"more" and at + 3 == len(words), line
                capped[directory] = int(words[at + 1][0])
                break
            name = word
            at += 1
            if at < len(words) and words[at][:2] == (b"->", False):
                name += b" -> " + words[at + 1][0]
                at += 2
            shown[directory + name] += 1
    assert total == sum(tail.values()), "the total is not the sum"
    return shown, capped, tail


def check_counts(entries, text):
    shown, capped, tail = parse_answer(text)
    missing = entries - shown
    if shown - entries:
        return f"shown but not listed: {list((shown - entries))[:3]}"
    direct, counted = Counter(), Counter()
    for path, count in missing.items():
        inner = path.split(b" -> ")[0].rstrip(b"/") or path
        directory = inner[:inner.rfind(b"/") + 1]
        if directory in capped:
            direct[directory] += count
            continue
        prefixes = [prefix for prefix in tail if directory.startswith(prefix)]
        if not prefixes:
            return f"neither shown nor counted: {path}"
        counted[max(prefixes, key=len)] += count
    if direct != Counter(capped):
        return f"counts of lines differ: {dict(direct)} {capped}"
    if counted != Counter(tail):
        return f"counts of the last line differ: {dict(counted)} {tail}"
    return None


def unescape(text):
    """The name behind a line of tree, which escapes blanks too if the name is not a text of the locale."""
    if re.search(rb"\\[23][0-7]{2}", text):
        return codecs.escape_decode(text.replace(b"\\ ", b" "))[0]
    return re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match.group(1), 8)]), text)


def take(lines, command, report):
    """The lines that a filter leaves of those of an output that `report` more lines follow. None if unknown."""
    if command in (["cat"], []):
        return lines
    if command[0] == "head":
        return lines[:int(command[-1].lstrip("-"))]
    if command[0] == "sed":
        return lines[:int(command[-1][2:-1])]
    if command[0] == "tail":
        kept = int(command[-1].lstrip("-")) - report
        return lines[-kept:]
    return None


def tree_entries(words, root, command):
    """The leaves that `tree` or `ls -R` shows, from its output in machine form. None if that has other lines."""
    entries = []
    place = os.fsencode(root)
    if words[0] == "tree":
        plain = [word for word in words if word not in ("-f", "-i", "--noreport")]
        out = subprocess.run([*plain, "-f", "-i", "--noreport"], cwd=root, capture_output=True).stdout
        lines = take(out.splitlines(), command, 0 if "--noreport" in words else 2)
        if lines is None:
            return None
        for line in lines:
            line = unescape(line.removesuffix(b"  [error opening dir]"))
            path, arrow, target = line.partition(b" -> ")
            if arrow and os.path.islink(os.path.join(place, path)):
                entries.append(path + arrow + target)
            else:
                entries.append(line.rstrip(b"/") + b"/" if os.path.isdir(os.path.join(place, line)) else line)
    else:
        section = b""
        out = subprocess.run([*words, "--quoting-style=c"], cwd=root, capture_output=True).stdout
        lines = take(out.splitlines(), command, 0)
        if lines is None or (command not in (["cat"], []) and b"\\n" in out):
            return None
        # The directory of names whose heading was cut off.
        for line in out.splitlines()[:out.splitlines().index(lines[0])] if command[:1] == ["tail"] else []:
            if line.endswith(b":"):
                section = codecs.escape_decode(line[1:-2])[0].rstrip(b"/") + b"/"
        for line in lines:
            if not line:
                continue
            name = codecs.escape_decode(line.removesuffix(b":")[1:-1])[0]
            if line.endswith(b":"):
                section = name if name.endswith(b"/") else name + b"/"
                entries.append(section)
            elif name not in (b".", b".."):
                path = os.path.join(place, section + name)
                is_directory = os.path.isdir(path) and not os.path.islink(path)
                entries.append(section + name + (b"/" if is_directory else b""))
    parents = set()
    for path in entries:
        inner = path.split(b" -> ")[0].rstrip(b"/")
        while b"/" in inner:
            inner = inner[:inner.rfind(b"/")]
            parents.add(inner + b"/")
    return Counter(normal(path) for path in set(entries) if path not in parents)


def program(words):
    name = words[0]
    if name == "fd" and not shutil.which("fd"):
        name = "fdfind"
    return [name, *words[1:]]


def quoted(words):
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


def check_line(docent, root, words, filters, locale):
    """None for a line that is refused; else a deviation (or ''), and the characters of both."""
    environment = os.environ | {"LC_ALL": locale}
    shell = quoted(program(words)) + "".join(" | " + quoted(each) for each in filters)
    original = subprocess.run(["bash", "-c", shell], cwd=root, capture_output=True, stdin=subprocess.DEVNULL,
                              env=environment)
    then = [word for each in filters for word in ("--then", " ".join("'" + w + "'" if "," in w else w for w in each))]
    answer = subprocess.run([docent, "sh", *then, *words], cwd=root, capture_output=True, stdin=subprocess.DEVNULL,
                              env=environment)
    if answer.stderr.startswith(b"docent sh: "):
        return None
    sizes = (len(original.stdout.decode(errors="replace")), len(answer.stdout.decode(errors="replace")))
    if original.returncode != answer.returncode:
        return f"exit {original.returncode} != {answer.returncode}", *sizes
    # The messages of ripgrep differ from version to version.
    is_same = bool(original.stderr) == bool(answer.stderr) if words[0] == "rg" else original.stderr == answer.stderr
    if not is_same:
        return f"messages differ: {original.stderr!r} {answer.stderr!r}", *sizes
    if original.stdout == answer.stdout or (not original.stdout and answer.stdout.startswith(b"nothing found; ")):
        return "", *sizes
    if words[0] in ("fd", "rg") and sorted(original.stdout.split(b"\n")) == sorted(answer.stdout.split(b"\n")):
        return "", *sizes
    if sizes[0] <= LIMIT:
        return f"a short answer differs: {original.stdout!r} {answer.stdout!r}", *sizes
    if sizes[1] >= sizes[0]:
        return "the answer is longer", *sizes
    if words[0] in ("tree", "ls"):
        entries = tree_entries(words, root, filters[0] if filters else [])
        if entries is None:
            return "", *sizes
    else:
        entries = Counter(normal(line) for line in original.stdout.removesuffix(b"\n").split(b"\n"))
    try:
        return check_counts(entries, answer.stdout.decode()) or "", *sizes
    except (AssertionError, IndexError, ValueError) as error:
        return f"unreadable: {error!r}", *sizes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docent", type=os.path.abspath, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--count", type=int, default=250, help="command lines for each tree")
    parser.add_argument("--refused", action="store_true", help="print the lines that are refused")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("trees", nargs="+", type=Path)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    sums = defaultdict(Counter)
    deviations = 0
    for tree in options.trees:
        root = prepare(tree.resolve(), options.work)
        for words, filters in generate(Names(root), options.count, options.seed):
            locale = random.choice(["C.UTF-8"] * 4 + ["C"])
            result = check_line(options.docent, root, words, filters, locale)
            sums[words[0]]["lines"] += 1
            if result is None:
                if options.refused:
                    print(f"refused: {quoted(words)}")
                sums[words[0]]["refused"] += 1
                continue
            deviation, before, after = result
            if before > LIMIT:
                sums[words[0]]["long"] += 1
                sums[words[0]]["before"] += before
                sums[words[0]]["after"] += after
            if deviation:
                deviations += 1
                print(f"{tree.name}: {locale} {quoted(words)} {filters}\n    {deviation[:600]}")
    for name, counts in sorted(sums.items()):
        ratio = counts["after"] / counts["before"] if counts["before"] else 1
        print(f"{name:5} lines {counts['lines']:5}  refused {counts['refused']:4}  over {LIMIT} characters "
              f"{counts['long']:4}: {counts['before']} -> {counts['after']} ({ratio:.3f})")
    print(f"deviations: {deviations}")
    sys.exit(1 if deviations else 0)


if __name__ == "__main__":
    main()
