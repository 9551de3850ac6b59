"""Lines that have to stay as they are: 46 forms of a shell line, each with twelve commands that docent would answer alone.

    python3 eval/shell/untouched.py DOCENT WORK

Pipes into programs, substitutions, loops, conditions, here-documents, redirects, `xargs`, variables, aliases, functions, `eval`, `sudo`,
here-strings, odd quoting, other directories. A small git project is made in WORK. Each command has to be rewritten by itself, and each
line has to be left alone: exit status 1 and no output. Prints the lines that are not, and exits 1 if there is one.
"""

import os
import pathlib
import subprocess
import sys

COMMANDS = [
    "grep -rn walrus src",
    "grep -n 'a|b' src/sea.rs",
    "grep -E 'fish|sea' src/sea.rs src/ice.rs",
    "grep -c fish src/sea.rs",
    "grep -rl fish .",
    "egrep -i fish src/sea.rs",
    "rg -n fish src",
    "rg fish src/ice.rs",
    "find . -name '*.rs'",
    "find src -type f",
    "git log --oneline -5",
    "git status --short",
]
FORMS = [
    "{c} | wc -c",
    "{c} | xargs rm",
    "{c} | xargs -n1 echo",
    "{c} | tee out.txt",
    "{c} | cut -d: -f1",
    "{c} | awk '{{print $1}}'",
    "{c} | while read line; do echo $line; done",
    "{c} | python3 -c 'import sys'",
    "{c} | head -5 > out.txt",
    "{c} | sort -k2",
    "{c} > out.txt",
    "{c} >> out.txt",
    "{c} &> out.txt",
    "{c} 2> errors.txt",
    "{c} |& head -3",
    "{c} &",
    "x=$({c}); echo $x",
    "echo \"$({c})\"",
    "echo `{c}`",
    "diff <({c}) other.txt",
    "for f in a b; do {c}; done",
    "for f in $({c}); do echo $f; done",
    "while true; do {c}; break; done",
    "if {c}; then echo yes; fi",
    "until {c}; do sleep 1; done",
    "case x in x) {c};; esac",
    "({c})",
    "{{ {c}; }}",
    "! {c}",
    "f() {{ {c}; }}; f",
    "alias grep=ggrep; {c}",
    "grep() {{ command ggrep \"$@\"; }}; {c}",
    "eval \"{c}\"",
    "sudo {c}",
    "env {c}",
    "command {c}",
    "time {c}",
    "nohup {c}",
    "LC_ALL=C {c}",
    "DOCENT_RAW=1 {c}",
    "set -o pipefail; {c} | head -3",
    "cd / && {c}",
    "cd $DIR && {c}",
    "{c} \"$X\"",
    "{c} <<< text",
    "{c} <<EOF\ntext\nEOF",
]


def main():
    docent, work = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    for name in ("src/sea.rs", "src/ice.rs"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("fn walrus() {}\n// fish a|b\n", "utf-8")
    subprocess.run(["git", "init", "-q", work], check=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(work)}

    def rewrite(line):
        done = subprocess.run([docent, "rewrite", "--", line], cwd=work, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    wrong = [command for command in COMMANDS if rewrite(command)[0] != 0]
    lines = [form.format(c=command) for form in FORMS for command in COMMANDS]
    wrong += [line for line in lines if rewrite(line) != (1, "")]
    print(f"{len(lines)} lines, {len(wrong)} wrong", *map(repr, wrong), sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
