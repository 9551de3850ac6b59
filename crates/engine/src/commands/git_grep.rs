//! What `git grep` printed, as the lines of files.
//!
//! git is told to give its separators a colour of their own. A name never has one, because git quotes control
//! characters in names, so that each line falls into name, number and text whatever these hold.
//!
//! Invariant: the lines, printed again with their separators, are those of git.

use std::path::{Path, PathBuf};

use docent_core::shell::search::{GitGrepRequest, SearchOutput};

use super::lines::{FoundLine, FoundLineKind, SearchedFile, SearchedFiles};
use super::{ShownContent, absolute_lexically};
use crate::git::{GitText, unquote};

/// Settings of git under which only separators have a colour.
pub const MARKED_SEPARATORS: [&str; 9] = [
    "color.grep.separator=cyan",
    "color.grep.filename=normal",
    "color.grep.lineNumber=normal",
    "color.grep.column=normal",
    "color.grep.function=normal",
    "color.grep.context=normal",
    "color.grep.selected=normal",
    "color.grep.matchContext=normal",
    "color.grep.matchSelected=normal",
];

const MARK_START: &[u8] = b"\x1b[36m";
const MARK_END: &[u8] = b"\x1b[m";

/// The output of git has another form than the flags ask for.
#[derive(Debug, thiserror::Error)]
#[error("git printed lines of an unknown form")]
pub struct UnknownForm;

/// The lines that git found. Names start from `base`, and `shown` decides which files may be shown.
pub fn read_git_lines(
    text: &GitText,
    request: &GitGrepRequest,
    base: &Path,
    shown: &ShownContent,
) -> Result<SearchedFiles, UnknownForm> {
    let mut found = SearchedFiles {
        is_success: text.status == 0,
        has_error: text.status > 1,
        ..SearchedFiles::default()
    };
    let messages = String::from_utf8_lossy(&text.err);
    found.errors = messages.lines().map(str::to_owned).collect();
    let revision = request.revision.as_deref();
    let mut follows_gap = false;
    let lines = text.out.strip_suffix(b"\n").unwrap_or(&text.out);
    let lines = lines.split(|byte| *byte == b'\n');
    for line in lines.filter(|_| !text.out.is_empty()) {
        let output = request.search.output;
        if matches!(
            output,
            SearchOutput::FilesWithMatch | SearchOutput::FilesWithoutMatch
        ) {
            found.files.push(new_file(line, revision, base));
            continue;
        }
        if line.strip_prefix(MARK_START) == Some(b"--\x1b[m") {
            follows_gap = true;
            continue;
        }
        let Some((name, _, rest)) = split_mark(line) else {
            let name = binary_name(line).ok_or(UnknownForm)?;
            let mut file = new_file(name, revision, base);
            file.matches = 1;
            file.binary_notice = Some(line.to_vec());
            found.files.push(file);
            continue;
        };
        if found.files.last().is_none_or(|file| file.name != name) {
            found.files.push(new_file(name, revision, base));
        }
        let file = found.files.last_mut().ok_or(UnknownForm)?;
        if output == SearchOutput::Counts {
            file.matches = parse_number(rest)?;
            continue;
        }
        let (number, mark, text) = split_mark(rest).ok_or(UnknownForm)?;
        let kind = if mark == b':' {
            FoundLineKind::Match
        } else {
            FoundLineKind::Context
        };
        file.matches += u64::from(kind == FoundLineKind::Match);
        file.lines.push(FoundLine {
            number: parse_number(number)?,
            text: text.to_vec(),
            kind,
            follows_gap: std::mem::take(&mut follows_gap),
        });
    }
    found.searched = found.files.len() as u64;
    for file in &mut found.files {
        if request.reads_records() {
            file.is_hidden = !file.lines.is_empty() && !shown.allows_name(&file.path);
            // The file may have other lines by now.
            file.path = PathBuf::new();
        } else {
            file.is_hidden = !file.lines.is_empty() && !shown.allows(&file.path);
        }
    }
    Ok(found)
}

fn new_file(name: &[u8], revision: Option<&str>, base: &Path) -> SearchedFile {
    let below = revision
        .and_then(|revision| name.strip_prefix(revision.as_bytes())?.strip_prefix(b":"))
        .unwrap_or(name);
    let raw = if below.starts_with(b"\"") {
        unquote(below).map_or_else(Vec::new, |(raw, _)| raw)
    } else {
        below.to_vec()
    };
    SearchedFile {
        name: name.to_vec(),
        path: absolute_lexically(&base.join(path_of(raw))),
        ..SearchedFile::default()
    }
}

#[cfg(unix)]
fn path_of(name: Vec<u8>) -> PathBuf {
    let name: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name);
    name.into()
}

#[cfg(not(unix))]
fn path_of(name: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&name).into_owned().into()
}

/// A line at its first separator: what stands before it, its character, and what follows.
fn split_mark(line: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let at = memchr::memmem::find(line, MARK_START)?;
    let (mark, rest) = line[at + MARK_START.len()..].split_first()?;
    Some((&line[..at], *mark, rest.strip_prefix(MARK_END)?))
}

/// The name in the line that git prints for a binary file.
fn binary_name(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"Binary file ")?.strip_suffix(b" matches")
}

fn parse_number(digits: &[u8]) -> Result<u64, UnknownForm> {
    let text = std::str::from_utf8(digits).map_err(|_| UnknownForm)?;
    text.parse().map_err(|_| UnknownForm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_its_separators_whatever_its_text_is() {
        let line = b"a:1\x1b[36m:\x1b[m12\x1b[36m-\x1b[m\x1b[36m:\x1b[mtext";
        let (name, mark, rest) = split_mark(line).unwrap();
        assert_eq!((name, mark), (b"a:1".as_slice(), b':'));
        let (number, mark, text) = split_mark(rest).unwrap();
        assert_eq!((number, mark), (b"12".as_slice(), b'-'));
        assert_eq!(text, b"\x1b[36m:\x1b[mtext");
        assert_eq!(binary_name(b"Binary file x y matches"), Some(b"x y".as_slice()));
        assert_eq!(split_mark(b"Binary file x matches"), None);
    }
}
