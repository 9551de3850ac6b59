//! Files that a plain write cannot make: named pipes, programs, symbolic links, other permissions. Unix only.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Makes a named pipe. A reader that opens it waits for a writer, which never comes.
pub fn make_pipe(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let status = Command::new("mkfifo")
        .arg(path)
        .status()
        .expect("mkfifo is installed");
    assert!(status.success(), "no pipe at {}", path.display());
}

/// Copies a program that a test will run, by a process of its own. If this process wrote the file, a process
/// that another test starts at the same moment would inherit the open file, and running the program would
/// fail with "Text file busy".
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp").arg(from.as_ref()).arg(to.as_ref()).status();
    assert!(status.expect("cp is installed").success(), "no copy of a program");
    set_mode(to, 0o755);
}

/// Makes a symbolic link at `link`, and the directories above it.
pub fn make_link(target: impl AsRef<Path>, link: impl AsRef<Path>) {
    let link = link.as_ref();
    fs::create_dir_all(link.parent().expect("a link in a directory")).expect("directories");
    symlink(target, link).expect("a symbolic link");
}

/// Sets the permissions of a file or directory, such as `0o555`.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("new permissions");
}
