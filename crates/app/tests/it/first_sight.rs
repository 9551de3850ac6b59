//! What a person meets first: `docent` alone, its help and version, the progress bar, and the first errors.

use docent_testkit::{Finished, Sandbox, python_function};
use insta::assert_snapshot;

use crate::sandbox;

/// docent without a project named by a variable, and with nothing on its `PATH`.
fn stranger(sandbox: &Sandbox) -> std::process::Command {
    let mut docent = sandbox.docent();
    docent
        .env_remove("DOCENT_ROOT")
        .env("PATH", sandbox.outside().join("bin"));
    docent
}

/// What is printed, with the directories of the sandbox by their names.
fn without_paths(sandbox: &Sandbox, text: &str) -> String {
    let real = |path: std::path::PathBuf| path.canonicalize().unwrap().display().to_string();
    text.replace(&real(sandbox.root()), "PROJECT")
        .replace(&real(sandbox.home()), "HOME")
        .replace(&sandbox.home().display().to_string(), "HOME")
        .replace(&real(sandbox.outside().to_owned()), "OUTSIDE")
}

#[test]
fn docent_alone_says_what_it_is_how_it_stands_and_what_to_try() {
    let sandbox = sandbox()
        .file(".git/HEAD", "")
        .file("src/narwhal.py", python_function("narwhal"));
    let first = Finished::run(&mut stranger(&sandbox));
    assert_eq!((first.code, first.stderr.as_str()), (0, ""));
    assert_snapshot!(without_paths(&sandbox, &first.stdout), @r#"
    docent 0.1.0: a guide to your project, for coding agents and for you
      It indexes this project on your machine and hands out exactly the part that is asked for: code,
      documentation, history, decisions. Coding agents ask it over MCP, you ask it here.

    project    PROJECT  found by: git root
    index      none yet; the first search builds it, or `docent index`
    agents     no coding agent was found; `docent setup --client NAME` connects one

    Try
      docent search "where are errors handled"        functions that answer a question; builds the index
      docent overview                                 what this project is: programs, modules, activity
      docent setup                                    connect your coding agents; it shows every change and asks

    `docent --help` lists all commands, `docent doctor` checks everything
    "#);
    assert!(!sandbox.home().join("cache").exists(), "it has built nothing");

    sandbox.run(&["index"]);
    std::fs::create_dir_all(sandbox.home().join(".codex")).unwrap();
    sandbox.run(&["setup", "--client", "codex", "--yes"]);
    let later = Finished::run(&mut stranger(&sandbox)).stdout;
    assert!(
        later.contains("1 file; every search") && later.contains("connected: Codex"),
        "{later}"
    );
    assert!(
        later.contains("docent gain") && !later.contains("docent setup  "),
        "{later}"
    );
}

#[test]
fn docent_alone_outside_of_a_project_says_how_to_get_into_one() {
    let sandbox = sandbox();
    let at_home = Finished::run(stranger(&sandbox).current_dir(sandbox.home()));
    assert_eq!(at_home.code, 0);
    assert!(
        at_home
            .stdout
            .contains("change to a project's directory (cd PROJECT)"),
        "{}",
        at_home.stdout
    );
    let lost = Finished::run(stranger(&sandbox).args(["--root", "/does/not/exist"]));
    assert_eq!(lost.code, 0);
    assert!(
        lost.stdout
            .contains("there is no directory /does/not/exist; check --root"),
        "{}",
        lost.stdout
    );
}

#[cfg(unix)]
#[test]
fn the_help_is_one_screen_of_groups() {
    let screen = sandbox().run_on_terminal(&["--help"]);
    for title in ["Ask", "Look", "Keep", "Set up", "Options"] {
        assert!(screen.contains(&format!("\u{1b}[1m{title}\u{1b}[0m")), "{screen}");
    }
    let lines = screen.lines().count();
    assert!((24..=40).contains(&lines), "{lines} lines");
    let piped = sandbox().run(&["--help"]).stdout;
    assert!(
        !piped.contains('\u{1b}') && piped.contains("\nAsk\n  search"),
        "{piped}"
    );
    assert!(
        sandbox().run(&["search", "--help"]).stdout.contains("--limit"),
        "clap's own for a command"
    );
}

#[test]
fn the_version_says_profile_and_features() {
    let long = sandbox().run(&["--version"]).stdout;
    let words: Vec<&str> = long.split_whitespace().collect();
    assert_eq!(words[..2], ["docent", env!("CARGO_PKG_VERSION")]);
    let is_known = |word: &str| long.contains(word);
    assert!(is_known("features: ") || is_known("no features"), "{long}");
    assert_eq!(
        sandbox().run(&["-V"]).stdout,
        format!("docent {}\n", env!("CARGO_PKG_VERSION"))
    );
}

/// `1,203 of 1,801 files` in each drawing of the bar.
#[cfg(unix)]
fn counts(screen: &str) -> Vec<(u64, u64)> {
    let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
    let frames = screen.split(" files ·").filter_map(|before| {
        let (rest, total) = before.rsplit_once(" of ")?;
        Some((number(rest.rsplit(' ').next()?)?, number(total)?))
    });
    frames.collect()
}

#[cfg(unix)]
#[test]
fn the_progress_bar_counts_pages_and_files_together_and_only_forward() {
    let mut sandbox = sandbox().file("README.md", "# Zoo\n\nAnimals.\n");
    for number in 0..120 {
        sandbox = sandbox
            .file(
                &format!("docs/{number}.md"),
                format!("# Page {number}\n\nWalrus.\n"),
            )
            .file(
                &format!("src/{number}.py"),
                python_function(&format!("dive_{number}")),
            );
    }
    let screen = sandbox.run_on_terminal(&["index"]);
    let counts = counts(&screen);
    assert!(!counts.is_empty(), "{screen}");
    // 121 pages, which are files too.
    assert!(counts.iter().all(|(_, total)| *total == 121 + 241), "{counts:?}");
    assert!(counts.is_sorted(), "{counts:?}");
    assert!(
        screen.contains("241 can be searched") && screen.contains("/s"),
        "{screen}"
    );
    assert!(screen.contains("241 files are indexed: "), "{screen}");
}

/// Runs docent and returns the one line of its error.
fn error(command: &mut std::process::Command) -> String {
    let finished = Finished::run(command);
    assert_ne!(finished.code, 0, "{}", finished.stdout);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    finished.stderr.trim_end().to_owned()
}

#[test]
fn a_wrong_directory_is_an_error_that_says_what_to_do() {
    let sandbox = sandbox().file("a.txt", "");
    let at_home = error(
        stranger(&sandbox)
            .current_dir(sandbox.home())
            .args(["search", "x"]),
    );
    assert_snapshot!(without_paths(&sandbox, &at_home), @"error: HOME is your home directory, not a project: change to a project's directory (cd PROJECT), or name it with --root DIR");
    let at_top = error(stranger(&sandbox).current_dir("/").args(["search", "x"]));
    assert_snapshot!(at_top, @"error: / is the top of the file system, not a project: change to a project's directory (cd PROJECT), or name it with --root DIR");
    let absent = error(
        stranger(&sandbox)
            .env("DOCENT_ROOT", "/does/not/exist")
            .args(["search", "x"]),
    );
    assert_snapshot!(absent, @"error: there is no directory /does/not/exist; check DOCENT_ROOT, which names the project's directory");
    let file = error(stranger(&sandbox).args(["--root", "a.txt", "search", "x"]));
    assert_snapshot!(file, @"error: a.txt is not a directory; check --root, which names the project's directory");
}

#[test]
fn without_git_history_is_an_error_that_says_what_to_do_and_searches_go_on() {
    let sandbox = sandbox().file("a.py", python_function("narwhal"));
    let no_repository = error(stranger(&sandbox).arg("log"));
    assert_snapshot!(no_repository, @"error: This project is not a git repository. Run git init in the project root, or start docent in a repository");
    let sandbox = sandbox.repository();
    let no_git = error(stranger(&sandbox).arg("log"));
    assert_snapshot!(no_git, @"error: git is not installed. Install git and make sure it is on the PATH that docent is started with");
    let found = Finished::run(stranger(&sandbox).args(["search", "narwhal"]));
    assert!(found.code == 0 && found.stdout.contains("a.py"), "{found:?}");
}

#[cfg(unix)]
#[test]
fn without_rights_the_error_says_what_to_do_and_searches_go_on() {
    let sandbox = sandbox().file("src/a.py", python_function("narwhal"));
    // `HOME` is not there, as in containers, or cannot be written.
    let mut docent = stranger(&sandbox);
    docent
        .env("HOME", "/proc/1/none")
        .env_remove("XDG_CACHE_HOME")
        .args(["search", "narwhal"]);
    let found = Finished::run(&mut docent);
    assert!(found.code == 0 && found.stdout.contains("src/a.py"), "{found:?}");
    assert!(
        found
            .stdout
            .contains("Set XDG_CACHE_HOME to a directory that can be written"),
        "{}",
        found.stdout
    );

    docent_testkit::set_mode(sandbox.root(), 0o311);
    let refused = sandbox.run_unprivileged(&["search", "narwhal"]);
    docent_testkit::set_mode(sandbox.root(), 0o755);
    assert_ne!(refused.code, 0);
    assert!(
        refused.stderr.contains("give your user the right to read it"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_proxy_that_would_get_local_requests_is_named_by_doctor() {
    let sandbox = sandbox().file("a.py", "");
    let doctor = |exceptions: &str| {
        let mut docent = sandbox.docent();
        docent
            .env("HTTP_PROXY", "http://127.0.0.1:9")
            .env("NO_PROXY", exceptions)
            .arg("doctor");
        Finished::run(&mut docent).stdout
    };
    let named = doctor("example.org");
    assert!(
        named.contains("! proxy     HTTP_PROXY is set") && named.contains("set NO_PROXY=localhost,127.0.0.1"),
        "{named}"
    );
    let excepted = doctor("localhost,127.0.0.1");
    assert!(!excepted.contains("proxy"), "{excepted}");
}

#[cfg(unix)]
#[test]
fn two_docents_on_the_path_are_named_with_what_to_do() {
    let sandbox = sandbox().file(".git/HEAD", "").file("a.py", "");
    let directories = ["one", "two", "link"].map(|name| sandbox.outside().join(name));
    for directory in &directories {
        std::fs::create_dir(directory).unwrap();
    }
    let [one, two, link] = directories.each_ref().map(|directory| directory.join("docent"));
    // Which programs they are is not asked: neither is run.
    std::fs::write(&one, "#!/bin/sh\nexit 9\n").unwrap();
    std::fs::write(&two, "#!/bin/sh\nexit 9\n").unwrap();
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let path = |directories: &[std::path::PathBuf]| std::env::join_paths(directories).unwrap();
    let run = |arguments: &[&str], directories: &[std::path::PathBuf]| {
        let finished = Finished::run(stranger(&sandbox).env("PATH", path(directories)).args(arguments));
        without_paths(&sandbox, &finished.stdout)
    };
    for arguments in [&[][..], &["doctor"]] {
        let shown = run(arguments, &directories);
        assert!(
            shown.contains(
                "`docent` starts OUTSIDE/one/docent (another than this one); delete OUTSIDE/two/docent"
            ),
            "{shown}"
        );
        let shown = run(arguments, &[directories[0].clone(), directories[2].clone()]);
        assert!(!shown.contains("delete"), "a link is the same program: {shown}");
    }
}
