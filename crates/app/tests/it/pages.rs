//! Overview, status and bench on the command line: bars on a terminal, plain text in a pipe.

use docent_testkit::python_function;
#[cfg(unix)]
use docent_testkit::{Finished, set_mode};

use crate::sandbox;

/// Removes colours.
#[cfg(unix)]
fn strip_colours(screen: &str) -> String {
    let mut parts = screen.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    text
}

#[cfg(unix)]
#[test]
fn the_overview_has_bars_on_a_terminal_and_is_markdown_in_a_pipe() {
    let sandbox = sandbox()
        .file("README.md", "# Zoo\n\nAnimals of the sea, one function each.\n")
        .file("src/whales/a.py", python_function("narwhal"))
        .file("src/whales/b.py", python_function("beluga"))
        .file(
            "src/seals/__init__.py",
            "\"\"\"Seals on land and in water. More.\"\"\"\n",
        )
        .file("pyproject.toml", "[project.scripts]\nzoo = \"seals:main\"\n")
        .file("index.svg", "<svg/>\n")
        .file("scripts/server.sh", "exit\n");
    let screen = strip_colours(&sandbox.run_on_terminal(&["overview"]));
    insta::assert_snapshot!(screen, @"
    project
      Animals of the sea, one function each.

    7 files
      python             3  ██████████████████████████████
      markdown           1  ██████████
      shellscript        1  ██████████
      toml               1  ██████████
      xml                1  ██████████

    Programs
      zoo  src/seals/__init__.py

    Modules
      root     3 files
      whales   2 files: a.py, b.py
      scripts  1 file: server.sh
      seals    Seals on land and in water (1 file)

    Read first
      README.md
      pyproject.toml

    `docent overview MODULE` tells more about a module
    ");
    let piped = sandbox.run(&["overview"]).stdout;
    assert!(piped.contains("## Modules") && !piped.contains('█'), "{piped}");
}

#[cfg(unix)]
#[test]
fn the_status_has_bars_on_a_terminal_and_a_list_in_a_pipe() {
    let sandbox = sandbox()
        .file("a.py", python_function("narwhal"))
        .file("b.py", python_function("walrus"))
        .file("c.rs", "fn seal() {}\n");
    sandbox.run(&["index"]);
    let screen = strip_colours(&sandbox.run_on_terminal(&["status"]));
    assert!(
        screen.contains("python                  2  ██████████████████████████████"),
        "{screen}"
    );
    let piped = sandbox.run(&["status"]).stdout;
    assert!(piped.contains("languages   python 2, rust 1"), "{piped}");
}

#[test]
fn bench_measures_the_project_and_does_not_touch_its_index() {
    let sandbox = sandbox()
        .file("src/narwhal.py", python_function("narwhal"))
        .file("src/walrus.py", python_function("walrus"));
    let measured = sandbox.run(&["bench", "--questions", "2"]);
    assert_eq!(measured.code, 0, "{measured:?}");
    for row in [
        "2 files, 2 chunks",
        "index from nothing",
        "a question",
        "a name",
        "exact text",
    ] {
        assert!(measured.stdout.contains(row), "{row}: {}", measured.stdout);
    }
    assert_eq!(sandbox.index_status()["indexed"], 0);
    let empty = crate::sandbox().run(&["bench"]);
    assert_ne!(empty.code, 0);
    assert!(empty.stderr.contains("nothing to index"), "{}", empty.stderr);
}

#[cfg(unix)]
#[test]
fn bench_does_not_run_programs_of_the_project() {
    let sandbox = sandbox()
        .file("src/narwhal.py", python_function("narwhal"))
        .file("bin/rg", "#!/bin/sh\ntouch \"$HOME/was-run\"\n");
    let program = sandbox.root().join("bin/rg");
    set_mode(&program, 0o755);
    let mut bench = sandbox.docent();
    bench.env("PATH", program.parent().unwrap()).arg("bench");
    let measured = Finished::run(&mut bench);
    assert_eq!(measured.code, 0, "{measured:?}");
    assert!(
        measured.stderr.contains("rg is not on the PATH"),
        "{}",
        measured.stderr
    );
    assert!(!sandbox.home().join("was-run").exists());
}
