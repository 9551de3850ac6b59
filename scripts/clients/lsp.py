"""Clients of the language server: Neovim, if it is installed, and a plain client that sends 10,000 messages made by chance.

The project has a caller and a callee in Rust, Python, TypeScript, Go, Java and Ruby, with emoji, combining marks, tabs, CRLF and
a byte order mark before the names. Neovim runs headless and asks by its own client for definitions, references, hover, symbols and
calls, in saved and in unsaved text.

usage: lsp.py DOCENT [--messages N] [--seed N] [--without-neovim]
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading

HARD = "🦉e\u0301"
# By language: file of the definition and its text, file of the use and its text, and what the names are.
PROJECT = {
    "rust": ("rs/src/owl.rs", "/// Hoots.\npub fn hoot(times: u32) -> u32 {\n    times\n}\n",
             "rs/src/lib.rs", f"pub mod owl;\nuse owl::hoot;\n\npub fn open() -> (char, u32) {{\n    ('🦉', hoot(2))\n}}\n"),
    "python": ("py/owl.py", "\ufeffdef hoot(times):\n    \"\"\"Hoots.\"\"\"\n    return times\n",
               "py/cage.py", f"from owl import hoot\n\n\ndef open_cage():\n\treturn '{HARD}', hoot(2)\n"),
    "typescript": ("ts/owl.ts", "/** Hoots. */\r\nexport function hoot(times: number): number {\r\n  return times;\r\n}\r\n",
                   "ts/cage.ts", f"import {{ hoot }} from \"./owl\";\r\n\r\nexport function openCage() {{\r\n\treturn ['{HARD}', hoot(2)];\r\n}}\r\n"),
    "go": ("go/owl.go", "package zoo\n\n// hoot hoots.\nfunc hoot(times int) int {\n\treturn times\n}\n",
           "go/cage.go", f"package zoo\n\nfunc OpenCage() (string, int) {{\n\treturn \"{HARD}\", hoot(2)\n}}\n"),
    "java": ("java/zoo/Owl.java", "package zoo;\n\npublic class Owl {\n    /** Hoots. */\n    static int hoot(int times) {\n        return times;\n    }\n}\n",
             "java/zoo/Cage.java", f"package zoo;\n\npublic class Cage {{\n    int open() {{\n        String owl = \"{HARD}\"; return Owl.hoot(2);\n    }}\n}}\n"),
    "ruby": ("rb/owl.rb", "class Owl\n  def sleep\n  end\n\n  # Hoots.\n  def self.hoot(times)\n    times\n  end\nend\n",
             "rb/cage.rb", f"require_relative \"owl\"\n\nclass Cage\n  def open\n    [\"{HARD}\", Owl.hoot(2)]\n  end\nend\n"),
}
EXTRA = {"rs/Cargo.toml": "[package]\nname = \"zoo\"\n", "go/go.mod": "module zoo\n\ngo 1.21\n", ".env": "SECRET=1\n"}

NEOVIM = r"""
local given = vim.fn.json_decode(table.concat(vim.fn.readfile(vim.env.CASES), "\n"))
local answers = {}
local client
local function show(result)
  local places = {}
  for _, one in ipairs(result or {}) do
    local start = one.range.start
    table.insert(places, vim.uri_to_fname(one.uri):sub(#given.root + 2) .. ":" .. start.line + 1 .. ":" .. start.character)
  end
  table.sort(places)
  return places
end
local function ask(buffer, method, params)
  local answer = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  local one = answer and answer[client]
  if not one or one.error then error(method .. ": " .. vim.inspect(answer)) end
  return one.result
end
local ok, message = pcall(function()
  for _, case in ipairs(given.cases) do
    vim.cmd("edit " .. case.path)
    vim.bo.swapfile = false
    local buffer = vim.api.nvim_get_current_buf()
    if not client then
      client = vim.lsp.start_client({ name = "docent", cmd = { given.docent, "lsp" }, root_dir = given.root })
    end
    vim.lsp.buf_attach_client(buffer, client)
    vim.wait(60000, function() return vim.lsp.get_client_by_id(client).initialized end)
    if case.insert ~= vim.NIL then vim.api.nvim_buf_set_lines(buffer, 0, 0, false, case.insert) end
    vim.fn.search(case.word, "w")
    vim.api.nvim_win_set_cursor(0, { case.line, 0 })
    vim.fn.search(case.word, "c", case.line)
    local params = vim.lsp.util.make_position_params(0, vim.lsp.get_client_by_id(client).offset_encoding)
    params.context = { includeDeclaration = false }
    local hover = ask(buffer, "textDocument/hover", params)
    local items = ask(buffer, "textDocument/prepareCallHierarchy", params)
    local calls = ask(buffer, "callHierarchy/incomingCalls", { item = items[1] })
    table.insert(answers, {
      definition = show(ask(buffer, "textDocument/definition", params)),
      references = show(ask(buffer, "textDocument/references", params)),
      hover = hover.contents.value,
      symbols = #ask(buffer, "textDocument/documentSymbol", params),
      callers = #calls,
      found = #ask(buffer, "workspace/symbol", { query = "hoot" }),
    })
    if case.insert ~= vim.NIL then vim.cmd("undo") end
  end
end)
local result = ok and { answers = answers } or { error = tostring(message) }
vim.fn.writefile({ vim.fn.json_encode(result) }, vim.env.RESULT)
vim.cmd("qa!")
"""


def write_project(root):
    for definition, defined, use, used in PROJECT.values():
        for path, text in ((definition, defined), (use, used)):
            write(root / path, text)
    for path, text in EXTRA.items():
        write(root / path, text)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def line_of(text, word, last=False):
    lines = [number for number, line in enumerate(text.split("\n"), 1) if word in line]
    return lines[-1 if last else 0]


def units_before(text, line, word):
    """UTF-16 units before a word in a line, without a byte order mark."""
    before = text.split("\n")[line - 1].partition(word)[0].removeprefix("\ufeff")
    return len(before.encode("utf-16-le")) // 2


def run_neovim(docent, root, environment):
    cases, expected = [], []
    for definition, defined, use, used in PROJECT.values():
        target = line_of(defined, "hoot(")
        place = f"{definition}:{target}:{units_before(defined, target, 'hoot(')}"
        for insert in (None, ["", ""]):
            line = line_of(used, "hoot(", last=True)
            shift = len(insert or [])
            cases.append({"path": use, "word": "hoot(", "line": line + shift, "insert": insert})
            expected.append((place, f"{use}:{line + shift}:{units_before(used, line, 'hoot(')}"))
    files = {"CASES": root.parent / "cases.json", "RESULT": root.parent / "result.json", "SCRIPT": root.parent / "neovim.lua"}
    files["CASES"].write_text(json.dumps({"root": str(root), "docent": docent, "cases": cases}))
    files["SCRIPT"].write_text(NEOVIM)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {files['SCRIPT']}"]
    environment = {**environment, **{name: str(path) for name, path in files.items()}}
    subprocess.run(command, cwd=root, env=environment, timeout=600, check=False, capture_output=True)
    result = json.loads(files["RESULT"].read_text())
    if "error" in result:
        sys.exit(f"Neovim: {result['error']}")
    passed = 0
    for case, (place, use), answer in zip(cases, expected, result["answers"], strict=True):
        checks = {
            "definition": answer["definition"] == [place], "references": use in answer["references"],
            "hover": "hoot" in answer["hover"] and "oots" in answer["hover"], "symbols": answer["symbols"] > 0,
            "callers": answer["callers"] == 1, "workspace symbols": answer["found"] >= len(PROJECT),
        }
        for name, is_right in checks.items():
            if not is_right:
                sys.exit(f"Neovim: {name} at {case} is {answer}, expected {place} and {use}")
            passed += 1
    print(f"Neovim: {passed} passed, 0 failed")


def send_by_chance(docent, root, environment, count, seed):
    """Sends messages made by chance. The server must answer a last request, and exit as it is told."""
    chance = random.Random(seed)
    process = subprocess.Popen([docent, "lsp"], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    received = {"count": 0, "last": None, "errors": 0}

    def listen():
        while header := process.stdout.readline():
            size = int(header.partition(b":")[2])
            process.stdout.readline()
            message = json.loads(process.stdout.read(size))
            received["count"] += 1
            received["errors"] += "error" in message
            if message.get("id") == "last":
                received["last"] = message

    listener = threading.Thread(target=listen)
    listener.start()

    def send(body):
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def message(**fields):
        return json.dumps({"jsonrpc": "2.0", **fields}, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")

    send(message(id="first", method="initialize", params={"rootUri": root.as_uri(), "capabilities": {}}))
    send(message(method="initialized", params={}))
    for number in range(count):
        body = message_by_chance(chance, root, number, message)
        kind = chance.random()
        if kind < 0.05 and body:
            at = chance.randrange(len(body))
            body = body[:at] + bytes([chance.randrange(256)]) + body[at + 1:]
        elif kind < 0.08:
            body = chance.randbytes(chance.randrange(200))
        elif kind < 0.10:
            body = body[: chance.randrange(len(body))]
        if b'"exit"' in body or b'"shutdown"' in body:
            continue
        if chance.random() < 0.01:
            process.stdin.write(chance.choice([b"Content-Length: x\r\n\r\n", b"\r\n\r\n", b"Foo: bar\r\n\r\n", b"Content-Length: 0\r\n\r\n"]))
        send(body)
    send(message(id="last", method="shutdown"))
    send(message(method="exit"))
    process.stdin.close()
    code = process.wait(timeout=600)
    listener.join()
    if code != 0 or not received["last"]:
        sys.exit(f"messages by chance: exit code {code}, last answer {received['last']}")
    print(f"messages by chance: {count} sent with seed {seed}, {received['count']} answers, {received['errors']} of them errors; the server goes on")


def message_by_chance(chance, root, number, message):
    files = [path for definition, _, use, _ in PROJECT.values() for path in (definition, use)] + [".env", "new.py", "../out.py"]
    uris = [(root / path).as_uri() for path in files] + ["untitled:1", "file:///", "http://x/y", "file://h/x", "%%%"]
    at = lambda: {"line": chance.choice([0, 1, 2, 3, 4, 5, 99, 2**31, -1]), "character": chance.choice([0, 1, 7, 11, 12, 13, 40, 2**31])}
    words = [None, True, 7, 1.5, "x", [], {}, HARD, "\ud83e", "hoot", "a" * 5_000]
    uri = chance.choice(uris)
    span = {"start": at(), "end": at()}
    text = chance.choice([HARD, "\r", "\r\n\r\n", "def hoot():\n", "(" * 3_000, "\ufeff", "", "class A:\n  def b(self): self.b()\n"])
    document = {"uri": uri, "version": number, "languageId": "x", "text": text * chance.randrange(4)}
    changes = [{"range": span, "text": text}, {"text": text}]
    params = {
        "textDocument": document, "position": at(), "context": {"includeDeclaration": True}, "query": chance.choice(["hoot", "", "h", "*", HARD]),
        "contentChanges": chance.sample(changes, chance.randrange(3)), "id": number - chance.randrange(5),
        "item": {"name": "hoot", "kind": 12, "uri": uri, "range": span, "selectionRange": span},
    }
    if chance.random() < 0.15:
        params[chance.choice(list(params))] = chance.choice(words)
    methods = [
        "textDocument/didOpen", "textDocument/didChange", "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
        "textDocument/definition", "textDocument/references", "textDocument/hover", "textDocument/implementation",
        "textDocument/documentSymbol", "textDocument/documentHighlight", "textDocument/foldingRange", "textDocument/prepareCallHierarchy",
        "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls", "workspace/symbol", "$/cancelRequest", "initialize", "no/such", "",
    ]
    method = chance.choice(methods)
    is_notification = "did" in method or method.startswith("$")
    fields = {} if is_notification and chance.random() < 0.95 else {"id": chance.choice([number, str(number), number, number, None, 1.5])}
    return message(method=method, params=params, **fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent", type=os.path.realpath)
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-neovim", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        root = folder / "project"
        write_project(root)
        environment = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"]}
        if options.without_neovim or not shutil.which("nvim"):
            print("########## SKIPPED: Neovim is not installed and was not tried ##########")
        else:
            run_neovim(options.docent, root, environment)
        send_by_chance(options.docent, root, environment, options.messages, options.seed)


if __name__ == "__main__":
    main()
