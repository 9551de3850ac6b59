"""Tasks of SWE-bench Lite: issue, tree at the base commit, and the places that the fix changed.

    run.py prepare LOCAGENT MIRRORS WORK

LOCAGENT is a bare mirror of gersteinlab/LocAgent, MIRRORS has OWNER+NAME/repo for each project. WORK gets `tasks.jsonl` and
`trees/ID`: the non-test Python files of the base commit, without any history. Only tasks with an even number are prepared;
those with an odd number are kept aside. Issues are texts of other projects and never stored in this repository.
"""

import ast
import json
import pathlib
import re
import subprocess

ANSWERS = "evaluation/loc_output/locagent/claude_3-5/loc_outputs.jsonl"
TEST = re.compile(r"(^|/)tests/|(^|/)test_[^/]*$|_test\.py$|(^|/)conftest\.py$")


def number_of(task):
    return int(task.rsplit("-", 1)[1])


def git(repository, *words):
    return subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True).stdout


def prepare(locagent, mirrors, work):
    """Exports the trees that are missing, and writes the tasks."""
    work = pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    tasks, absent = [], 0
    for line in git(locagent, "show", f"HEAD:{ANSWERS}").decode().splitlines():
        given = json.loads(line)
        if number_of(given["instance_id"]) % 2:
            continue
        facts = given["meta_data"]
        mirror = pathlib.Path(mirrors) / facts["repo"].replace("/", "+") / "repo"
        tree = work / "trees" / given["instance_id"]
        try:
            export(mirror, facts["base_commit"], tree)
        except subprocess.CalledProcessError:
            absent += 1
            continue
        changes = facts["gt_file_changes"]
        changes = ast.literal_eval(changes) if isinstance(changes, str) else changes
        tasks.append(
            {
                "id": given["instance_id"],
                "issue": facts["problem_statement"],
                "files": sorted({change["file"] for change in changes}),
                "functions": gold_functions(tree, changes),
            }
        )
    tasks.sort(key=lambda task: task["id"])
    (work / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    whole = sum(bool(task["functions"]) for task in tasks)
    print(f"{len(tasks)} tasks, {whole} with changed functions; {absent} commits are absent")


def export(mirror, commit, tree):
    """Writes the non-test Python files of a commit."""
    if tree.exists():
        return
    listed = git(mirror, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")
    paths = [path for path in listed if path.endswith(".py") and not TEST.search(path)]
    tree.mkdir(parents=True)
    for start in range(0, len(paths), 500):
        archive = subprocess.Popen(["git", "-C", str(mirror), "archive", commit, *paths[start : start + 500]], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", str(tree)], stdin=archive.stdout, check=True)
        if archive.wait():
            raise subprocess.CalledProcessError(archive.returncode, "git archive")


def gold_functions(tree, changes):
    """`[path, first, last]` of each function that the fix edited. Functions that it added are not there yet."""
    functions = []
    for entity in sorted({name for change in changes for name in change["changes"].get("edited_entities", ())}):
        path, _, name = entity.partition(":")
        functions += [[path, first, last] for found, first, last in functions_of(tree / path) if found == name][:1]
    return functions


def functions_of(file):
    """Functions and methods of a Python file, nested ones inside the outer: `(dotted name, first line, last line)`."""
    try:
        module = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    pending = [("", module)]
    while pending:
        scope, node = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                yield scope + child.name, first, child.end_lineno
            elif isinstance(child, ast.ClassDef):
                pending.append((f"{scope}{child.name}.", child))
            else:
                pending.append((scope, child))


def load(work, count=None):
    """The tasks, or the first `count` of a fixed order that mixes the projects."""
    tasks = [json.loads(line) for line in (pathlib.Path(work) / "tasks.jsonl").read_text().splitlines()]
    if count:
        # By the last digits first: every project in its share.
        tasks = sorted(tasks, key=lambda task: (number_of(task["id"]) // 2 % 100, task["id"]))[:count]
    return sorted(tasks, key=lambda task: task["id"])
