//! Tests of the opener.

use super::*;
use std::fs;

#[test]
fn both_ways_to_open_agree() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("a/b/secrets")).unwrap();
    for path in ["top.txt", "a/b/deep.txt", "a/b/secrets/x.txt", "a/empty"] {
        fs::write(directory.path().join(path), path).unwrap();
    }
    let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
    let content = |opened: Result<OpenedFile, FileError>| {
        opened.map_err(|error| error.to_string()).map(|mut opened| {
            let mut text = String::new();
            opened.file.read_to_string(&mut text).unwrap();
            (text, opened.size)
        })
    };
    for path in [
        "top.txt",
        "a/b/deep.txt",
        "a/empty",
        "a/b",
        "absent",
        "a/absent/x",
        "top.txt/x",
        "a/b/secrets/x.txt",
    ] {
        let path = RepoPath::parse(path).unwrap();
        assert_eq!(
            content(root.file(&path)),
            content(root.open_through_links(&path)),
            "{path}"
        );
    }
    let long = RepoPath::parse(&"x".repeat(5_000)).unwrap();
    assert!(matches!(root.file(&long), Err(FileError::Missing)));
    assert!(matches!(root.open_through_links(&long), Err(FileError::Missing)));
}

/// The names exist here, so that only the rules can refuse them.
#[cfg(unix)]
#[test]
fn names_that_windows_takes_for_something_else_are_refused_there() {
    let directory = tempfile::tempdir().unwrap();
    let names = [
        "aux.c",
        "file::$DATA",
        "c:x",
        "plain.txt.",
        "PROGRA~1",
        "a?b",
        "com1/x.txt",
    ];
    fs::create_dir(directory.path().join("com1")).unwrap();
    for name in names {
        fs::write(directory.path().join(name), name).unwrap();
    }
    fs::write(directory.path().join("plain.txt"), "").unwrap();
    std::os::unix::fs::symlink("aux.c", directory.path().join("link-to-device")).unwrap();
    let here = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
    let there = Root {
        system: NameRules::Windows,
        ..here.clone()
    };
    for name in names.into_iter().chain(["link-to-device"]) {
        let path = RepoPath::parse(name).unwrap();
        assert!(here.file(&path).is_ok(), "{name}");
        assert!(
            matches!(there.file(&path), Err(FileError::Ambiguous(_))),
            "{name}"
        );
    }
    for name in ["NUL", "a:b", "x."] {
        let path = RepoPath::parse(name).unwrap();
        assert!(
            matches!(there.create(&path, b""), Err(FileError::Ambiguous(_))),
            "{name}"
        );
        assert!(
            matches!(there.folder(&path), Err(FileError::Ambiguous(_))),
            "{name}"
        );
    }
    assert!(there.file(&RepoPath::parse("plain.txt").unwrap()).is_ok());
}

#[test]
fn a_file_over_the_limit_is_too_large() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "12345").unwrap();
    let root = Root::open(directory.path(), Access::new([]).unwrap()).unwrap();
    let path = RepoPath::parse("f").unwrap();
    assert_eq!(root.read(&path, 5).unwrap().bytes, b"12345");
    assert!(matches!(
        root.read(&path, 4),
        Err(FileError::TooLarge { size: 5, limit: 4 })
    ));
}

#[test]
fn a_root_that_is_no_directory_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("f"), "").unwrap();
    let open = |path: &str| Root::open(&directory.path().join(path), Access::new([]).unwrap()).unwrap_err();
    assert!(matches!(open("absent"), RootError::Missing(_)));
    assert!(matches!(open("f"), RootError::NotADirectory(_)));
}
