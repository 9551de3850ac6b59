//! The parser of git's raw diff format: `:OLDMODE NEWMODE OLDID NEWID STATUS\0PATH\0`, in merges with one
//! colon, mode, id and letter per parent.
//!
//! Patches are parsed in `patch.rs`.
//!
//! Invariant: memory is bounded per field and per list, whatever the repository contains.

use std::io::BufRead;

use super::GitError;
use crate::files::lossy_text;

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub status: ChangeStatus,
    pub path: String,
    /// The old path of a renamed or copied file.
    pub from: Option<String>,
    pub old_mode: String,
    pub new_mode: String,
    /// The number of versions it is compared with; more than one in merges.
    pub parents: usize,
    /// Only its name or mode changed.
    pub same_content: bool,
    /// Fingerprint of its new content and mode. 0 if it was deleted.
    pub(super) content: u64,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStatus {
    Added,
    Modified,
    Deleted,
    Renamed,
    Copied,
    /// A file became a link or a submodule, or the other way round.
    TypeChanged,
    /// Both sides of a merge changed it, and the conflict is not resolved.
    Unmerged,
}

impl ChangedFile {
    /// The new path and the old one.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [Some(self.path.as_str()), self.from.as_deref()]
            .into_iter()
            .flatten()
    }
}

impl ChangeStatus {
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Copied => "copied",
            Self::TypeChanged => "type changed",
            Self::Unmerged => "conflicted",
        }
    }

    fn of(letters: &str) -> Self {
        let all = |allowed: &[char]| letters.chars().all(|letter| allowed.contains(&letter));
        match letters {
            "R" => Self::Renamed,
            "C" => Self::Copied,
            "U" => Self::Unmerged,
            // In a merge, a rename against a single parent counts as an addition.
            _ if all(&['A', 'R', 'C']) => Self::Added,
            _ if all(&['D']) => Self::Deleted,
            _ if all(&['T']) => Self::TypeChanged,
            _ => Self::Modified,
        }
    }

    /// Git's letter for it.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Added => 'A',
            Self::Modified => 'M',
            Self::Deleted => 'D',
            Self::Renamed => 'R',
            Self::Copied => 'C',
            Self::TypeChanged => 'T',
            Self::Unmerged => 'U',
        }
    }

    pub(super) fn from_letter(letter: char) -> Self {
        Self::of(letter.encode_utf8(&mut [0; 4]))
    }

    /// True if the change has an old and a new path.
    pub(super) fn has_two_names(self) -> bool {
        matches!(self, Self::Renamed | Self::Copied)
    }
}

/// Reads one change. The reader is at its first colon.
pub(super) fn read_change(out: &mut dyn BufRead) -> Result<ChangedFile, GitError> {
    let header = read_field(out)?;
    let parents = header.bytes().take_while(|byte| *byte == b':').count();
    let mut words = header[parents..].split(' ');
    let old_mode = words.next().unwrap_or_default().to_owned();
    let new_mode = words
        .nth(parents.saturating_sub(1))
        .unwrap_or_default()
        .to_owned();
    let old = words.next().unwrap_or_default();
    let new = words.nth(parents.saturating_sub(1)).unwrap_or_default();
    let letters: String = header
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_uppercase)
        .collect();
    let content = fingerprint(&new_mode, new);
    let status = ChangeStatus::of(&letters);
    let first = read_field(out)?;
    let (path, from) = if status.has_two_names() {
        (read_field(out)?, Some(first))
    } else {
        (first, None)
    };
    Ok(ChangedFile {
        status,
        path,
        from,
        old_mode,
        new_mode,
        parents,
        same_content: parents == 1 && old == new,
        content,
    })
}

/// Fingerprint of a file's content: the first digits of its object id, mixed with the mode. 0 for no object.
pub(super) fn fingerprint(mode: &str, id: &str) -> u64 {
    let digits = id
        .get(..16)
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let mode = u64::from_str_radix(mode, 8).unwrap_or(0);
    digits
        .filter(|digits| *digits != 0)
        .map_or(0, |digits| digits ^ mode.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Further files of a commit are only counted.
pub(super) const MAX_CHANGES: usize = 300_000;

/// Reads all changes of a commit, and counts those beyond [`MAX_CHANGES`].
pub(super) fn read_changes(out: &mut dyn BufRead) -> Result<(Vec<ChangedFile>, usize), GitError> {
    let mut changes = Vec::new();
    let mut unlisted = 0;
    while skip_separators(out)? && peek(out)? == Some(b':') {
        let change = read_change(out)?;
        if changes.len() < MAX_CHANGES {
            changes.push(change);
        } else {
            unlisted += 1;
        }
    }
    Ok((changes, unlisted))
}

/// Skips the bytes that git puts between records. False at the end.
pub(super) fn skip_separators(out: &mut dyn BufRead) -> Result<bool, GitError> {
    loop {
        match peek(out)? {
            None => return Ok(false),
            Some(0 | b'\n') => out.consume(1),
            Some(_) => return Ok(true),
        }
    }
}

/// Reads up to the next NUL.
pub(super) fn read_field(out: &mut dyn BufRead) -> Result<String, GitError> {
    let mut bytes = Vec::new();
    let end = read_until(out, 0, MAX_FIELD_BYTES, &mut bytes)?;
    if end == FieldEnd::EndOfInput {
        return Err(GitError::Truncated);
    }
    Ok(lossy_text(bytes))
}

/// How a field ended: whole, cut at the limit, or because the input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldEnd {
    Whole,
    Cut,
    EndOfInput,
}

/// Longer fields are cut.
const MAX_FIELD_BYTES: usize = 32 << 10;

/// Reads up to the byte `end`, which is skipped, and stores at most `limit` bytes in `field`.
pub(super) fn read_until(
    out: &mut dyn BufRead,
    end: u8,
    limit: usize,
    field: &mut Vec<u8>,
) -> Result<FieldEnd, GitError> {
    field.clear();
    let mut is_cut = false;
    loop {
        let part = out.fill_buf().map_err(GitError::Pipe)?;
        if part.is_empty() {
            return Ok(FieldEnd::EndOfInput);
        }
        let end_at = part.iter().position(|byte| *byte == end);
        let text = &part[..end_at.unwrap_or(part.len())];
        let room = limit.saturating_sub(field.len());
        is_cut |= text.len() > room;
        field.extend_from_slice(&text[..text.len().min(room)]);
        let used = text.len() + usize::from(end_at.is_some());
        out.consume(used);
        if end_at.is_some() {
            return Ok(if is_cut { FieldEnd::Cut } else { FieldEnd::Whole });
        }
    }
}

/// The next byte, without consuming it. `None` at the end.
pub(super) fn peek(out: &mut dyn BufRead) -> Result<Option<u8>, GitError> {
    Ok(out.fill_buf().map_err(GitError::Pipe)?.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, status: ChangeStatus, path: &str, from: Option<&str>) {
        let read = read_change(&mut text.as_bytes()).unwrap();
        assert_eq!(
            (read.status, read.path.as_str(), read.from.as_deref()),
            (status, path, from)
        );
    }

    #[test]
    fn every_letter_is_a_status() {
        check(
            ":000000 100644 0000000 0fdf397 A\0a b\0",
            ChangeStatus::Added,
            "a b",
            None,
        );
        check(
            ":100644 100644 0fdf397 9453a7c M\0f\0",
            ChangeStatus::Modified,
            "f",
            None,
        );
        check(
            ":100644 000000 0fdf397 0000000 D\0f\0",
            ChangeStatus::Deleted,
            "f",
            None,
        );
        check(
            ":100644 100644 0fdf397 0fdf397 R100\0g\0h\0",
            ChangeStatus::Renamed,
            "h",
            Some("g"),
        );
        check(
            ":100644 120000 5e62568 0000000 T\0f\0",
            ChangeStatus::TypeChanged,
            "f",
            None,
        );
        check(
            ":000000 100644 0000000 0000000 U\0f\0",
            ChangeStatus::Unmerged,
            "f",
            None,
        );
        check(
            "::100644 100644 100644 9453a7c 83c4851 5e62568 MM\0f\0",
            ChangeStatus::Modified,
            "f",
            None,
        );
        check(
            "::000000 000000 100644 0000000 0000000 5e62568 AA\0f\0",
            ChangeStatus::Added,
            "f",
            None,
        );
        check(
            "::100644 100644 100644 9453a7c 83c4851 5e62568 RM\0f\0",
            ChangeStatus::Modified,
            "f",
            None,
        );
    }

    #[test]
    fn the_fingerprint_is_of_the_last_id() {
        let id = |digit: &str| digit.repeat(40);
        let check = |text: String, expected: u64| {
            assert_eq!(
                read_change(&mut text.as_bytes()).unwrap().content,
                expected,
                "{text}"
            );
        };
        check(
            format!(":100644 100644 {} {} M\0f\0", id("1"), id("2")),
            fingerprint("100644", &id("2")),
        );
        assert_ne!(fingerprint("100644", &id("2")), fingerprint("100755", &id("2")));
        check(format!(":100644 000000 {} {} D\0f\0", id("1"), id("0")), 0);
        let merged = format!(
            "::100644 100644 100644 {} {} {} MM\0f\0",
            id("1"),
            id("2"),
            id("3")
        );
        check(merged, fingerprint("100644", &id("3")));
    }

    #[test]
    fn modes_are_the_first_and_the_last() {
        let read = read_change(&mut ":100644 100755 0fdf397 0fdf397 M\0f\0".as_bytes()).unwrap();
        assert_eq!(
            (read.old_mode.as_str(), read.new_mode.as_str()),
            ("100644", "100755")
        );
        let read = read_change(&mut "::100644 100645 100755 a b c MM\0f\0".as_bytes()).unwrap();
        assert_eq!(
            (read.old_mode.as_str(), read.new_mode.as_str()),
            ("100644", "100755")
        );
    }
}
