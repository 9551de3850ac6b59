//! Questions about symbols of a small project on disk.

use std::fs;
use std::sync::Arc;

use docent_core::access::Access;
use tempfile::TempDir;

use super::*;
use crate::accesses::Accesses;
use crate::clock::Clock;
use crate::index::IndexOptions;

struct Project {
    directory: TempDir,
    _cache: TempDir,
    root: Root,
    index: Index,
}

/// Files that define the same names in different ways.
const FILES: [(&str, &str); 9] = [
    (
        "src/ui/row.rs",
        "/// A row of the screen. It has cells.\npub struct Row {\n    cells: u32,\n}\n\nimpl Row {\n    \
         /// Replaces a character.\n    pub fn replace(&mut self, at: usize) {\n        \
         self.cells = 1;\n    }\n}\n\npub fn render_rows() {}\n\npub fn render_cells() {}\n",
    ),
    (
        "src/table.py",
        "class Row:\n    \"\"\"A row of a table.\"\"\"\n\n    def replace(self, key):\n        return key\n\n\n\
         def replace(text):\n    return text\n",
    ),
    ("src/native.h", "int draw_row(int at);\n"),
    (
        "src/native.c",
        "#include \"native.h\"\n\nint draw_row(int at) {\n    return at;\n}\n",
    ),
    (
        "tests/test_table.py",
        "def replace(text):\n    return text\n\n\ndef only_in_tests():\n    pass\n",
    ),
    ("vendor/lib/a.py", "def replace(text):\n    return text\n"),
    (
        "lib/zoo/birds.rb",
        "module Zoo\n  module Birds\n    class Owl\n      def hoot\n        1\n      end\n    end\n  end\nend\n",
    ),
    (
        "lib/zoo/fish.rb",
        "module Zoo\n  class Shark\n    def bite\n      1\n    end\n  end\nend\n",
    ),
    (
        "test/zoo_test.js",
        "class Zoo {\n  open() {\n    return 1;\n  }\n}\n",
    ),
];

impl Project {
    fn new() -> Self {
        let (directory, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (path, text) in FILES {
            write(&directory, path, text);
        }
        let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
        let folder = Some(cache.path().join("projects/a"));
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let index = Index::new(root.clone(), folder, accesses, IndexOptions::default());
        Self {
            directory,
            _cache: cache,
            root,
            index,
        }
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.directory, path, text);
    }

    fn context<'a>(&'a self, root: &'a Root, deadline: &'a Deadline) -> SymbolContext<'a> {
        SymbolContext {
            root,
            index: &self.index,
            patience: Patience::UntilDone,
            deadline,
            report: &|_| {},
            overlay: None,
        }
    }

    fn ask(&self, query: SymbolQuery<'_>) -> SymbolOutcome {
        find_symbols(&self.context(&self.root, &Deadline::default()), &query).unwrap()
    }

    fn find(&self, name: &str) -> SymbolOutcome {
        self.ask(query(name, None))
    }

    /// The results as `path:line scope.name kind`.
    #[track_caller]
    fn check(&self, name: &str, path: Option<&str>, expected: &[&str]) {
        assert_eq!(
            places(&self.ask(query(name, path))),
            expected,
            "{name} in {path:?}"
        );
    }
}

fn write(directory: &TempDir, path: &str, text: &str) {
    let file = directory.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn query<'a>(name: &'a str, path: Option<&'a str>) -> SymbolQuery<'a> {
    SymbolQuery {
        name,
        path,
        kind: None,
        limit: 20,
    }
}

fn place(symbol: &FoundSymbol) -> String {
    let dot = if symbol.scope.is_empty() { "" } else { "." };
    format!(
        "{}:{} {}{dot}{}",
        symbol.path, symbol.line, symbol.scope, symbol.name
    )
}

fn places(outcome: &SymbolOutcome) -> Vec<String> {
    outcome.symbols.iter().map(place).collect()
}

#[test]
fn a_definition_is_shown_with_its_lines_signature_and_doc() {
    let project = Project::new();
    let outcome = project.find("Row::replace");
    let expected = FoundSymbol {
        path: RepoPath::parse("src/table.py").unwrap(),
        name: "replace".into(),
        scope: "Row".into(),
        kind: SymbolKind::Method,
        first_line: 4,
        last_line: 5,
        line: 4,
        column: 9,
        signature: "def replace(self, key):".into(),
        doc: String::new(),
        matched: NameMatch::Exact,
    };
    assert_eq!(outcome.symbols[0], expected);
    let rust = &outcome.symbols[1];
    assert_eq!(
        (rust.first_line, rust.last_line, rust.line, rust.column),
        (7, 10, 8, 12)
    );
    assert_eq!(rust.signature, "pub fn replace(&mut self, at: usize)");
    assert_eq!(rust.doc, "Replaces a character.");
    assert_eq!(outcome.total, 2);
    assert!(outcome.missing.is_empty());
    assert_eq!((outcome.ground.files, outcome.ground.unparsed), (9, 0));
    assert_eq!(outcome.ground.freshness.pending, 0);
}

#[test]
fn every_way_of_writing_a_name_finds_its_definition() {
    let project = Project::new();
    let both = ["src/ui/row.rs:8 Row.replace", "src/table.py:4 Row.replace"];
    let (rust, python) = (&both[..1], &both[1..]);
    for name in [
        "Row::replace",
        "Row.replace",
        "Row#replace",
        "Row.replace()",
        "Row/replace",
    ] {
        let mut found = places(&project.find(name));
        found.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(found, both, "{name}");
    }
    for name in [
        "ui/Row.replace",
        "ui::row::Row::replace",
        "crate::ui::Row::replace",
    ] {
        project.check(name, None, rust);
    }
    project.check("src.table.Row.replace", None, python);
    project.check("table.replace", None, &["src/table.py:8 replace"]);
    project.check("fn render_rows", None, &["src/ui/row.rs:13 render_rows"]);
    project.check("def hoot", None, &["lib/zoo/birds.rb:4 Zoo.Birds.Owl.hoot"]);
    project.check(
        "class Owl|fn render_rows|absent",
        None,
        &["lib/zoo/birds.rb:3 Zoo.Birds.Owl", "src/ui/row.rs:13 render_rows"],
    );
    assert_eq!(project.find("Owl|absent|gone()").missing, ["absent", "gone()"]);
    // The outermost scope is not known to be one.
    project.check(
        "Park::Zoo::Birds::Owl",
        None,
        &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"],
    );
    project.check("Fish.Owl", None, &[]);
}

#[test]
fn near_names_are_found_only_if_there_is_no_exact_one() {
    let project = Project::new();
    let check = |name: &str, matched: NameMatch, expected: &[&str]| {
        let outcome = project.find(name);
        assert_eq!(places(&outcome), expected, "{name}");
        assert!(
            outcome.symbols.iter().all(|symbol| symbol.matched == matched),
            "{name}"
        );
    };
    check("owl", NameMatch::OtherCase, &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"]);
    check(
        "birds.owl",
        NameMatch::OtherCase,
        &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"],
    );
    check(
        "birds.Owl",
        NameMatch::Exact,
        &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"],
    );
    check(
        "BIRDS.Owl",
        NameMatch::OtherCase,
        &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"],
    );
    let rendering = ["src/ui/row.rs:13 render_rows", "src/ui/row.rs:15 render_cells"];
    check("render", NameMatch::Prefix, &rendering);
    check("rend*", NameMatch::Prefix, &rendering);
    check("render_rosw", NameMatch::Similar, &rendering[..1]);
    check(
        "Shakr.bite",
        NameMatch::Similar,
        &["lib/zoo/fish.rb:3 Zoo.Shark.bite"],
    );
    let with_exact = project.find("Row*");
    assert!(
        with_exact
            .symbols
            .iter()
            .all(|symbol| symbol.name == "Row" && symbol.matched == NameMatch::Exact)
    );
    check("nothing_like_it", NameMatch::Exact, &[]);
}

#[test]
fn the_project_s_own_definition_with_a_body_comes_first() {
    let project = Project::new();
    project.check(
        "draw_row",
        None,
        &["src/native.c:3 draw_row", "src/native.h:1 draw_row"],
    );
    // Code, then tests, then vendored code.
    let functions = project.ask(SymbolQuery {
        kind: Some(SymbolKind::Function),
        ..query("replace", None)
    });
    assert_eq!(
        places(&functions),
        [
            "src/table.py:8 replace",
            "tests/test_table.py:1 replace",
            "vendor/lib/a.py:1 replace",
        ]
    );
    // A type before its `impl` blocks.
    let rows = places(&project.ask(query("Row", Some("src/ui"))));
    assert_eq!(rows, ["src/ui/row.rs:2 Row", "src/ui/row.rs:6 Row"]);
    // A class before modules that are opened in several files, even if it is one of tests.
    let zoo = places(&project.find("Zoo"));
    assert_eq!(
        zoo,
        [
            "test/zoo_test.js:1 Zoo",
            "lib/zoo/birds.rb:1 Zoo",
            "lib/zoo/fish.rb:1 Zoo"
        ]
    );
}

#[test]
fn a_path_limits_the_answer_to_a_file_a_directory_or_a_line() {
    let project = Project::new();
    project.check("replace", Some("tests"), &["tests/test_table.py:1 replace"]);
    project.check(
        "replace",
        Some("tests/test_table.py"),
        &["tests/test_table.py:1 replace"],
    );
    project.check("replace", Some("./tests/"), &["tests/test_table.py:1 replace"]);
    project.check("replace", Some("../elsewhere"), &[]);
    project.check("replace", Some("src/table"), &[]);
    // A line names the innermost definition around it.
    project.check("", Some("src/table.py:5"), &["src/table.py:4 Row.replace"]);
    project.check("", Some("src/table.py:1"), &["src/table.py:1 Row"]);
    project.check("", Some("src/table.py:2:7"), &["src/table.py:1 Row"]);
    project.check("replace", Some("src/table.py:9"), &["src/table.py:8 replace"]);
    project.check("Row", Some("src/table.py:5"), &["src/table.py:1 Row"]);
    project.check("replace", Some("src/table.py:2"), &[]);
    project.check("", Some("src/table.py:900"), &[]);
    let absolute = project.root.path().join("src/table.py:8");
    project.check("", absolute.to_str(), &["src/table.py:8 replace"]);
    // Without a name, a file is listed.
    project.check(
        "",
        Some("lib/zoo/fish.rb"),
        &[
            "lib/zoo/fish.rb:1 Zoo",
            "lib/zoo/fish.rb:2 Zoo.Shark",
            "lib/zoo/fish.rb:3 Zoo.Shark.bite",
        ],
    );
    project.check("", None, &[]);
}

#[test]
fn each_name_has_its_share_of_the_limit() {
    let project = Project::new();
    let outcome = project.ask(SymbolQuery {
        limit: 2,
        ..query("replace|Owl", None)
    });
    let names: Vec<&str> = outcome
        .symbols
        .iter()
        .map(|symbol| symbol.name.as_str())
        .collect();
    assert_eq!(names, ["replace", "Owl"]);
    assert_eq!(outcome.total, 6);
    assert_eq!(project.find("Owl|Owl|Zoo.Birds.Owl").total, 1);
}

#[test]
fn answers_follow_edits_renames_and_deletions() {
    let project = Project::new();
    project.check("Owl", None, &["lib/zoo/birds.rb:3 Zoo.Birds.Owl"]);
    project.write(
        "lib/zoo/birds.rb",
        "# Birds.\n\n\nclass Owl\n  def hoot\n    2\n  end\nend\n",
    );
    project.check("Owl", None, &["lib/zoo/birds.rb:4 Owl"]);
    project.check("Birds", None, &[]);
    let new = project.directory.path().join("lib/owl.rb");
    fs::rename(project.directory.path().join("lib/zoo/birds.rb"), &new).unwrap();
    project.check("Owl", None, &["lib/owl.rb:4 Owl"]);
    fs::remove_file(new).unwrap();
    let outcome = project.find("Owl");
    assert_eq!(
        (outcome.symbols.len(), outcome.missing),
        (0, vec!["Owl".to_owned()])
    );
    assert_eq!(outcome.ground.files, 8);
}

#[test]
fn a_definition_is_shown_as_its_file_has_it_even_before_it_is_indexed() {
    let project = Project::new();
    let mut candidates = {
        let deadline = Deadline::default();
        let context = project.context(&project.root, &deadline);
        find::freshen(&context);
        let name = name_query::parse_names("replace").remove(0);
        find::find_candidates(&context, &name, &location::SymbolLocation::default(), None).unwrap()
    };
    order::sort_candidates(&mut candidates);
    let show = |path: &str| {
        let deadline = Deadline::default();
        let context = project.context(&project.root, &deadline);
        let in_file = candidates
            .iter()
            .filter(|candidate| candidate.path.as_str() == path);
        let shown = in_file.map(|candidate| candidate.show(&mut current::SymbolFiles::new(&context)));
        shown
            .flatten()
            .map(|symbol| place(&symbol))
            .collect::<Vec<String>>()
    };
    assert_eq!(
        show("src/table.py"),
        ["src/table.py:4 Row.replace", "src/table.py:8 replace"]
    );
    project.write(
        "src/table.py",
        "\n\ndef other():\n    pass\n\n\ndef replace(text):\n    return text\n",
    );
    assert_eq!(show("src/table.py"), ["src/table.py:7 replace"]);
    fs::remove_file(project.directory.path().join("tests/test_table.py")).unwrap();
    assert_eq!(show("tests/test_table.py"), [""; 0]);
}

#[test]
fn the_names_of_a_blocked_file_appear_nowhere() {
    let project = Project::new();
    project.check("only_in_tests", None, &["tests/test_table.py:5 only_in_tests"]);
    // The index still has the file when a rule is added.
    let blocking = project.root.clone().with_access(Access::new(["tests"]).unwrap());
    let deadline = Deadline::default();
    let context = project.context(&blocking, &deadline);
    for name in [
        "only_in_tests",
        "only_in",
        "only_in_tetss",
        "Only_In_Tests",
        "only*",
    ] {
        let outcome = find_symbols(&context, &query(name, None)).unwrap();
        assert_eq!((places(&outcome), outcome.total), (Vec::new(), 0), "{name}");
    }
    for path in ["tests/test_table.py", "tests/test_table.py:5"] {
        let outcome = find_symbols(&context, &query("", Some(path))).unwrap();
        assert_eq!(places(&outcome), [""; 0], "{path}");
    }
    assert!(outline_directory(&context, "tests").unwrap().is_empty());
    let path = RepoPath::parse("tests/test_table.py").unwrap();
    let outline = outline_file(&blocking, &path, "def only_in_tests():\n    pass\n");
    assert_eq!(
        (outline.definitions, outline.unparsed),
        (Vec::new(), Some("blocked"))
    );
}

#[test]
fn an_outline_lists_the_definitions_of_a_text() {
    let project = Project::new();
    let outline = |path: &str, text: &str| outline_file(&project.root, &RepoPath::parse(path).unwrap(), text);
    let python = outline("new.py", "class Ä:\n    def é(self): pass\n");
    let names: Vec<String> = python.definitions.iter().map(place).collect();
    assert_eq!(names, ["new.py:1 Ä", "new.py:2 Ä.é"]);
    assert_eq!(
        (
            python.definitions[1].column,
            python.language.as_str(),
            python.unparsed
        ),
        (9, "python", None)
    );
    assert_eq!(outline("notes.md", "# Title\n").unparsed, Some("no grammar"));
    let generated = outline("a.py", "# @generated by a tool\ndef walrus(): pass\n");
    assert_eq!((generated.definitions.len(), generated.unparsed), (1, None));
    let empty = outline("empty.py", "");
    assert_eq!((empty.definitions.len(), empty.unparsed), (0, None));
}

#[test]
fn the_outline_of_a_directory_has_two_levels_and_no_members() {
    let project = Project::new();
    project.write(
        "lib/deep/er/hidden.rb",
        "class Hidden\n  def a\n    1\n  end\nend\n",
    );
    project.write("lib/notes.md", "# Lib\n");
    let deadline = Deadline::default();
    let context = project.context(&project.root, &deadline);
    let outline = |directory: &str| -> Vec<(String, Vec<String>)> {
        let files = outline_directory(&context, directory).unwrap().into_iter();
        let names = |file: &FileOutline| file.definitions.iter().map(|one| one.name.clone()).collect();
        files.map(|file| (file.path.clone(), names(&file))).collect()
    };
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<String>>()
    };
    let zoo = [
        ("lib/zoo/birds.rb".to_owned(), names(&["Zoo", "Birds", "Owl"])),
        ("lib/zoo/fish.rb".to_owned(), names(&["Zoo", "Shark"])),
    ];
    assert_eq!(outline("lib"), zoo);
    assert_eq!(outline("lib/zoo/"), zoo);
    let top: Vec<String> = outline("").into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        top,
        [
            "src/native.c",
            "src/native.h",
            "src/table.py",
            "test/zoo_test.js",
            "tests/test_table.py"
        ]
    );
    assert_eq!(outline("absent"), []);
}

#[test]
fn a_question_ends_at_its_deadline() {
    let project = Project::new();
    project.find("Row");
    let deadline = Deadline::default();
    deadline.cancel();
    let outcome = find_symbols(&project.context(&project.root, &deadline), &query("Row", None));
    assert!(matches!(outcome, Err(SymbolError::Expired(_))));
}
