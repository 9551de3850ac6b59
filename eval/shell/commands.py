"""Simple commands of a shell line, with where they stand: by tree-sitter's published grammar of bash.

Independent of docent's own reader of lines, which is measured against it. Nothing is run or expanded here.
"""

import collections
import functools
import shlex

import tree_sitter
import tree_sitter_bash

# `place` is where the output goes: "reader", or the construct that takes it. `text` is the command without its
# redirects, `pipeline` the whole pipeline that it begins, and `filters` the texts of the commands behind it.
Command = collections.namedtuple("Command", "program words text start pipeline filters place error_free redirects")

SEARCHES = {"grep", "egrep", "fgrep", "rg", "ag", "git grep"}
LISTS = {"find", "fd", "fdfind", "rg --files", "ls -R", "tree"}
GIT = {"git log", "git show", "git diff", "git blame", "git status"}
READERS = {"cat", "sed -n", "head", "tail", "nl"}
NESTED = {
    "subshell": "in ( )",
    "command_substitution": "in $( )",
    "process_substitution": "in <( )",
    "for_statement": "in a loop",
    "c_style_for_statement": "in a loop",
    "while_statement": "in a loop",
    "if_statement": "in a condition",
    "case_statement": "in a condition",
    "function_definition": "in a function",
    "compound_statement": "in { }",
    "negated_command": "behind !",
    "heredoc_body": "in a here-document",
}


@functools.lru_cache
def parser():
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def text_of(node):
    return node.text.decode("utf-8", "replace")


def plain_words(node):
    """The words of a command as far as quotes alone tell them."""
    words = []
    for child in node.children:
        if child.type in ("variable_assignment", "file_redirect", "herestring_redirect"):
            continue
        text = text_of(child)
        try:
            words.append("".join(shlex.split(text)) if text[:1] != "$" else text)
        except ValueError:
            words.append(text)
    return words


def program_of(words):
    """The program, with what makes another program of it: `git log`, `ls -R`, `sed -n`."""
    if not words:
        return ""
    name, rest = words[0].lstrip("\\").rpartition("/")[2], words[1:]
    if name == "git":
        while rest and rest[0].startswith("-"):
            rest = rest[2:] if rest[0] in ("-C", "-c") else rest[1:]
        return f"git {rest[0]}" if rest else "git"
    if name == "rg" and "--files" in rest:
        return "rg --files"
    if name == "ls" and any(word == "--recursive" or word.startswith("-") and word[1:2] != "-" and "R" in word for word in rest):
        return "ls -R"
    if name == "sed" and any(word == "-n" or word == "-ne" for word in rest):
        return "sed -n"
    return name


def kind_of(program):
    for kind, programs in (("search", SEARCHES), ("list", LISTS), ("git", GIT), ("read", READERS)):
        if program in programs:
            return kind
    return None


def commands(line):
    """All simple commands of a line, in order, those in substitutions and loops too."""
    data = line.encode("utf-8", "surrogatepass")
    root = parser().parse(data).root_node
    found, error_free = [], not root.has_error

    def visit(node, place, pipeline):
        """`pipeline` is where the pipeline ends whose first command is the last one in `node`, and its filters."""
        if node.type in NESTED:
            place, pipeline = NESTED[node.type], None
        if node.type == "pipeline":
            stages = [child for child in node.named_children if child.type != "comment"]
            texts = [text_of(stage) for stage in stages]
            end, behind = pipeline or (node.end_byte, [])
            for at, stage in enumerate(stages):
                visit(stage, place if at == 0 else "behind a pipe", (end, texts[1:] + behind) if at == 0 else None)
        elif node.type == "redirected_statement":
            body = node.child_by_field_name("body") or node.named_children[0]
            redirects = [child for child in node.children if child.type.endswith("_redirect")]
            # The grammar reads `cd a && grep x 2>/dev/null` as a redirect of the list. It is one of the last command.
            pipeline = pipeline or (node.end_byte, [])
            if body.type == "command":
                add(body, place, pipeline, redirects)
            else:
                visit(body, place, pipeline)
            for child in redirects:
                visit(child, place, None)
        elif node.type == "command":
            add(node, place, pipeline or (node.end_byte, []), [])
        else:
            inner = node.named_children
            for child in inner:
                visit(child, place, pipeline if child.id == inner[-1].id else None)

    def add(node, place, pipeline, redirects):
        redirects = [text_of(one) for one in [*redirects, *node.children] if one.type.endswith("_redirect")]
        words = plain_words(node)
        end, filters = pipeline
        whole = data[node.start_byte : end].decode("utf-8", "replace")
        found.append(Command(program_of(words), words, text_of(node), node.start_byte, whole, filters, place, error_free, redirects))
        for child in node.named_children:
            visit(child, place, None)

    visit(root, "reader", None)
    return found
