//! Which commands that list files are understood, and which are left alone.

use super::*;
use crate::shell::{Request, understand};

fn request(line: &str) -> Result<FindRequest, CommandRefusal> {
    let words: Vec<Word> =
        crate::shell::split_words(line).unwrap_or_else(|_| line.split(' ').map(Word::literal).collect());
    match understand(&words)? {
        Request::Find(request) => Ok(request),
        _ => panic!("{line} lists files"),
    }
}

fn expression(line: &str) -> FindExpression {
    match request(line) {
        Ok(FindRequest::Find(command)) => command.expression,
        other => panic!("{line}: {other:?}"),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn commands_of_find_that_agents_type_are_understood() {
    for line in [
        "find",
        "find .",
        "find src tests -name '*.rs'",
        "find . -type f -name '*.py' -not -path './.git/*'",
        "find . -maxdepth 2 -type d",
        "find . ( -name '*.ts' -o -name '*.tsx' ) -not -path '*/node_modules/*'",
        "find . -path ./node_modules -prune -o -name '*.js' -print",
        "find . -name x -print -quit",
        "find / -iname 'readme*' -type f,l",
        "find . -size +100k ! -empty",
        "find . -mtime -7 -mmin +5",
        "find . -regextype posix-extended -regex '.*[.](js|ts)'",
        "find . -type f -printf '%s %p\\n'",
    ] {
        assert!(request(line).is_ok(), "{line}: {:?}", request(line));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn commands_of_find_that_are_not_answered_are_refused() {
    for line in [
        "find . -name x -exec cat {} +",
        "find . -delete",
        "find . -print0",
        "find . -ls",
        "find -L . -name x",
        "find -H . -name x",
        "find . -follow",
        "find . -newer a",
        "find . -perm -111",
        "find . -user root",
        "find . -name",
        "find . -name x -o",
        "find . -o -name x",
        "find . ( -name x",
        "find . ( )",
        "find . -name x )",
        "find . -name x src",
        "find . -maxdepth x",
        "find . -type fd",
        "find . -size 1x",
        "find . -mtime +1.5",
        "find . -name x , -name y",
        "find . !",
        "find . -name [a",
        "find . -printf '%h'",
        "find . -fprint out",
        "find . -xtype l",
        "find . -depth",
        "find . -unknown",
    ] {
        assert!(request(line).is_err(), "{line}");
    }
    let glob = Word {
        text: "*.py".to_owned(),
        expands: true,
    };
    let words = [Word::literal("-name"), glob.clone()];
    assert!(super::understand("find", &words).is_err());
    assert!(super::understand("find", &[glob]).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn and_binds_closer_than_or_and_not_closest() {
    let name = |text: &str| FindExpression::Test(FindTest::Name(FnmatchPattern::parse(text, false).unwrap()));
    let print = FindExpression::Action(FindAction::Print);
    assert_eq!(
        expression("find . ! -name a -name b -o -name c"),
        FindExpression::And(vec![
            FindExpression::Or(vec![
                FindExpression::And(vec![FindExpression::Not(Box::new(name("a"))), name("b")]),
                name("c"),
            ]),
            print.clone(),
        ])
    );
    assert_eq!(
        expression("find . -name a -prune -o -print"),
        FindExpression::Or(vec![
            FindExpression::And(vec![name("a"), FindExpression::Action(FindAction::Prune)]),
            print,
        ])
    );
}

#[test]
fn options_of_the_other_programs_are_understood_or_refused() {
    let rg = |line: &str| {
        let words: Vec<Word> = line.split(' ').map(Word::literal).collect();
        understand_rg_files(&words)
    };
    for line in [
        "fd",
        "fd -e rs",
        "fd -t f -e py test_ src",
        "fd -HI -d2 x",
        "fd -g *.rs",
        "fd -E .git -H x",
        "tree",
        "tree -L 2 -a -I node_modules|.git",
        "tree -d src",
        "ls -R",
        "ls -aR src",
    ] {
        assert!(request(line).is_ok(), "{line}: {:?}", request(line));
    }
    for line in [
        "fd -H x",
        "fd -x cat",
        "fd -L x",
        "fd -l",
        "fd -0 x",
        r"fd \w+",
        "fd -t x a",
        "fd src/x",
        "fd --newer 1d",
        "fd -e",
        "tree -s",
        "tree -L 0",
        "tree -L",
        "tree --gitignore",
        "tree -I a/b",
        "tree -J",
        "ls",
        "ls -la src",
        "ls -lR",
        "ls -Rt",
    ] {
        assert!(request(line).is_err(), "{line}");
    }
    for line in [
        "--files",
        "--files src -g *.rs",
        "--files --hidden -g !.git",
        "--files -uu -t rust",
    ] {
        assert!(rg(line).is_ok(), "{line}");
    }
    for line in [
        "--files -t py",
        "--files -L",
        "--files -0",
        "--files --sortr path",
        "word src",
    ] {
        assert!(rg(line).is_err(), "{line}");
    }
}

#[test]
fn fd_ignores_case_for_a_pattern_without_capital_letters() {
    let case = |line: &str| match request(line) {
        Ok(FindRequest::Fd(command)) => command.pattern.ignores_case,
        other => panic!("{line}: {other:?}"),
    };
    assert!(case("fd readme"));
    assert!(!case("fd README"));
    assert!(!case("fd -s readme"));
    assert!(case("fd -i README"));
    assert!(case(r"fd \.rs$"));
}
