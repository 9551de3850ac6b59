"""Fix commits and the functions they changed: chooses them, and recreates checkouts and questions from mirrors.

    python3 eval/agent/run.py tasks choose MIRRORS      # writes tasks.jsonl
    python3 eval/agent/run.py tasks prepare MIRRORS WORK    # checkouts and questions, below WORK

MIRRORS has a bare repository OWNER+NAME/repo for each project. A checkout has the history before the first chosen commit and no
later object. Questions are texts of other projects, so they are made from the mirrors and never stored here.
"""

import json
import pathlib
import random
import re
import subprocess

from definitions import GRAMMARS, enclosing, extension_of, functions

HERE = pathlib.Path(__file__).resolve().parent
SINCE = "2026-03-01"
PER_REPOSITORY = 17
MAX_FUNCTIONS = 4
MAX_FILES = 3
# Most commits of history first. A mirror may lack the largest files of old commits, so fewer follow.
HISTORY = (2000, 1000, 500, 200, 50)
REPOSITORIES = [
    "celery/celery",
    "gohugoio/hugo",
    "hashicorp/terraform",
    "jj-vcs/jj",
    "pandas-dev/pandas",
    "spring-projects/spring-boot",
    "vitejs/vite",
    "vuejs/core",
]
FIX = re.compile(r"\b(fix(es|ed|ing)?|bug|regression|panic|crash(es|ed)?|prevent|avoid|correct(ly)?|handle|leak|race)\b|^\S+: (fix|do not|don't)", re.I)
IDLE = re.compile(
    r"^(merge|bump|release|revert|docs?|ci|tests?|style|build|chore|typ)\b|^(DOC|TST|CI|TYP|CLN|BLD|STY)\b"
    r"|\b(typos?|changelog|readme|lint(er)?|flak(y|ey)|spelling|clippy|javadoc|docstring|comment|test failure|dependenc(y|ies)|mock|implement|support)\b",
    re.I,
)
ASIDE = re.compile(
    r"(^|/)(tests?|testing|testdata|testutil|testdoubles|spec|specs|__tests__|playground|examples?|docs?|vendor|bench(es|marks)?|packages-private)(/|$)"
    r"|[._-](test|spec)s?\.|_test\.|(^|/)test_|Tests?\.java$|smoke-test|asv_bench",
    re.I,
)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def git(repository, *words):
    return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True, errors="replace").stdout


def mirror_of(mirrors, name):
    return pathlib.Path(mirrors) / name.replace("/", "+") / "repo"


def short_name(name):
    return name.partition("/")[2]


def changed_lines(repository, commit):
    """For each changed file: the lines before and after the commit that its hunks touch."""
    path, found = None, {}
    for line in git(repository, "show", "--no-renames", "-U0", "--format=", commit).splitlines():
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") else None
        elif path and (match := HUNK.match(line)):
            start, count = int(match[1]), int(match[2] or 1)
            found.setdefault(path, []).append((start, max(count, 1)))
    return found


class Project:
    """One mirror, and the commit that all its questions are asked at."""

    def __init__(self, mirrors, name):
        self.name = name
        self.repository = mirror_of(mirrors, name)
        self.base = git(self.repository, "rev-list", "--first-parent", "--max-count=1", f"--before={SINCE}", "HEAD").strip()
        self.there = set(git(self.repository, "ls-tree", "-r", "--name-only", self.base).splitlines())
        self.at_base = {}

    def file(self, commit, path):
        return git(self.repository, "show", f"{commit}:{path}")

    def base_functions(self, path):
        if path not in self.at_base:
            text = self.file(self.base, path)
            self.at_base[path] = text.splitlines(), functions(text, extension_of(path))
        return self.at_base[path]

    def targets(self, commit):
        """The functions that the commit changed, as they are at the base, or `None` if one of them is not there."""
        code = {
            path: hunks
            for path, hunks in changed_lines(self.repository, commit).items()
            if extension_of(path) in GRAMMARS and not ASIDE.search(path)
        }
        if not 1 <= len(code) <= MAX_FILES or any(path not in self.there for path in code):
            return None
        found = {}
        for path, hunks in code.items():
            before = functions(self.file(f"{commit}^", path), extension_of(path))
            names = {one.name for start, count in hunks for line in range(start, start + count) if (one := enclosing(before, line)) and not one.name.startswith("test_")}
            after_text = self.file(commit, path)
            after = {one.name: one for one in functions(after_text, extension_of(path))}
            lines, known = self.base_functions(path)
            for name in names:
                same = [one for one in known if one.name == name]
                if len(same) != 1 or name not in after:
                    return None
                there, then = same[0], after[name]
                if lines[there.start - 1 : there.end] == after_text.splitlines()[then.start - 1 : then.end]:
                    return None
                found[path, name] = there
        if not 1 <= len(found) <= MAX_FUNCTIONS:
            return None
        return [{"path": path, "name": name, "start": one.start, "end": one.end} for (path, name), one in sorted(found.items())]

    def chosen(self, dice):
        ids = git(self.repository, "rev-list", "--no-merges", f"{self.base}..HEAD").split()
        dice.shuffle(ids)
        subjects = set()
        for commit in ids:
            try:
                subject, task = self.task(commit)
            except subprocess.CalledProcessError:
                continue  # The mirror lacks the commit's largest files.
            if task and subject not in subjects:
                subjects.add(subject)
                yield task

    def task(self, commit):
        """The question of a commit, and the task, `None` unless the commit is a fix that can be asked for."""
        raw, date = git(self.repository, "show", "-s", "--format=%s%x00%cs", commit).strip().split("\0")
        subject, body = question_of(self.repository, commit)
        if len(subject.split()) < 4 or len(subject) > 200 or IDLE.search(raw) or not FIX.search(raw) or date < SINCE:
            return subject, None
        targets = self.targets(commit)
        return subject, targets and {"repo": self.name, "base": self.base, "commit": commit, "body": bool(body), "functions": targets}


def question_of(repository, commit):
    """The cleaned subject of a commit, and the first paragraph of its body, empty if it has none."""
    message = git(repository, "show", "-s", "--format=%s%x00%b", commit)
    subject, _, body = message.partition("\0")
    subject = re.sub(r"\s*\((close|fix|resolve)?\w*:?\s*#\d+[^)]*\)|\s*\[?(\bGH-?|#)\d+\]?", "", subject, flags=re.I)
    subject = re.sub(r"\s+\(\s*\)", "", subject)
    subject = re.sub(r"^\s*(\[[^\]]*\]\s*)*([\w/.-]+(\([^)]*\))?!?:\s*)*", "", subject).strip(" .:-")
    paragraphs = re.split(r"\n\s*\n", body.strip())
    first = re.sub(r"\s+", " ", paragraphs[0]).strip() if paragraphs else ""
    prose = not re.match(r"(\S+-by:|close|fix(es)?\b.{0,20}#|see\b|\*|-|#|<|https?:|signed|cherry|gh-?\d)", first, re.I)
    first = re.sub(r"\s*\b(GH-?|#)\d+|https?://\S+", "", first)
    return subject, first[:600] if prose and len(first.split()) >= 6 else ""


def choose(args):
    dice, tasks = random.Random(23), []
    for name in REPOSITORIES:
        found = []
        for one in Project(args.mirrors, name).chosen(dice):
            found.append(one)
            if len(found) == PER_REPOSITORY:
                break
        print(name, found[0]["base"][:9] if found else "", len(found))
        tasks.extend(sorted(found, key=lambda one: one["commit"]))
    with open(HERE / "tasks.jsonl", "w", encoding="utf-8") as out:
        for number, one in enumerate(tasks, 1):
            out.write(json.dumps({"id": number, **one}) + "\n")


def load():
    with open(HERE / "tasks.jsonl", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def check_out(mirror, base, root):
    """A repository with the commits up to `base` and nothing that came later."""
    if (root / ".git" / "ready").exists():
        return
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    pack = "git -c uploadpack.allowAnySHA1InWant=true upload-pack"
    for depth in HISTORY:
        try:
            git(root, "fetch", "-q", f"--depth={depth}", f"--upload-pack={pack}", f"file://{pathlib.Path(mirror).resolve()}", base)
            break
        except subprocess.CalledProcessError:
            if depth == HISTORY[-1]:
                raise
    git(root, "checkout", "-q", "-B", "main", base)
    (root / ".git" / "ready").touch()


def prepare(args):
    work = pathlib.Path(args.work)
    questions = []
    for one in load():
        mirror = mirror_of(args.mirrors, one["repo"])
        check_out(mirror, one["base"], work / "trees" / short_name(one["repo"]))
        subject, body = question_of(mirror, one["commit"])
        questions.append({**one, "subject": subject, "paragraph": body})
    (work / "questions.json").write_text(json.dumps(questions, indent=1), "utf-8")
    print(f"{len(questions)} questions, {sum(bool(one['paragraph']) for one in questions)} with a paragraph")


def add_arguments(parser):
    parser.add_argument("what", choices=["choose", "prepare"])
    parser.add_argument("mirrors")
    parser.add_argument("work", nargs="?")


def run(args):
    (choose if args.what == "choose" else prepare)(args)
