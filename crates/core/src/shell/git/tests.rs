//! Tests of what is understood of git's commands.

use super::*;

fn words(command: &str) -> Vec<Word> {
    command.split(' ').map(Word::literal).collect()
}

fn understand(words: &[Word]) -> Result<GitInvocation, CommandRefusal> {
    let (directories, command) = split_command(words)?;
    super::understand(directories, command)
}

fn output(command: &str) -> GitOutput {
    match understand(&words(command)) {
        Ok(request) => request.output,
        Err(refusal) => panic!("{command}: {refusal}"),
    }
}

#[test]
fn the_form_of_the_output_follows_from_the_flags() {
    for (command, expected) in [
        ("log", GitOutput::Commits),
        ("log -5 --author=jane src", GitOutput::Commits),
        ("log --oneline -20 --all", GitOutput::Lines),
        ("--no-pager log --oneline --graph -n 3", GitOutput::Lines),
        ("log --format=%h -- a", GitOutput::Exact),
        ("log --pretty=oneline", GitOutput::Lines),
        ("log --stat -2", GitOutput::Stat),
        ("log -p -2 -- src", GitOutput::Patches),
        ("log --oneline --name-only -5", GitOutput::Exact),
        ("show HEAD", GitOutput::Patches),
        ("show --stat HEAD~2", GitOutput::Stat),
        ("show HEAD:src/a.rs", GitOutput::Exact),
        ("show -s HEAD", GitOutput::Commits),
        ("show -s --format=%B HEAD", GitOutput::Exact),
        ("show --format=%B HEAD", GitOutput::ExactPatches),
        ("show --format= HEAD", GitOutput::Patches),
        ("show :/fix", GitOutput::Patches),
        ("diff", GitOutput::Patches),
        ("-C sub diff --cached -U10 HEAD~1 -- a b", GitOutput::Patches),
        ("diff --stat -p", GitOutput::Patches),
        ("diff --stat HEAD~3..HEAD", GitOutput::Stat),
        ("diff --name-status main...HEAD", GitOutput::Exact),
        ("diff -z --raw", GitOutput::Exact),
        ("diff --quiet", GitOutput::Exact),
        ("status", GitOutput::Lines),
        ("status -sb -uno", GitOutput::Lines),
        ("status --porcelain=v2", GitOutput::Exact),
        ("blame -L 10,20 src/a.rs", GitOutput::Lines),
        ("blame --line-porcelain src/a.rs", GitOutput::Exact),
    ] {
        assert_eq!(output(command), expected, "{command}");
    }
}

#[test]
fn flags_that_write_or_run_or_read_elsewhere_are_refused() {
    for command in [
        "diff --output=x",
        "diff --output x",
        "log -p --ext-diff",
        "show --textconv",
        "log --show-signature",
        "log --format=%G?",
        "show --pretty=format:%GG",
        "diff --no-index a b",
        "diff -Oorder",
        "log --stdin",
        "diff --color=always",
        "diff --word-diff",
        "diff --line-prefix=x",
        "diff --src-prefix=x/",
        "diff --binary",
        "log --remerge-diff",
        "log -L 1,2:a.rs",
        "blame --contents x a",
        "status -v",
        "diff -pw",
        "diff --sta",
        "log --end-of-options x",
        "log --since --output=x",
        "diff -U -p",
        "diff -z",
        "log --graph -p",
        "diff -",
        "-c core.pager=x log",
        "--git-dir=x log",
        "--exec-path=x log",
        "-p log",
        "-C -p log",
        "commit -m x",
        "lg",
        "diff-tree HEAD",
    ] {
        assert!(understand(&words(command)).is_err(), "{command}");
    }
    assert!(understand(&[]).is_err());
}

#[test]
fn content_of_blocked_files_is_left_to_git_itself() {
    for command in [
        "diff -- .env",
        "diff HEAD .env.local",
        "show HEAD:config/secrets/a",
        "blame server.key",
        "log -p -- deploy/id_rsa",
    ] {
        assert!(understand(&words(command)).is_err(), "{command}");
    }
    for command in ["diff -- .env.example", "diff -- . :!.env", "show HEAD:.gitignore"] {
        assert!(understand(&words(command)).is_ok(), "{command}");
    }
}

#[test]
fn a_glob_is_an_operand_and_never_a_flag() {
    let glob = |text: &str| Word {
        text: text.to_owned(),
        expands: true,
    };
    let mut diff = words("diff --stat --");
    diff.push(glob("src/*.rs"));
    assert!(understand(&diff).is_ok());
    assert!(understand(&[Word::literal("log"), glob("-*")]).is_err());
    assert!(understand(&[Word::literal("log"), Word::literal("--since"), glob("*")]).is_err());
}

#[test]
fn operands_and_paths_are_told_apart_by_the_separator() {
    let request = understand(&words("diff -U 5 HEAD~1 src -- a b")).unwrap();
    assert_eq!((request.operands, request.separator), (vec![2, 3], Some(4)));
    let request = understand(&words("-C a -C b log --since 2024-01-01 main")).unwrap();
    assert_eq!(request.directories, ["a", "b"]);
    assert_eq!(request.operands, [2]);
}
