//! What `docent sh grep` adds to the lines of the program: definitions and near names from the index, equal
//! lines once, functions whole, and context that is cut.

use std::process::{Output, Stdio};

use docent_testkit::Sandbox;
use insta::assert_snapshot;

use crate::sandbox;

fn run(project: &Sandbox, words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut docent = project.docent();
    docent
        .arg("sh")
        .args(words)
        .env("LC_ALL", "C.UTF-8")
        .envs(environment.iter().copied())
        .stdin(Stdio::null());
    docent.output().unwrap()
}

fn answer(project: &Sandbox, words: &[&str]) -> String {
    String::from_utf8(run(project, words, &[]).stdout).unwrap()
}

fn library() -> Sandbox {
    sandbox()
        .repository()
        .file(
            "src/library.py",
            "class Library:\n    def lend_book(self, reader, days=14):\n        return reader\n\n    def give_back(self):\n        \
             pass\n",
        )
        .file(
            "src/desk.py",
            "from library import Library\n\n\ndef serve(library):\n    library.lend_book('Jane')\n",
        )
}

#[test]
fn the_definition_of_a_searched_name_comes_from_the_index() {
    let project = library();
    let search = ["grep", "-n", "lend_book", "src/desk.py"];
    let without = answer(&project, &search);
    assert!(without.starts_with("5:"), "{without}");
    assert_eq!(project.run(&["index"]).code, 0);
    assert_snapshot!(answer(&project, &search), @r"
    defined: src/library.py:2-3 Library.lend_book(self, reader, days=14)
    5:    library.lend_book('Jane')
    src/desk.py
    4-5 serve
    4	def serve(library):
    5	    library.lend_book('Jane')
    ");
    // Definitions among the lines are not named again.
    let both = answer(&project, &["grep", "-rn", "lend_book", "src"]);
    assert!(!both.contains("defined:"), "{both}");
    // Every name of a pattern is looked up, with and without its type.
    for pattern in [r"lend_book\|give_back", r"Library\.give_back\|xyz\|lend_book"] {
        let names = answer(&project, &["grep", "-n", pattern, "src/desk.py"]);
        assert!(
            names.contains("Library.lend_book(") && names.contains("Library.give_back("),
            "{names}"
        );
    }
    // The file has changed since: the definition is where it is now, or not named.
    project.write(
        "src/library.py",
        "import os\n\n\nclass Library:\n    def lend_book(self):\n        pass\n",
    );
    let moved = answer(&project, &search);
    assert!(
        moved.starts_with("defined: src/library.py:5-6 Library.lend_book(self)\n"),
        "{moved}"
    );
    project.write("src/library.py", "import os\n");
    assert!(answer(&project, &search).starts_with("5:"));
}

#[test]
fn near_names_are_told_where_nothing_matches() {
    let project = library();
    let search = |name: &str| {
        let output = run(&project, &["grep", "-rn", name, "src"], &[]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(search("lnd_bok"), "");
    assert_eq!(project.run(&["index"]).code, 0);
    assert_eq!(
        search("lnd_bok"),
        "no match; near names: src/library.py:2-3 Library.lend_book(self, reader, days=14)\n"
    );
    assert_eq!(search("borrow"), "");
    let other_case = search("Lend_Book");
    assert!(
        other_case.starts_with("no match; in another case: src/") && other_case.ends_with(" and 1 more\n"),
        "{other_case}"
    );
    let elsewhere = run(&project, &["grep", "-n", "give_back", "src/desk.py"], &[]);
    assert_eq!(elsewhere.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(elsewhere.stdout).unwrap(),
        "no match; defined: src/library.py:5-6 Library.give_back(self)\n"
    );
}

#[test]
fn equal_lines_are_listed_once_and_counted() {
    let mut project = sandbox().repository();
    for number in 0..20 {
        project = project.file(
            &format!("src/part_{number}.txt"),
            format!("{}import walrus from 'sea'\n", "\n".repeat(number)),
        );
    }
    project = project.file("src/z.txt", "walrus one\nwalrus two\n".repeat(15));
    let text = answer(&project, &["grep", "-rn", "walrus", "src"]);
    assert!(
        text.starts_with("50 matches in 21 files\nequal in 20 files: import walrus from 'sea'\n"),
        "{text}"
    );
    assert!(text.contains("src/part_3.txt:4"), "{text}");
    assert!(
        text.contains("\n1: walrus one\n… 14 equal 3-29\n2: walrus two\n… 14 equal 4-30\n"),
        "{text}"
    );
    let places = text.lines().nth(2).unwrap().matches("src/part_").count();
    let left_out: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("… ")?.split_once(" more: "))
        .map_or(0, |(count, _)| count.parse().unwrap());
    assert_eq!(places + left_out, 20, "{text}");
}

#[test]
fn context_is_cut_before_matches_are() {
    let lines: String = (0..400)
        .map(|number| match number % 40 {
            20 => format!("a walrus at {number}\n"),
            _ => format!("a line of some length without any animal in it at {number}\n"),
        })
        .collect();
    let project = sandbox().repository().file("sea.txt", &lines);
    let search = ["grep", "-n", "-C", "15", "walrus", "sea.txt"];
    let text = answer(&project, &search);
    assert!(
        text.starts_with("10 matches in 1 file, with context\nsea.txt\n"),
        "{text}"
    );
    assert!(text.chars().count() <= 4_100, "{}", text.chars().count());
    assert_eq!(text.matches("walrus").count(), 10, "{text}");
    let shown = text.lines().filter(|line| line.contains(" at ")).count();
    let counted = text.lines().last().unwrap();
    let left_out: usize = counted
        .strip_prefix("… ")
        .and_then(|rest| rest.split_once(" more: sea.txt "))
        .map(|(count, _)| count.parse().unwrap())
        .unwrap();
    assert_eq!(shown + left_out, 10 * 31, "{text}");
    // In a larger budget they are the program's lines.
    let whole = run(&project, &search, &[("DOCENT_SHELL_MAX_CHARS", "100000")]);
    let plain = run(
        &project,
        &["--plain", "grep", "-n", "-C", "15", "walrus", "sea.txt"],
        &[],
    );
    assert_eq!(whole.stdout, plain.stdout);
}

#[test]
fn settings_say_how_much_is_shown() {
    let project = library();
    let search = ["grep", "-n", "days=14", "src/library.py"];
    let shows_function = |environment: &[(&str, &str)]| {
        let output = run(&project, &search, environment);
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("return reader")
    };
    assert!(shows_function(&[]));
    assert!(!shows_function(&[("DOCENT_SHELL_WHOLE_FUNCTIONS", "0")]));
    assert!(shows_function(&[("DOCENT_SHELL_FUNCTION_LINES", "2")]));
    assert!(!shows_function(&[("DOCENT_SHELL_FUNCTION_LINES", "1")]));
}
