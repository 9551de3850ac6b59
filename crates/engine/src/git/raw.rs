//! What changed between two trees, as git's raw format has it: `:OLDMODE NEWMODE OLDID NEWID STATUS\0PATH\0`, for merges with
//! one colon, mode, id and letter per parent.

use std::io::BufRead;

use super::GitError;

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub status: Status,
    pub path: String,
    /// What it was called before.
    pub from: Option<String>,
    pub old_mode: String,
    pub new_mode: String,
    /// How many versions it is compared with; more than one in merges.
    pub parents: usize,
}

/// What happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Added,
    Modified,
    Deleted,
    Renamed,
    Copied,
    /// A file became a link or a submodule, or the other way round.
    TypeChanged,
    /// Both sides of a merge changed it and nobody has decided yet.
    Unmerged,
}

impl Status {
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
        let mut each = letters.chars();
        let first = each.next();
        let all_same = each.all(|letter| Some(letter) == first);
        match first {
            Some('A') if all_same => Self::Added,
            Some('D') if all_same => Self::Deleted,
            Some('R') if letters.len() == 1 => Self::Renamed,
            Some('C') if letters.len() == 1 => Self::Copied,
            Some('T') if all_same => Self::TypeChanged,
            Some('U') => Self::Unmerged,
            _ => Self::Modified,
        }
    }

    /// True where two names belong to the change.
    fn has_two_names(self) -> bool {
        matches!(self, Self::Renamed | Self::Copied)
    }
}

/// Reads one change; the reader stands at its first colon.
pub(super) fn change(out: &mut dyn BufRead) -> Result<Change, GitError> {
    let header = field(out)?;
    let parents = header.bytes().take_while(|byte| *byte == b':').count();
    let mut words = header[parents..].split(' ');
    let old_mode = words.next().unwrap_or_default().to_owned();
    let new_mode = words
        .nth(parents.saturating_sub(1))
        .unwrap_or_default()
        .to_owned();
    let letters: String = header
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_uppercase)
        .collect();
    let status = Status::of(&letters);
    let first = field(out)?;
    let (path, from) = if status.has_two_names() {
        (field(out)?, Some(first))
    } else {
        (first, None)
    };
    Ok(Change {
        status,
        path,
        from,
        old_mode,
        new_mode,
        parents,
    })
}

/// Reads up to the next NUL.
pub(super) fn field(out: &mut dyn BufRead) -> Result<String, GitError> {
    let mut bytes = Vec::new();
    out.read_until(0, &mut bytes).map_err(GitError::Pipe)?;
    if bytes.pop() != Some(0) {
        return Err(GitError::Failed("git stopped in the middle of its answer".into()));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The next byte, left where it is; nothing at the end.
pub(super) fn peek(out: &mut dyn BufRead) -> Result<Option<u8>, GitError> {
    Ok(out.fill_buf().map_err(GitError::Pipe)?.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, status: Status, path: &str, from: Option<&str>) {
        let read = change(&mut text.as_bytes()).unwrap();
        assert_eq!(
            (read.status, read.path.as_str(), read.from.as_deref()),
            (status, path, from)
        );
    }

    #[test]
    fn every_letter_has_its_meaning() {
        check(
            ":000000 100644 0000000 0fdf397 A\0a b\0",
            Status::Added,
            "a b",
            None,
        );
        check(
            ":100644 100644 0fdf397 9453a7c M\0f\0",
            Status::Modified,
            "f",
            None,
        );
        check(
            ":100644 000000 0fdf397 0000000 D\0f\0",
            Status::Deleted,
            "f",
            None,
        );
        check(
            ":100644 100644 0fdf397 0fdf397 R100\0g\0h\0",
            Status::Renamed,
            "h",
            Some("g"),
        );
        check(
            ":100644 120000 5e62568 0000000 T\0f\0",
            Status::TypeChanged,
            "f",
            None,
        );
        check(
            ":000000 100644 0000000 0000000 U\0f\0",
            Status::Unmerged,
            "f",
            None,
        );
        check(
            "::100644 100644 100644 9453a7c 83c4851 5e62568 MM\0f\0",
            Status::Modified,
            "f",
            None,
        );
        check(
            "::000000 000000 100644 0000000 0000000 5e62568 AA\0f\0",
            Status::Added,
            "f",
            None,
        );
        check(
            "::100644 100644 100644 9453a7c 83c4851 5e62568 RM\0f\0",
            Status::Modified,
            "f",
            None,
        );
    }

    #[test]
    fn modes_are_the_first_and_the_last() {
        let read = change(&mut ":100644 100755 0fdf397 0fdf397 M\0f\0".as_bytes()).unwrap();
        assert_eq!(
            (read.old_mode.as_str(), read.new_mode.as_str()),
            ("100644", "100755")
        );
        let read = change(&mut "::100644 100645 100755 a b c MM\0f\0".as_bytes()).unwrap();
        assert_eq!(
            (read.old_mode.as_str(), read.new_mode.as_str()),
            ("100644", "100755")
        );
    }
}
