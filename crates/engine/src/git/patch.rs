//! How a patch is read: numbers of lines, or the lines themselves, each matched to its file by name.
//!
//! Invariant: a line belongs to the file whose header came before it, and a header is only where no hunk goes on. What does
//! not match is an error, never another file's.

use std::borrow::Cow;
use std::io::BufRead;

use super::GitError;
use super::diff::{Detail, Diff, MAX_CHANGED_LINES, Patched};
use super::raw::{ChangeStatus, FieldEnd, field, peek, until};

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 4_000;

/// `INSERTED\tDELETED\tPATH\0` for each file, `-` for binary ones; renames have an empty path and two more fields.
pub(super) fn read_numbers(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    // git lists files in the same order both times; a file in conflict may be among them or not.
    let mut files = diff.files.iter_mut();
    while peek(out)?.is_some() {
        let text = field(out)?;
        let mut parts = text.splitn(3, '\t');
        let (Some(inserted), Some(deleted), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let path = if path.is_empty() {
            field(out)?;
            field(out)?
        } else {
            path.to_owned()
        };
        let Some(file) = files.find(|file| file.change.path == path) else {
            return Err(GitError::BrokenOff);
        };
        // A binary file that was only moved has not changed as one.
        file.binary = inserted == "-" && !file.change.same_content;
        file.insertions = inserted.parse().unwrap_or(0);
        file.deletions = deleted.parse().unwrap_or(0);
    }
    Ok(())
}

/// Patches, in the order of the files, each with a header that names its file. A file that changed its type has two:
/// one that ends and one that begins.
pub(super) fn read_patches(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    let mut ahead = 0..diff.files.len();
    let mut at = None;
    let mut changed = 0;
    // Lines left in the hunk, of the old and of the new side: inside, nothing is a header.
    let mut left = (0_u64, 0_u64);
    let mut line = Vec::new();
    if peek(out)? == Some(0) {
        out.consume(1);
    }
    while next_line(out, &mut line)? {
        if left == (0, 0) && line.starts_with(b"diff --git ") {
            let names = |at: usize| has_header(&diff.files[at], &line);
            let is_second = at.is_some_and(|at: usize| {
                diff.files[at].change.status == ChangeStatus::TypeChanged && names(at)
            });
            if !is_second {
                at = ahead.find(|at| names(*at));
            }
            if at.is_none() {
                return Err(GitError::BrokenOff);
            }
            continue;
        }
        let Some(file) = at.map(|at| &mut diff.files[at]) else {
            continue;
        };
        if left == (0, 0) {
            if let Some(counts) = hunk(&line) {
                left = counts;
            } else {
                file.binary |= line.starts_with(b"Binary files ");
                if !line.starts_with(b"\\") {
                    continue;
                }
            }
        } else {
            match line.first() {
                Some(b'+') => {
                    left.1 = left.1.saturating_sub(1);
                    file.insertions += 1;
                    changed += 1;
                }
                Some(b'-') => {
                    left.0 = left.0.saturating_sub(1);
                    file.deletions += 1;
                    changed += 1;
                }
                Some(b'\\') => {}
                _ => left = (left.0.saturating_sub(1), left.1.saturating_sub(1)),
            }
        }
        if diff.detail == Detail::Patches && !file.withheld {
            file.patch.push_str(&String::from_utf8_lossy(&line));
            file.patch.push('\n');
            if changed > MAX_CHANGED_LINES {
                diff.drop_patches();
            }
        }
    }
    Ok(())
}

/// A name as git writes it in headers: in quotes where it has characters that need them.
pub(super) fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !(c.is_ascii_control() || matches!(c, '"' | '\\'));
    if name.chars().all(is_plain) {
        return name.into();
    }
    let mut quoted = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            c if is_plain(c) => quoted.push(c),
            c => quoted.push_str(&format!("\\{:03o}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted.into()
}

/// How many lines of either side follow `@@ -1,2 +3,4 @@`.
fn hunk(line: &[u8]) -> Option<(u64, u64)> {
    let text = str::from_utf8(line.strip_prefix(b"@@ -")?.split(|byte| *byte == b'@').next()?).ok()?;
    let mut sides = text
        .trim_end()
        .split(" +")
        .map(|side| match side.split_once(',') {
            Some((_, count)) => count.parse().ok(),
            None => Some(1),
        });
    Some((sides.next()??, sides.next()??))
}

/// Reads a line without its end, cut where it is too long to be shown; false when there is none.
pub(super) fn next_line(out: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, GitError> {
    let end = until(out, b'\n', MAX_LINE_BYTES, line)?;
    if end == FieldEnd::Cut {
        line.extend_from_slice(" … (line cut)".as_bytes());
    }
    Ok(end != FieldEnd::Nothing || !line.is_empty())
}

/// Whether a patch with that header is about this file.
fn has_header(file: &Patched, line: &[u8]) -> bool {
    let new = &file.change.path;
    let old = file.change.from.as_ref().unwrap_or(new);
    let header = format!("diff --git {} {}", quoted(old), quoted(new));
    // Headers of very long names are cut, and then tell nothing.
    file.change.status != ChangeStatus::Unmerged
        && header.len() <= MAX_LINE_BYTES
        && String::from_utf8_lossy(line) == header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_say_how_long_they_are() {
        assert_eq!(hunk(b"@@ -10,7 +10,12 @@ fn x() {"), Some((7, 12)));
        assert_eq!(hunk(b"@@ -0,0 +1 @@"), Some((0, 1)));
        assert_eq!(hunk(b"@@ broken"), None);
        assert_eq!(hunk(b"--- a/x"), None);
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(quoted("a b/größe"), "a b/größe");
        assert_eq!(quoted("t\tab\"\\\u{1}"), r#""t\tab\"\\\001""#);
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let text = format!("{}\nshort\n", "x".repeat(100_000));
        let mut out = std::io::BufReader::with_capacity(1_000, text.as_bytes());
        let mut line = Vec::new();
        assert!(next_line(&mut out, &mut line).unwrap());
        assert!(line.len() < 4_100 && line.ends_with("(line cut)".as_bytes()));
        assert!(next_line(&mut out, &mut line).unwrap());
        assert_eq!(line, b"short");
        assert!(!next_line(&mut out, &mut line).unwrap());
    }
}
