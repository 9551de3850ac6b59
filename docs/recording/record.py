#!/usr/bin/env python3
"""Records docent at a terminal, as one SVG that moves by itself: no script, text stays text.

usage: docs/recording/record.py DOCENT OUT.svg [--root DIR] [--frame N] [--fixed]

The repository at DIR, this one unless said, is cloned and indexed; then every command below is run there by the real binary in a
pseudo-terminal of 92 columns. What it prints is what is shown, in its colours. Rows that do not fit below each other are cut, and so are
lines of code that are too long: a faint … stands for what is missing. Prose goes on in the next row, as in any terminal.
HOME is a directory that is gone afterwards, always of the same name, so that paths in the output are too. Times that commands say they
took are real, and differ from run to run; --fixed stops docent's clock, so that two recordings are equal but every search takes 0 ms.
--frame N writes the end of scene N alone, without motion. Needs git, and a system with pseudo-terminals.
"""

import argparse
import fcntl
import itertools
import os
import pathlib
import pty
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import termios
from xml.sax.saxutils import escape

# What is typed, for how many seconds its output stays, whether long lines go on in the next row, whether the last row is kept.
SCENES = (
    ('docent search "refuse paths that lead outside the project"', 4.2, False, True),
    ('docent search --type decision "why does nothing wait for the disk"', 2.6, True, True),
    ("docent diff HEAD~3 HEAD --summary", 3.0, False, False),
    ('docent docs "how are pages cut"', 3.8, True, False),
    ("docent status", 2.4, False, False),
)
PROMPT = "~/docent $ "
COLUMNS, ROWS = 92, 25
# Seconds before the first key, for each key, and from the last one to the output.
WAIT, KEY, ENTER = 0.4, 0.021, 0.25

# A cell of the terminal, the room around all of them, and the title bar, in pixels.
WIDE, HIGH, ROOM, BAR = 8.4, 19, 16, 34
FAINT = [("…", "d")]
COLOURS = {code + bright: style for code, style in zip(range(31, 37), "rgyumc") for bright in (0, 60)}
STYLE = """text{font-family:ui-monospace,Menlo,"Cascadia Mono","DejaVu Sans Mono","Liberation Mono",monospace;font-size:14px;white-space:pre;fill:#e6edf3}
.b{font-weight:bold}.d{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#f2cc60}.u{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}"""
MOTION = """.scene,.curtain{opacity:0}#scene1{opacity:1}
@media(prefers-reduced-motion:reduce){*{animation:none!important}}"""


def run(command, directory, environment):
    """What a terminal gets from a command, errors included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(shlex.split(command), cwd=directory, env=environment, start_new_session=True, **ends) as process:
        os.close(theirs)
        got = b""
        try:
            while piece := os.read(ours, 1 << 16):
                got += piece
        except OSError:
            pass  # How Linux says that nobody holds the other end any more.
        os.close(ours)
    if process.returncode != 0:
        raise SystemExit(f"{command}: {got.decode(errors='replace')}")
    return got.decode()


def record(docent, root, fixed):
    """The output of every scene."""
    home = pathlib.Path(tempfile.gettempdir()).resolve() / "docent-recording"
    home.mkdir(mode=0o700)
    try:
        project = home / "docent"
        subprocess.run(["git", "clone", "--quiet", root, project], check=True)
        (home / "bin").mkdir()
        (home / "bin" / "docent").symlink_to(docent)
        environment = {"HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        if fixed:
            head = ["git", "-C", project, "log", "-1", "--format=%cI"]
            environment["DOCENT_FIXED_TIME"] = subprocess.check_output(head, text=True).strip()
        run("docent index", project, environment)
        return [run(command, project, environment) for command, *_ in SCENES]
    finally:
        shutil.rmtree(home)


def rows(output):
    """Rows of cells, each a character and its style. Of what steers a terminal, only styles are understood; docent sends nothing else."""
    done, row, bold, dim, colour = [], [], False, False, None
    for styles, control, character in re.findall(r"\x1b\[([\d;]*)m|(\x1b\[[\d;?]*[A-Za-z]|\r)|([^\x1b])", output):
        if character == "\n":
            done, row = [*done, row], []
        elif character:
            row.append((character, " ".join(filter(None, ("b" * bold, COLOURS.get(colour, "d" * dim))))))
        elif not control:
            for code in (int(code or 0) for code in styles.split(";")):
                bold = code == 1 or bold and code not in (0, 22)
                dim = code == 2 or dim and code not in (0, 22)
                colour = None if code in (0, 39) else code if code in COLOURS else colour
    return [*done, row] if row else done


def fit(found, wraps, keeps_last):
    """The rows that a window shows below the prompt."""
    shown = []
    for row in found:
        if wraps:
            shown += [row[at : at + COLUMNS] for at in range(0, max(len(row), 1), COLUMNS)]
        else:
            shown.append(row if len(row) <= COLUMNS else row[: COLUMNS - 1] + FAINT)
    if len(shown) < ROWS:
        return shown
    last = shown[-1:] if keeps_last else []
    shown = shown[: ROWS - 2 - len(last)]
    while not shown[-1]:
        shown.pop()
    return [*shown, FAINT, *last]


def drawn(row, number):
    """A row as text. It is as long as its cells are wide, whichever font is there."""
    text = "".join(character for character, _ in row).rstrip()
    if not text:
        return ""
    first, spans = len(text) - len(text.lstrip()), []
    for style, cells in itertools.groupby(row[first : len(text)], key=lambda cell: cell[1]):
        inside = escape("".join(character for character, _ in cells))
        spans.append(f'<tspan class="{style}">{inside}</tspan>' if style else inside)
    place = f'x="{first * WIDE:g}" y="{number * HIGH + 14}" textLength="{(len(text) - first) * WIDE:g}"'
    return f"<text {place}>{''.join(spans)}</text>"


def motion(number, start, command, stays, total):
    """How a scene moves, and when it ends. A curtain with the cursor at its edge is drawn away from the command, key by key."""
    moments = list(itertools.accumulate((start, WAIT, KEY * len(command), ENTER, stays)))
    begins, typing, typed, answers, ends = (f"{100 * at / total:.5g}%" for at in moments)
    away = f"transform:translateX({len(command) * WIDE:g}px)"
    frames = {
        f"scene{number}": f"0%{{opacity:0}}{begins}{{opacity:1}}{ends}{{opacity:0}}",
        f"output{number}": f"0%{{opacity:0}}{answers}{{opacity:1}}",
        f"curtain{number}": f"0%,{typing}{{opacity:1;transform:translateX(0);animation-timing-function:steps({len(command)})}}"
        f"{typed}{{opacity:1;{away}}}{answers},to{{opacity:0;{away}}}",
    }
    play = f"{total:g}s step-end infinite"
    styles = (f"#{name}{{animation:{name} {play}}}@keyframes {name}{{{steps}}}" for name, steps in frames.items())
    return moments[-1], "\n".join(styles)


def scene(number, command, shown):
    """The prompt, the command with the curtain before it, and the output."""
    prompt = drawn([(character, "g") for character in PROMPT] + [(character, "b") for character in command], 0)
    output = "\n".join(filter(None, (drawn(row, at) for at, row in enumerate(shown, 1))))
    left = f'x="{len(PROMPT) * WIDE:g}" height="{HIGH - 2}"'
    curtain = f'<rect {left} width="{COLUMNS * WIDE:g}" fill="#0d1117"/><rect {left} width="{WIDE}" fill="#e6edf3"/>'
    typed = f'{prompt}<g class="curtain" id="curtain{number}">{curtain}</g>'
    return f'<g class="scene" id="scene{number}">{typed}\n<g id="output{number}">\n{output}\n</g></g>'


def picture(outputs, frame):
    """The window, with all scenes in turn, or with one that stands still."""
    wide, high = round(COLUMNS * WIDE + 2 * ROOM), ROWS * HIGH + BAR + 2 * ROOM - 6
    total = sum(WAIT + KEY * len(command) + ENTER + stays for command, stays, *_ in SCENES)
    styles, scenes, start = [MOTION], [], 0
    for number, ((command, stays, wraps, keeps_last), output) in enumerate(zip(SCENES, outputs), 1):
        start, style = motion(number, start, command, stays, total)
        styles.append(style)
        if frame in (None, number):
            scenes.append(scene(number, command, fit(rows(output), wraps, keeps_last)))
    styles = "\n".join([STYLE, ".curtain{opacity:0}"] if frame else [STYLE, *styles])
    dots = "".join(f'<circle cx="{at}" cy="17" r="6" fill="#{fill}"/>' for at, fill in ((20, "ff5f57"), (40, "febc2e"), (60, "28c840")))
    commands = escape("; ".join(command for command, *_ in SCENES))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img">
<title>docent at a terminal</title>
<desc>Commands are typed in turn in a clone of docent's own repository, and answered: {commands}</desc>
<style>{styles}</style>
<rect x=".5" y=".5" width="{wide - 1}" height="{high - 1}" rx="9" fill="#0d1117" stroke="#484f58"/>
<path d="M1 {BAR}V9.5a8.5 8.5 0 0 1 8.5-8.5H{wide - 9.5}a8.5 8.5 0 0 1 8.5 8.5V{BAR}z" fill="#21262d"/>{dots}
<text x="{wide / 2:g}" y="22" text-anchor="middle" class="d">docent</text>
<svg x="{ROOM}" y="{BAR + ROOM - 4}" width="{wide - 2 * ROOM}" height="{ROWS * HIGH}" xml:space="preserve">
{chr(10).join(scenes)}
</svg></svg>
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("docent", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--frame", type=int, choices=range(1, len(SCENES) + 1))
    parser.add_argument("--fixed", action="store_true")
    asked = parser.parse_args()
    outputs = record(asked.docent.resolve(), asked.root.resolve(), asked.fixed)
    asked.out.write_text(picture(outputs, asked.frame), encoding="utf-8")


if __name__ == "__main__":
    main()
