"""What an agent without docent does in a shell: `rg` by words, files by how many of the words they have, `sed -n` of ranges."""

import collections
import re
import subprocess

from definitions import GRAMMARS, extension_of
from tasks import ASIDE

STOP = set(
    "the a an and or of to in on for with from by is are be as at it its this that these those when if not no use uses using used add fix fixes fixed "
    "make don doesn dont does do avoid prevent handle skip only instead into out than then after before while without via now was were has have "
    "can cannot should would could will which where all any some also but just same so there their they we you".split()
)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")


def words_of(question):
    """The words an agent would search for, in order, without small words."""
    return list(dict.fromkeys(word.lower() for word in WORD.findall(question) if word.lower() not in STOP))


def globs():
    return [flag for extension in GRAMMARS for flag in ("-g", f"*.{extension}")]


def rg(root, *arguments):
    return subprocess.run(["rg", "-j1", "--no-config", *arguments], cwd=root, capture_output=True, text=True, errors="replace").stdout


def ranked_files(root, words):
    """Files of code by how many of the words they have, then how often; tests after the rest."""
    has, often = collections.Counter(), collections.Counter()
    for word in words:
        for line in rg(root, "-i", "-c", "--fixed-strings", *globs(), "--", word, ".").splitlines():
            path, count = line.rsplit(":", 1)
            has[path.removeprefix("./")] += 1
            often[path.removeprefix("./")] += int(count)
    return sorted(has, key=lambda path: (bool(ASIDE.search(path)), -has[path], -often[path], path))


def matching_lines(root, path, words):
    """Lines of a file with the words each has."""
    found = []
    with open(f"{root}/{path}", encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            low = line.lower()
            if has := {word for word in words if word in low}:
                found.append((number, has))
    return found


def best_cluster(matches, span, taken=()):
    """The first line of the span with most different words outside of spans already taken, or `None`."""
    best = None
    for number, _ in matches:
        if any(start <= number < start + span for start in taken):
            continue
        inside = [has for line, has in matches if number <= line < number + span]
        score = (len(set().union(*inside)), len(inside))
        if best is None or score > best[0]:
            best = (score, number)
    return best and best[1]


def is_code(path):
    return extension_of(path) in GRAMMARS


def search_with_context(root, question, most=12000):
    """`rg -n -C2` for all words in the best files, best first, as much as `most` characters."""
    words = words_of(question)
    flags = [flag for word in words for flag in ("-e", re.escape(word))]
    text = ""
    for path in ranked_files(root, words)[:40]:
        text += rg(root, "-n", "-i", "-C2", "-H", "--no-heading", *flags, "--", path) + "\n"
        if len(text) > most:
            break
    return text
