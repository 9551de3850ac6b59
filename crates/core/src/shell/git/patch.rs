//! The parser of patches as `git diff`, `git show` and `git log -p` print them for people.
//!
//! Ordinary and combined patches are read, with any context and any prefix of one component. Words of
//! programs other than git, coloured patches and binary patches are not.
//!
//! Invariant: the parts of a patch are its whole text in order, and a line inside a hunk is never taken for a
//! header, because hunks say how many lines they have.

use std::ops::Range;

/// A part of what git printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchPart {
    /// Anything that is no patch: a commit with its message, a `--stat`, names of files in conflict.
    Text(Range<usize>),
    File(PatchFile),
}

/// The patch of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchFile {
    pub range: Range<usize>,
    /// The lines before the first hunk.
    pub header: Range<usize>,
    /// The path after the change. The path before it, for a deleted file.
    pub path: String,
    /// The path before a rename or copy.
    pub from: Option<String>,
    pub change: PatchChange,
    pub is_binary: bool,
    /// `old mode` and `new mode` differ.
    pub has_new_mode: bool,
    pub hunks: Vec<PatchHunk>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PatchChange {
    #[default]
    Modified,
    Added,
    Deleted,
    Renamed,
    Copied,
}

/// A hunk. The counts are those of its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchHunk {
    pub header: Range<usize>,
    pub body: Range<usize>,
    /// Columns of signs before each line: one, or one for each parent of a merge.
    pub columns: usize,
    pub lines: usize,
    pub added: usize,
    pub removed: usize,
}

/// How names are written in the headers of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchNames {
    /// Below a prefix of one component: `a/src/main.rs`.
    Prefixed,
    /// As they are: `--no-prefix`.
    Bare,
}

/// The text has a form that the parser does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the patch has an unknown form")]
pub struct UnknownPatch;

/// Lines between the first line of a file's patch and its first hunk.
const HEADER_LINES: [&[u8]; 15] = [
    b"index ",
    b"old mode ",
    b"new mode ",
    b"mode ",
    b"deleted file mode ",
    b"new file mode ",
    b"copy from ",
    b"copy to ",
    b"rename from ",
    b"rename to ",
    b"similarity index ",
    b"dissimilarity index ",
    b"--- ",
    b"+++ ",
    b"Binary files ",
];

impl PatchFile {
    pub fn added(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.added).sum()
    }

    pub fn removed(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.removed).sum()
    }

    /// Lines of all hunks, without their headers.
    pub fn lines(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.lines).sum()
    }
}

impl PatchHunk {
    /// Whether only blanks differ between the lines that are removed and those that are added.
    pub fn is_whitespace_only(&self, text: &[u8]) -> bool {
        let side = |sign: u8| {
            lines(text, self.body.clone())
                .filter(move |line| text.get(line.start) == Some(&sign))
                .flat_map(|line| text[line.start + 1..line.end].iter())
                .filter(|byte| !byte.is_ascii_whitespace())
        };
        self.columns == 1 && self.added + self.removed > 0 && side(b'-').eq(side(b'+'))
    }
}

/// The lines of a part of a text, each with its end.
pub fn lines(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut next = range.start;
    std::iter::from_fn(move || {
        let rest = text.get(next..range.end).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = next..next + length;
        next = line.end;
        Some(line)
    })
}

/// Parses what git printed. The text may end anywhere.
pub fn parse_patches(text: &[u8], names: PatchNames) -> Result<Vec<PatchPart>, UnknownPatch> {
    let mut parts = Vec::new();
    let mut cursor = Cursor { text, at: 0 };
    let mut text_start = 0;
    while let Some(line) = cursor.peek() {
        if !starts_file(&text[line.clone()]) {
            cursor.at = line.end;
            continue;
        }
        if text_start < line.start {
            parts.push(PatchPart::Text(text_start..line.start));
        }
        parts.push(PatchPart::File(parse_file(&mut cursor, names)?));
        text_start = cursor.at;
    }
    if text_start < text.len() {
        parts.push(PatchPart::Text(text_start..text.len()));
    }
    Ok(parts)
}

/// A position in a text at the start of a line.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<Range<usize>> {
        lines(self.text, self.at..self.text.len()).next()
    }
}

fn starts_file(line: &[u8]) -> bool {
    [&b"diff --git "[..], b"diff --cc ", b"diff --combined "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn parse_file(cursor: &mut Cursor<'_>, names: PatchNames) -> Result<PatchFile, UnknownPatch> {
    let text = cursor.text;
    let first = cursor.peek().ok_or(UnknownPatch)?;
    let mut file = PatchFile {
        path: parse_first_line(trim_end(&text[first.clone()]), names)?,
        ..PatchFile::default()
    };
    cursor.at = first.end;
    while let Some(line) = cursor.peek() {
        let content = &text[line.clone()];
        if !HEADER_LINES.iter().any(|start| content.starts_with(start)) {
            break;
        }
        file.read_header_line(trim_end(content), names)?;
        cursor.at = line.end;
    }
    file.header = first.start..cursor.at;
    while let Some(line) = cursor.peek() {
        let Some((columns, counts)) = parse_hunk_counts(&text[line.clone()]) else {
            break;
        };
        cursor.at = line.end;
        file.hunks.push(parse_hunk(cursor, line, columns, counts)?);
    }
    if file.path.is_empty() {
        return Err(UnknownPatch);
    }
    file.range = first.start..cursor.at;
    Ok(file)
}

impl PatchFile {
    fn read_header_line(&mut self, line: &[u8], names: PatchNames) -> Result<(), UnknownPatch> {
        let rest = |start: &str| line.strip_prefix(start.as_bytes());
        if line.starts_with(b"new file mode ") {
            self.change = PatchChange::Added;
        } else if line.starts_with(b"deleted file mode ") {
            self.change = PatchChange::Deleted;
        } else if line.starts_with(b"new mode ") || line.starts_with(b"mode ") {
            self.has_new_mode = true;
        } else if line.starts_with(b"Binary files ") {
            self.is_binary = true;
        } else if let Some(name) = rest("rename from ").or(rest("copy from ")) {
            self.from = Some(unquote(name)?);
        } else if let Some(name) = rest("rename to ") {
            self.change = PatchChange::Renamed;
            self.path = unquote(name)?;
        } else if let Some(name) = rest("copy to ") {
            self.change = PatchChange::Copied;
            self.path = unquote(name)?;
        } else if let Some(name) = rest("--- ").or(rest("+++ "))
            && name != b"/dev/null"
            && self.from.is_none()
        {
            // A name with a blank is followed by a tab.
            let name = name.strip_suffix(b"\t").unwrap_or(name);
            self.path = strip_prefix(&unquote(name)?, names)?;
        }
        Ok(())
    }
}

fn parse_hunk(
    cursor: &mut Cursor<'_>,
    header: Range<usize>,
    columns: usize,
    mut left: Vec<usize>,
) -> Result<PatchHunk, UnknownPatch> {
    let mut hunk = PatchHunk {
        body: header.end..header.end,
        header,
        columns,
        lines: 0,
        added: 0,
        removed: 0,
    };
    while let Some(line) = cursor.peek() {
        let content = &cursor.text[line.clone()];
        let is_remark = content.starts_with(b"\\ ");
        if !is_remark && left.iter().all(|count| *count == 0) {
            break;
        }
        if !is_remark {
            let signs: Vec<u8> = match content {
                // `diff.suppressBlankEmpty`
                b"\n" | b"\r\n" => vec![b' '; columns],
                _ => content.get(..columns).ok_or(UnknownPatch)?.to_vec(),
            };
            count_line(&signs, &mut left)?;
            hunk.added += usize::from(signs.contains(&b'+'));
            hunk.removed += usize::from(signs.contains(&b'-'));
        }
        hunk.lines += 1;
        hunk.body.end = line.end;
        cursor.at = line.end;
    }
    Ok(hunk)
}

/// Takes a line off the counts of the sides that have it: the parents, and the result at the end.
fn count_line(signs: &[u8], left: &mut [usize]) -> Result<(), UnknownPatch> {
    let is_removed = signs.contains(&b'-');
    let (result, parents) = left.split_last_mut().ok_or(UnknownPatch)?;
    for (sign, parent) in signs.iter().zip(parents) {
        let has_line = match sign {
            b'-' => true,
            b' ' => !is_removed,
            b'+' if !is_removed => false,
            _ => return Err(UnknownPatch),
        };
        *parent = parent.checked_sub(usize::from(has_line)).ok_or(UnknownPatch)?;
    }
    *result = result.checked_sub(usize::from(!is_removed)).ok_or(UnknownPatch)?;
    Ok(())
}

/// Parses `@@ -1,2 +3,4 @@` and `@@@ -1,2 -1,2 +3,4 @@@`: the columns of signs and the lines of each side.
fn parse_hunk_counts(line: &[u8]) -> Option<(usize, Vec<usize>)> {
    let ats = line.iter().take_while(|byte| **byte == b'@').count();
    let columns = ats.checked_sub(1).filter(|columns| *columns > 0)?;
    let mut words = line.get(ats..)?.strip_prefix(b" ")?.split(|byte| *byte == b' ');
    let mut counts = Vec::with_capacity(ats);
    for at in 0..ats {
        let sign = if at < columns { b'-' } else { b'+' };
        let range = str::from_utf8(words.next()?.strip_prefix(&[sign])?).ok()?;
        counts.push(match range.split_once(',') {
            Some((_, count)) => count.parse().ok()?,
            None => 1,
        });
    }
    let end = words.next()?;
    (trim_end(end) == &line[..ats]).then_some((columns, counts))
}

/// The path in `diff --git a/x b/x` or `diff --cc x`. Empty if only the lines below tell it.
fn parse_first_line(line: &[u8], names: PatchNames) -> Result<String, UnknownPatch> {
    let combined = line
        .strip_prefix(b"diff --cc ")
        .or_else(|| line.strip_prefix(b"diff --combined "));
    if let Some(name) = combined {
        return unquote(name);
    }
    let both = line.strip_prefix(b"diff --git ").ok_or(UnknownPatch)?;
    if both.starts_with(b"\"") || both.ends_with(b"\"") {
        let second = both.windows(2).rposition(|pair| pair == b" \"").map(|at| at + 1);
        let Some(second) = second else {
            return Ok(String::new());
        };
        return strip_prefix(&unquote(&both[second..])?, names);
    }
    // Where both names are the same, they are the two halves. Otherwise a line below tells both.
    let middle = both.len() / 2;
    if both.get(middle) != Some(&b' ') {
        return Ok(String::new());
    }
    let halves = [&both[..middle], &both[middle + 1..]];
    let [old, new] = halves.map(|half| strip_prefix(&String::from_utf8_lossy(half), names));
    Ok(match (old, new) {
        (Ok(old), Ok(new)) if old == new => new,
        _ => String::new(),
    })
}

fn strip_prefix(name: &str, names: PatchNames) -> Result<String, UnknownPatch> {
    match names {
        PatchNames::Bare => Ok(name.to_owned()),
        PatchNames::Prefixed => {
            let (_, path) = name.split_once('/').ok_or(UnknownPatch)?;
            Ok(path.to_owned())
        }
    }
}

/// A name without git's quotes.
fn unquote(name: &[u8]) -> Result<String, UnknownPatch> {
    let Some(inside) = name.strip_prefix(b"\"") else {
        return Ok(String::from_utf8_lossy(name).into_owned());
    };
    let inside = inside.strip_suffix(b"\"").ok_or(UnknownPatch)?;
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escape = rest.next().ok_or(UnknownPatch)?;
        bytes.push(match escape {
            b'a' => 7,
            b'b' => 8,
            b't' => b'\t',
            b'n' => b'\n',
            b'v' => 11,
            b'f' => 12,
            b'r' => b'\r',
            b'"' | b'\\' => escape,
            b'0'..=b'3' => {
                let mut digit = || rest.next().filter(u8::is_ascii_digit).ok_or(UnknownPatch);
                let digits = [escape, digit()?, digit()?];
                digits
                    .iter()
                    .fold(0_u8, |value, digit| (value << 3) | (digit & 7))
            }
            _ => return Err(UnknownPatch),
        });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "commit 1\n\n    diff --git a/x b/x\n\ndiff --git a/a b.rs b/a b.rs\nindex 1..2 100644\n\
        --- a/a b.rs\t\n+++ b/a b.rs\t\n@@ -1,3 +1,3 @@ fn a\n x\n--- a\n+++ b\n\n@@ -9 +9 @@\n-  y\n+y\n\
        \\ No newline at end of file\ndiff --git \"a/t\\303\\274\" \"b/t\\303\\274\"\nold mode 100644\n\
        new mode 100755\ndiff --git a/old b/dir/new\nsimilarity index 100%\nrename from old\nrename to dir/new\n\
        \ncommit 2\n";

    fn parse(text: &str, names: PatchNames) -> (Vec<PatchFile>, Vec<&str>) {
        let mut files = Vec::new();
        let mut texts = Vec::new();
        let mut end = 0;
        for part in parse_patches(text.as_bytes(), names).unwrap() {
            let range = match &part {
                PatchPart::Text(range) => range.clone(),
                PatchPart::File(file) => file.range.clone(),
            };
            assert_eq!(range.start, end, "the parts are the whole text");
            end = range.end;
            match part {
                PatchPart::Text(range) => texts.push(&text[range]),
                PatchPart::File(file) => files.push(file),
            }
        }
        assert_eq!(end, text.len());
        (files, texts)
    }

    #[test]
    fn files_hunks_and_text_are_told_apart() {
        let (files, texts) = parse(PATCH, PatchNames::Prefixed);
        assert_eq!(texts, ["commit 1\n\n    diff --git a/x b/x\n\n", "\ncommit 2\n"]);
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a b.rs", "tü", "dir/new"]);
        assert_eq!(
            (files[0].added(), files[0].removed(), files[0].lines()),
            (2, 2, 7)
        );
        assert!(!files[0].hunks[0].is_whitespace_only(PATCH.as_bytes()));
        assert!(files[0].hunks[1].is_whitespace_only(PATCH.as_bytes()));
        assert!(files[1].has_new_mode);
        assert_eq!(files[2].from.as_deref(), Some("old"));
        assert_eq!(files[2].change, PatchChange::Renamed);
    }

    #[test]
    fn combined_patches_count_the_lines_of_every_side() {
        let text = "diff --cc a.rs\nindex 1,2..3\n--- a/a.rs\n+++ b/a.rs\n@@@ -1,2 -1,3 +1,3 @@@\n  one\n- two\n -x\n\
            ++three\n+ four\ntext\n";
        let (files, texts) = parse(text, PatchNames::Prefixed);
        assert_eq!((files[0].hunks[0].lines, files[0].hunks[0].columns), (5, 2));
        assert_eq!(texts, ["text\n"]);
    }

    #[test]
    fn names_without_a_prefix_are_whole() {
        let text =
            "diff --git src/a.rs src/a.rs\nindex 1..2\n--- src/a.rs\n+++ src/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(parse(text, PatchNames::Bare).0[0].path, "src/a.rs");
        let binary =
            "diff --git x/logo.png x/logo.png\nindex 1..2\nBinary files x/logo.png and x/logo.png differ\n";
        let (files, _) = parse(binary, PatchNames::Bare);
        assert!(files[0].is_binary && files[0].path == "x/logo.png");
    }

    #[test]
    fn a_hunk_that_is_not_what_it_says_is_refused() {
        let text = b"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\nnonsense\n";
        assert_eq!(parse_patches(text, PatchNames::Prefixed), Err(UnknownPatch));
    }
}
