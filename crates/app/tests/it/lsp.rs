//! What the tests of the language server share: a project in six languages, and documents of it.

use docent_testkit::{LspClient, Sandbox};
use serde_json::{Value, json};

use crate::sandbox;

/// A client with a project, whose positions count UTF-16 units if the encoding is not said.
pub(crate) struct Editor {
    pub(crate) sandbox: Sandbox,
    pub(crate) client: LspClient,
}

impl Editor {
    pub(crate) fn open(sandbox: Sandbox) -> Self {
        Self::open_with(sandbox, json!({}))
    }

    /// Opens a project for a client with these capabilities beside the usual ones.
    pub(crate) fn open_with(sandbox: Sandbox, mut capabilities: Value) -> Self {
        capabilities["textDocument"] = json!({
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "hover": { "contentFormat": ["markdown", "plaintext"] },
        });
        let params =
            json!({ "processId": null, "rootUri": uri_in(&sandbox, ""), "capabilities": capabilities });
        let client = LspClient::start(sandbox.docent(), params);
        Self { sandbox, client }
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        uri_in(&self.sandbox, path)
    }

    /// The parameters for the position of a word: the `occurrence`th in the file, counted from 0, at `offset`
    /// characters of ASCII behind its beginning.
    pub(crate) fn at(&self, path: &str, word: &str, occurrence: usize) -> Value {
        let text = std::fs::read_to_string(self.sandbox.root().join(path)).unwrap();
        self.at_in(path, &text, word, occurrence)
    }

    /// The same in a text that is not saved.
    pub(crate) fn at_in(&self, path: &str, text: &str, word: &str, occurrence: usize) -> Value {
        let (byte, _) = text
            .match_indices(word)
            .nth(occurrence)
            .expect("the file has the word");
        let before = &text[..byte];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap().encode_utf16().count();
        json!({
            "textDocument": { "uri": self.uri(path) },
            "position": { "line": line, "character": column },
        })
    }

    pub(crate) fn did_open(&self, path: &str, text: &str) {
        let document = json!({ "uri": self.uri(path), "languageId": "x", "version": 1, "text": text });
        self.client
            .notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Asks about a position, and shows the places as `path:line:column text`, counted from 1.
    pub(crate) fn places(&self, method: &str, params: Value) -> Vec<String> {
        let result = self.client.request(&format!("textDocument/{method}"), params);
        let locations = result.as_array().cloned().unwrap_or_default();
        locations.iter().map(|location| self.show(location)).collect()
    }

    /// A location as `path:line:column`.
    pub(crate) fn show(&self, location: &Value) -> String {
        let uri = location["uri"].as_str().expect("a URI");
        let base = self.uri("");
        let path = uri
            .strip_prefix(&base)
            .unwrap_or_else(|| panic!("{uri} is outside of {base}"));
        let start = &location["range"]["start"];
        let number = |value: &Value| value.as_u64().expect("a number") + 1;
        format!(
            "{path}:{}:{}",
            number(&start["line"]),
            number(&start["character"])
        )
    }
}

/// The URI of a file of a sandbox.
fn uri_in(sandbox: &Sandbox, path: &str) -> String {
    format!(
        "file://{}/{path}",
        sandbox.root().canonicalize().unwrap().display()
    )
}

/// A project with a caller and a callee in another file, in six languages.
pub(crate) fn six_languages() -> Sandbox {
    sandbox()
        .file("Cargo.toml", "[package]\nname = \"zoo\"\n")
        .file("src/lib.rs", "pub mod owl;\npub mod cage;\n")
        .file("src/owl.rs", "/// Hoots `times` times.\npub fn hoot(times: u32) -> u32 {\n    times\n}\n")
        .file("src/cage.rs", "use crate::owl::hoot;\n\npub fn open() -> u32 {\n    hoot(2)\n}\n")
        .file("py/owl.py", "def hoot(times):\n    \"\"\"Hoots.\"\"\"\n    return times\n")
        .file("py/cage.py", "from owl import hoot\n\n\ndef open_cage():\n    return hoot(2)\n")
        .file("ts/owl.ts", "/** Hoots. */\nexport function hoot(times: number): number {\n  return times;\n}\n")
        .file("ts/cage.ts", "import { hoot } from \"./owl\";\n\nexport function openCage() {\n  return hoot(2);\n}\n")
        .file("go/go.mod", "module zoo\n\ngo 1.21\n")
        .file("go/owl.go", "package zoo\n\n// Hoot hoots.\nfunc Hoot(times int) int {\n\treturn times\n}\n")
        .file("go/cage.go", "package zoo\n\nfunc OpenCage() int {\n\treturn Hoot(2)\n}\n")
        .file("java/zoo/Owl.java", "package zoo;\n\npublic class Owl {\n    /** Hoots. */\n    public static int hoot(int times) {\n        return times;\n    }\n}\n")
        .file("java/zoo/Cage.java", "package zoo;\n\npublic class Cage {\n    int open() {\n        return Owl.hoot(2);\n    }\n}\n")
        .file("rb/owl.rb", "class Owl\n  # Hoots.\n  def self.hoot(times)\n    times\n  end\nend\n")
        .file("rb/cage.rb", "require_relative \"owl\"\n\nclass Cage\n  def open\n    Owl.hoot(2)\n  end\nend\n")
}
