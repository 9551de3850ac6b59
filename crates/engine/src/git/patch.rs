//! The parser of git's patches and line counts. Each is matched to its file by name.
//!
//! Invariant: a line belongs to the file whose header came before it, and inside a hunk no line is a header.
//! A header that matches no file is an error, so that no content appears under another file's name.

use std::borrow::Cow;
use std::io::BufRead;

use super::GitError;
use super::diff::{Diff, DiffDetail, FileDiff, MAX_CHANGED_LINES, PatchLimit};
use super::raw::{ChangeStatus, FieldEnd, peek, read_field, read_until};

/// Longer lines are cut.
const MAX_LINE_BYTES: usize = 4_000;

/// Limits of [`PatchLimit::PerFile`]: bytes of one patch, and of all patches together.
const MAX_FILE_PATCH_BYTES: usize = 256 << 10;
const MAX_PATCHES_BYTES: usize = 2 << 20;

/// Reads `INSERTED\tDELETED\tPATH\0` for each file, with `-` for binary ones. Renames have an empty path and
/// two more fields.
pub(super) fn read_numbers(out: &mut dyn BufRead, diff: &mut Diff) -> Result<(), GitError> {
    // Git lists files in the same order both times, with or without the files in conflict.
    let mut files = diff.files.iter_mut();
    while peek(out)?.is_some() {
        let text = read_field(out)?;
        let mut parts = text.splitn(3, '\t');
        let (Some(inserted), Some(deleted), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let path = if path.is_empty() {
            read_field(out)?;
            read_field(out)?
        } else {
            path.to_owned()
        };
        let Some(file) = files.find(|file| file.change.path == path) else {
            return Err(GitError::Truncated);
        };
        // A binary file that was only renamed has no binary change.
        file.binary = inserted == "-" && !file.change.same_content;
        file.insertions = inserted.parse().unwrap_or(0);
        file.deletions = deleted.parse().unwrap_or(0);
    }
    Ok(())
}

/// Reads patches in the order of the files, each behind a header that names its file. A file that changed its
/// type has two: one deletes it, one adds it.
pub(super) fn read_patches(
    out: &mut dyn BufRead,
    diff: &mut Diff,
    limit: PatchLimit,
) -> Result<(), GitError> {
    let mut ahead = 0..diff.files.len();
    let mut at = None;
    let mut changed = 0;
    let mut kept_bytes = 0;
    // Lines left in the hunk, of the old and of the new side. No line inside a hunk is a header.
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
                return Err(GitError::Truncated);
            }
            continue;
        }
        let Some(file) = at.map(|at| &mut diff.files[at]) else {
            continue;
        };
        if left == (0, 0) {
            if let Some(counts) = parse_hunk_header(&line) {
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
        if diff.detail == DiffDetail::Patches && !file.withheld {
            let is_full = file.patch.len() > MAX_FILE_PATCH_BYTES || kept_bytes > MAX_PATCHES_BYTES;
            if limit == PatchLimit::PerFile && is_full {
                file.is_cut = true;
                continue;
            }
            kept_bytes += line.len();
            file.patch.push_str(&String::from_utf8_lossy(&line));
            file.patch.push('\n');
            if limit == PatchLimit::AllOrNone && changed > MAX_CHANGED_LINES {
                diff.drop_patches();
            }
        }
    }
    Ok(())
}

/// Writes a name as git does in headers: in quotes if a character needs them.
pub(super) fn quote_name(name: &str) -> Cow<'_, str> {
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

/// Parses `@@ -1,2 +3,4 @@` into the number of lines of both sides.
pub(super) fn parse_hunk_header(line: &[u8]) -> Option<(u64, u64)> {
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

/// Reads a line without its end, cut if it is too long to be shown. False at the end.
pub(super) fn next_line(out: &mut dyn BufRead, line: &mut Vec<u8>) -> Result<bool, GitError> {
    let end = read_until(out, b'\n', MAX_LINE_BYTES, line)?;
    if end == FieldEnd::Cut {
        line.extend_from_slice(" … (line cut)".as_bytes());
    }
    Ok(end != FieldEnd::EndOfInput || !line.is_empty())
}

/// Whether this is the header of the file's patch.
fn has_header(file: &FileDiff, line: &[u8]) -> bool {
    let new = &file.change.path;
    let old = file.change.from.as_ref().unwrap_or(new);
    let header = format!("diff --git {} {}", quote_name(old), quote_name(new));
    // The header of a very long name is cut and cannot be compared.
    file.change.status != ChangeStatus::Unmerged
        && header.len() <= MAX_LINE_BYTES
        && String::from_utf8_lossy(line) == header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hunk_header_has_the_numbers_of_lines() {
        assert_eq!(parse_hunk_header(b"@@ -10,7 +10,12 @@ fn x() {"), Some((7, 12)));
        assert_eq!(parse_hunk_header(b"@@ -0,0 +1 @@"), Some((0, 1)));
        assert_eq!(parse_hunk_header(b"@@ broken"), None);
        assert_eq!(parse_hunk_header(b"--- a/x"), None);
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(quote_name("a b/größe"), "a b/größe");
        assert_eq!(quote_name("t\tab\"\\\u{1}"), r#""t\tab\"\\\001""#);
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
