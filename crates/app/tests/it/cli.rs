//! The command line as people use it: output, colours, exit codes, settings and paths.

use docent_testkit::Finished;
use insta::assert_snapshot;

use crate::sandbox;

#[test]
fn output_in_a_pipe_has_no_colours_and_no_headings() {
    let sandbox = sandbox()
        .file("src/a.rs", "fn main() {\n    one();\n}\n")
        .file("b.rs", "fn main() {}\n");
    assert_eq!(sandbox.run(&["hello"]).stdout, "Hello, World!\n");
    assert_eq!(
        sandbox.run(&["read", "src/a.rs"]).stdout,
        "src/a.rs:1-3\n1\tfn main() {\n\t    one();\n\t}\n"
    );
    assert_eq!(
        sandbox.run(&["repo-file", "b.rs"]).stdout,
        "b.rs:1\n1\tfn main() {}\n"
    );
    let grep = sandbox.run(&["grep", "main"]);
    assert_snapshot!(grep.stdout, @"
    2 matches in 2 files
    b.rs
    1 main
    1	fn main() {}
    src/a.rs
    1-3 main
    1	fn main() {
    	    one();
    	}
    ");
    assert_snapshot!(grep.stderr, @"");
}

/// Runs a command on a terminal in a small project, with escape characters marked.
#[cfg(unix)]
fn run_on_terminal(arguments: &[&str]) -> String {
    let sandbox = sandbox()
        .file("src/a.rs", "fn main() {\n    one();\n}\n")
        .file(".env", "");
    docent_testkit::mark_escapes(&sandbox.run_on_terminal(arguments))
}

#[test]
#[cfg(unix)]
fn output_on_a_terminal_has_headings_line_numbers_and_colours() {
    assert_snapshot!(run_on_terminal(&["hello"]), @"␛[1m␛[35mHello, World!␛[0m");
    assert_snapshot!(run_on_terminal(&["read", "src/a.rs"]), @"
    ␛[1m␛[35msrc/a.rs:1-3␛[0m
    ␛[32m1␛[0m	fn main() {
    ␛[32m␛[0m	    one();
    ␛[32m␛[0m	}
    ");
    assert_snapshot!(run_on_terminal(&["grep", "one"]), @"
    ␛[1m␛[35m1 match in 1 file␛[0m
    ␛[1m␛[35msrc/a.rs␛[0m
    ␛[1m␛[35m1-3 main␛[0m
    ␛[32m1␛[0m	fn main() {
    ␛[32m2␛[0m	    one();
    ␛[32m␛[0m	}
    ");
    assert_snapshot!(run_on_terminal(&["read", ".env"]), @"␛[1m␛[31merror␛[0m: Permission denied: .env");
    assert_snapshot!(run_on_terminal(&["grep", "one", "--color", "never"]), @"
    1 match in 1 file
    src/a.rs
    1-3 main
    1	fn main() {
    2	    one();
    	}
    ");
}

#[test]
#[cfg(unix)]
fn a_server_started_on_a_terminal_writes_nothing_to_it() {
    assert_snapshot!(run_on_terminal(&["serve"]), @"");
}

#[test]
fn escapes_in_a_projects_settings_do_not_reach_the_terminal() {
    let sandbox = sandbox().file(".context/config.toml", "\"\\u001b]0;x\\u0007\" = 1");
    let finished = sandbox.run(&["config", "--color", "always"]);
    assert!(
        finished.stderr.contains(r"\u{1B}]0;x\u{7}") && !finished.stderr.contains("\u{1b}]"),
        "{}",
        finished.stderr
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_command_fails_if_its_output_cannot_be_written() {
    let sandbox = sandbox().file("a.txt", "x");
    for arguments in [
        &["hello"][..],
        &["config"],
        &["read", "a.txt"],
        &["completions", "bash"],
        &["hello", "--json"],
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let status = sandbox
            .docent()
            .args(arguments)
            .stdout(full)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn colours_follow_the_color_flag_and_no_color() {
    let sandbox = sandbox().file("a.rs", "fn main() {}\n");
    let has_colours = |arguments: &[&str], no_color: bool| {
        let mut docent = sandbox.docent();
        if no_color {
            docent.env("NO_COLOR", "1");
        }
        Finished::run(docent.args(arguments)).stdout.contains('\u{1b}')
    };
    assert!(!has_colours(&["grep", "main"], false), "a pipe");
    assert!(has_colours(&["grep", "main", "--color", "always"], false));
    assert!(!has_colours(&["grep", "main"], true));
    assert!(!has_colours(&["grep", "main", "--color", "never"], false));
}

#[test]
fn the_read_command_prints_a_long_file_as_far_as_it_fits_and_names_the_rest() {
    let sandbox = sandbox().file("long.txt", "a line of text\n".repeat(5_000));
    let shown = sandbox.run(&["read", "long.txt"]).stdout;
    assert!(
        shown.starts_with("long.txt:1-698 of 5000\n1\ta line of text\n"),
        "{shown}"
    );
    assert!(
        shown.ends_with("\n… 4,302 lines 699-5000: read on with ranges\n"),
        "{shown}"
    );
    let rest = sandbox.run(&["read", "long.txt", "--ranges", "4990-"]).stdout;
    assert!(rest.ends_with("\n5000\ta line of text\n"), "{rest}");
}

#[test]
fn a_failure_prints_one_sentence_and_sets_the_exit_code() {
    let sandbox = sandbox().file(".env", "");
    let missing = sandbox.run(&["read", "absent.rs"]);
    assert_snapshot!(missing.stderr, @"error: File not found: absent.rs");
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
    let blocked = sandbox.run(&["read", ".env"]);
    assert_snapshot!(blocked.stderr, @"error: Permission denied: .env");
    assert_eq!(blocked.code, 1);
    let usage = sandbox.run(&["grep", "x", "--limit", "0"]);
    assert_snapshot!(usage.stderr, @"error: limit must be between 1 and 100");
    assert_eq!(usage.code, 2);
    assert_eq!(sandbox.run(&["read"]).code, 2);
    assert_eq!(sandbox.run(&["nonsense"]).code, 2);
    assert_eq!(sandbox.run(&["call", "hello", "[]"]).code, 2);
    assert_eq!(sandbox.run(&["call", "nonsense"]).code, 2);
}

#[test]
fn closing_the_pipe_early_is_not_an_error() {
    let sandbox = sandbox().file("long.txt", "a line of text\n".repeat(60_000));
    let mut docent = sandbox.docent();
    let mut child = docent
        .args(["read", "long.txt"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn config_shows_every_value_and_where_it_came_from() {
    let sandbox = sandbox().file(
        ".context/config.toml",
        "answer.max_chars = 5000\nlimit.hello = 7\nlog.file = \"x\"\nwhat = 1",
    );
    let mut docent = sandbox.docent();
    docent
        .env("DOCENT_LIMIT_HELLO", "8")
        .env("DOCENT_HTTP_TOKEN", "hush")
        .args(["config", "--set", "log.level=debug"]);
    let finished = Finished::run(&mut docent);
    let root = sandbox.root().canonicalize().unwrap().display().to_string();
    assert_snapshot!(finished.stdout.replace(&root, "ROOT"), @r#"
    root                           ROOT  DOCENT_ROOT
    access.blocked                 []  default
    call.timeout_seconds           30  default
    docs.description               ""  default
    docs.directories               []  default
    git.allowed_directories        []  default
    index.max_commits              10000  default
    index.max_file_bytes           4194304  default
    index.watch                    true  default
    answer.form                    "contract"  default
    answer.max_chars               5000  ROOT/.context/config.toml
    answer.skip_shown              true  default
    hook.read                      "off"  default
    hook.read_lines                600  default
    log.file                       ""  default
    log.level                      "debug"  --set
    memory.approval                "ask"  default
    memory.approval_seconds        300  default
    embedder.batch                 64  default
    embedder.dimensions            0  default
    embedder.key                   ""  default
    embedder.key_file              ""  default
    embedder.model                 ""  default
    embedder.query_prefix          ""  default
    embedder.text_prefix           ""  default
    embedder.url                   ""  default
    http.allowed_hosts             []  default
    http.allowed_origins           []  default
    http.body_seconds              10  default
    http.connections_per_address   256  default
    http.head_seconds              5  default
    http.max_body_bytes            4194304  default
    http.token                     [set]  DOCENT_HTTP_TOKEN
    rank.recency_day               1.5  default
    rank.recency_week              1.2  default
    rank.module                    1.3  default
    rank.frequency                 1.5  default
    rank.boost_window              15  default
    shell.exact_patch_chars        1200  default
    shell.function_lines           40  default
    shell.max_chars                4000  default
    shell.whole_functions          3  default
    limit.context_search           100  default
    limit.read_file                100  default
    limit.grep_codebase            60  default
    limit.hello                    8  DOCENT_LIMIT_HELLO
    limit.read_repo_file           100  default
    limit.write_memory_entry       0  default
    limit.git_log                  0  default
    limit.git_blame                0  default
    limit.git_diff                 0  default
    limit.search_docs              0  default
    limit.get_doc                  0  default
    limit.get_overall_coverage     0  default
    limit.get_file_coverage        0  default
    limit.start_coverage_snapshot  0  default
    limit.end_coverage_snapshot    0  default
    limit.find_symbol              100  default
    limit.find_references          100  default
    "#);
    assert_snapshot!(finished.stderr.replace(&root, "ROOT"), @"
    warning: ROOT/.context/config.toml: there is no setting what
    warning: ROOT/.context/config.toml: log.file is not taken from a project; set it for your user
    ");
    assert_eq!(finished.code, 1, "a setting was ignored");
    assert!(!finished.stdout.contains("hush"));
}

#[test]
fn a_missing_root_is_named_in_the_error() {
    let finished = sandbox().run(&["hello", "--root", "/does/not/exist"]);
    assert_snapshot!(finished.stderr, @"error: there is no directory /does/not/exist; check --root, which names the project's directory");
    assert_eq!(finished.code, 2);
}

#[test]
fn the_root_is_the_git_root_above_the_working_directory() {
    let sandbox = sandbox().file(".git/HEAD", "").file("deep/er/a.txt", "found");
    let mut docent = sandbox.docent();
    docent
        .env_remove("DOCENT_ROOT")
        .current_dir(sandbox.root().join("deep/er"))
        .args(["read", "deep/er/a.txt"]);
    assert_eq!(Finished::run(&mut docent).stdout, "deep/er/a.txt:1\n1\tfound\n");
    let mut docent = sandbox.docent();
    docent
        .env_remove("DOCENT_ROOT")
        .env("CLAUDE_PROJECT_DIR", sandbox.root().join("deep"))
        .args(["read", "er/a.txt"]);
    assert_eq!(Finished::run(&mut docent).stdout, "er/a.txt:1\n1\tfound\n");
}

#[test]
fn completions_and_the_manual_are_printed() {
    let sandbox = sandbox();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            sandbox.run(&["completions", shell]).stdout.contains("grep"),
            "{shell}"
        );
    }
    let manual = sandbox.run(&["man"]).stdout;
    assert!(
        manual.contains(".TH docent") && manual.contains("repo\\-file"),
        "{manual}"
    );
}

#[test]
fn paths_on_the_command_line_are_relative_to_the_working_directory() {
    let sandbox = sandbox().file("a.txt", "top").file("sub/a.txt", "below").file(
        "lcov.info",
        "SF:a.txt\nDA:1,1\nend_of_record\nSF:sub/a.txt\nDA:1,0\nend_of_record\n",
    );
    let in_sub = |arguments: &[&str]| {
        let mut docent = sandbox.docent();
        docent.current_dir(sandbox.root().join("sub")).args(arguments);
        Finished::run(&mut docent)
    };
    assert_eq!(in_sub(&["read", "a.txt"]).stdout, "sub/a.txt:1\n1\tbelow\n");
    assert_eq!(in_sub(&["read", "../a.txt"]).stdout, "a.txt:1\n1\ttop\n");
    assert_eq!(
        in_sub(&["read", "../../a.txt"]).stderr,
        "error: Path traversal not allowed: ../../a.txt. Name the file relative to the project root\n"
    );
    let covered = in_sub(&["coverage", "file", "./a.txt", "../a.txt"]).stdout;
    assert_eq!(covered, "0.0 % 0/1 sub/a.txt\n100.0 % 1/1 a.txt\n");
    assert_eq!(in_sub(&["coverage", "--lcov-path", "../lcov.info"]).code, 0);
    assert_eq!(
        in_sub(&["read", "sub/a.txt"]).stdout,
        "sub/a.txt:1\n1\tbelow\n",
        "the working directory has no such file, so the path is relative to the root"
    );
    // `docent call` takes paths as clients do: relative to the root.
    assert!(
        in_sub(&["call", "read_file", r#"{"path":"a.txt"}"#])
            .stdout
            .contains("top")
    );
    let mut outside = sandbox.docent();
    outside.current_dir(sandbox.outside()).args(["read", "sub/a.txt"]);
    assert_eq!(Finished::run(&mut outside).stdout, "sub/a.txt:1\n1\tbelow\n");
}
