//! `docent sh find`, `fd`, `tree` and `ls -R` beside the programs themselves, on awkward files.
//!
//! Programs that are not installed are skipped, loudly; `find` and `ls` are on every machine that runs these.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use docent_testkit::Sandbox;

use crate::sandbox;

/// A project with hidden and ignored files, links, and names that are hard to print.
fn awkward_project() -> Sandbox {
    let project = sandbox()
        .file("src/main.rs", "fn main() {}\n")
        .file("src/net/a.rs", "a")
        .file("src/net/b.rs", "")
        .file("Readme.md", "x".repeat(3000))
        .file(".hidden/deep.rs", "x")
        .file("node_modules/p/index.js", "x")
        .file("sp ace/two  blanks.rs", "x")
        .file("qu\"ote.rs", "x")
        .file("it's.rs", "x")
        .file("back\\slash.rs", "x")
        .file("new\nline.rs", "x")
        .file("é.rs", "x")
        .file("[x].rs", "x")
        .file(".gitignore", "node_modules/\n");
    let root = project.root();
    fs::create_dir_all(root.join("empty/inner")).unwrap();
    fs::write(root.join(OsStr::from_bytes(b"bad\xff.rs")), "x").unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    symlink("..", root.join("src/loop")).unwrap();
    symlink("src", root.join("link")).unwrap();
    project
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn run(project: &Sandbox, line: &str, locale: &str, as_docent: bool) -> Output {
    let words = words(line);
    let mut command = if as_docent {
        let mut command = project.docent();
        command.arg("sh").args(&words);
        command
    } else {
        let mut command = project.program(words[0]);
        command.args(&words[1..]);
        command
    };
    command.env("LC_ALL", locale).output().unwrap()
}

/// Compares output, messages and exit status with the program's. Short lists are printed as they are.
#[track_caller]
fn check_same(project: &Sandbox, line: &str, locale: &str) {
    let original = run(project, line, locale, false);
    let answer = run(project, line, locale, true);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&answer.stderr), text(&original.stderr), "{locale} {line}");
    assert_eq!(text(&answer.stdout), text(&original.stdout), "{locale} {line}");
    assert_eq!(answer.stdout, original.stdout, "{locale} {line}");
    assert_eq!(answer.status.code(), original.status.code(), "{locale} {line}");
}

#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        println!("SKIPPED: {program} is not installed");
    }
    is_there
}

#[cfg(target_os = "linux")]
#[test]
fn find_selects_the_same_paths_in_the_same_order() {
    let project = awkward_project();
    for locale in ["C", "C.UTF-8"] {
        for line in [
            "find . -name *.rs",
            "find . -name ?.rs",
            "find . -name bad?.rs",
            "find . -name [[]x].rs",
            "find . -name *[[:space:]]*",
            r"find . -name *\\*",
            "find . -iname README*",
            "find . -name .*",
            "find . -name .",
            "find src/ -name src",
            "find -maxdepth 1 -type l",
            "find src//net -mindepth 1",
            "find . -type d -empty",
            "find . -empty",
            "find . -size +1k",
            "find . -size -2 -type f",
            "find . -path *net*",
            "find . -path ./src/net -prune -o -type f -name *.rs -print",
            "find . ! -name *.rs ! -type d",
            "find . ( -name a.rs -o -name b.rs ) -print",
            "find . -name a.rs -o -name b.rs -print",
            "find . -name *.rs -print -quit",
            "find . -mmin -1000000000 -type d",
            "find src -printf %p|%P|%f|%d|%s\\n",
            "find src/ -maxdepth 0 -printf %f|%P\\n",
            "find nope src -name a.rs",
            "find back\\slashes",
            "find link",
            "find link/",
            "find broken nope",
            "find src -regex .*/[ab]\\.rs",
        ] {
            check_same(&project, line, locale);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pattern_that_depends_on_the_language_is_left_to_find() {
    let project = awkward_project();
    let answer = run(&project, "find . -name [a-z].rs", "de_DE.UTF-8", true);
    assert_eq!(answer.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&answer.stderr).contains("depends on the locale"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_cannot_be_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;

    let project = sandbox().file("closed/a.rs", "x").file("open/b.rs", "x");
    let closed = project.root().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        println!("SKIPPED: file permissions do not apply to root");
    } else {
        for line in ["find . -name *.rs", "find closed", "ls -R"] {
            check_same(&project, line, "C");
        }
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn directories_deeper_than_a_path_may_be_long_are_entered() {
    let project = sandbox();
    // Each half has a path that can be named; one inside of the other has none.
    let half = vec!["x".repeat(100); 30].join("/");
    let (upper, lower) = (project.root().join("upper"), project.root().join("lower"));
    fs::create_dir_all(upper.join(&half)).unwrap();
    fs::create_dir_all(lower.join(&half)).unwrap();
    fs::write(lower.join(&half).join("end.rs"), "").unwrap();
    fs::rename(&lower, upper.join(&half).join("lower")).unwrap();

    let answer = run(&project, "find . -name end.rs -printf %d|%f\\n", "C", true);
    assert_eq!(String::from_utf8_lossy(&answer.stdout), "63|end.rs\n");
    check_same(&project, "find . -name end.rs -printf %d|%f\\n", "C");
}

#[cfg(target_os = "linux")]
#[test]
fn the_first_of_ten_thousand_files_are_those_of_find() {
    let project = sandbox();
    for number in 0..10_050 {
        fs::write(project.root().join(format!("f{number}")), "").unwrap();
    }
    let original = run(&project, "find . -type f", "C", false);
    let first: Vec<&[u8]> = original.stdout.split(|byte| *byte == b'\n').take(20).collect();
    let answer = project
        .docent()
        .args(["sh", "--then", "head -20", "find", ".", "-type", "f"])
        .output()
        .unwrap();
    assert_eq!(answer.stdout, [first.join(&b'\n'), b"\n".to_vec()].concat());
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_list_names_each_directory_once_and_counts_the_rest() {
    let mut project = sandbox().file(".gitignore", "/generated_here/\n");
    for number in 0..300 {
        project = project
            .file(&format!("src/parts/part_{number:03}.rs"), "x")
            .file(&format!("generated_here/lib/mod_{number:03}.rs"), "x");
    }
    let answer = run(&project, "find . -name *.rs", "C", true);
    let text = String::from_utf8(answer.stdout).unwrap();
    assert!(text.starts_with("src/parts/: part_000.rs part_001.rs "), "{text}");
    assert!(text.ends_with("… 300 more: generated_here/lib/ 300\n"), "{text}");
    assert!(text.chars().count() <= 4000);
    assert_eq!(text.lines().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_that_is_empty_says_what_comes_near() {
    let project = awkward_project();
    let out = |line: &str| {
        let answer = run(&project, line, "C", true);
        assert_eq!(answer.status.code(), Some(0), "{line}");
        String::from_utf8(answer.stdout).unwrap()
    };
    assert_eq!(
        out("find . -name README.md"),
        "nothing found; in another case: ./Readme.md\n"
    );
    assert_eq!(
        out("find . -name mian.rs"),
        "nothing found; similar: ./src/main.rs\n"
    );
    assert_eq!(out("find . -name zebra"), "");
    assert_eq!(
        out("fd deep"),
        "nothing found; hidden or ignored: .hidden/deep.rs\n"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_status_behind_a_filter_is_that_of_the_filter() {
    let project = awkward_project();
    let answer = project
        .docent()
        .args(["sh", "--then", "head -5", "find", "nope"])
        .output()
        .unwrap();
    assert_eq!(answer.status.code(), Some(0));
    assert!(!answer.stderr.is_empty());
}

#[test]
fn tree_and_ls_print_the_same_lines() {
    let project = awkward_project();
    let mut lines = vec![
        "ls -R src",
        "ls -aR empty",
        "ls -R nope src/net Readme.md",
        "ls -R link",
    ];
    if is_installed("tree") {
        lines.extend([
            "tree src",
            "tree -L 1 empty sp\u{a0}ace nope",
            "tree -d",
            "tree -a -I node_modules|*.rs",
            "tree -P a* src",
            "tree -f src/",
            "tree -fi --noreport src",
            "tree --dirsfirst link",
            "tree Readme.md",
        ]);
    }
    for line in lines {
        for locale in ["C", "C.UTF-8"] {
            check_same(&project, line, locale);
        }
    }
}

#[test]
fn fd_and_ripgrep_list_the_same_files() {
    let project = awkward_project();
    let fd = ["fd", "fdfind"].into_iter().find(|name| is_installed(name));
    let mut lines = Vec::new();
    if let Some(fd) = fd {
        for arguments in [
            "-e rs",
            "README",
            "readme",
            "-HI -t f deep",
            "-t d",
            "-g *.rs src",
            "-t l",
            ". src/",
            "-E *.rs a",
            "-d 1 -e md",
            "zebra",
            "x nope",
            "a nope src",
            "-I index",
            "-a main",
        ] {
            lines.push(format!("{fd} {arguments}"));
        }
    }
    if is_installed("rg") {
        for arguments in [
            "-g *.md",
            "src",
            "--hidden -g .hidden/**",
            "-uu -t rust .hidden",
            "-g *.none",
        ] {
            lines.push(format!("rg --files {arguments}"));
        }
    }
    for line in lines {
        let sorted = |output: &Output| {
            let mut lines: Vec<Vec<u8>> = output
                .stdout
                .split(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            lines.sort();
            lines.retain(|line| !line.starts_with(b"nothing found; "));
            lines
        };
        let original = run(&project, &line, "C.UTF-8", false);
        let answer = run(&project, &line, "C.UTF-8", true);
        assert_eq!(answer.status.code(), original.status.code(), "{line}");
        let (mut ours, theirs) = (sorted(&answer), sorted(&original));
        if ours.is_empty() {
            ours.push(Vec::new());
        }
        assert_eq!(ours, theirs, "{line}");
    }
}
