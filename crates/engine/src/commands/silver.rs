//! The files that `ag` searches, by the rules of The Silver Searcher 2.2.
//!
//! Its ignore rules are not those of git: a pattern with a slash counts from the directory that was named, an
//! exception (`!a`) only holds inside of its own file of rules, and a name anywhere in a path counts.
//!
//! Left out: the user's own ignore files, which the caller makes sure do not exist.
//!
//! Invariant: a file is listed if and only if `ag` would open it.

use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::walk::{ListedFile, SelectionError};

/// Files of ignore rules, in the order in which they are read.
const IGNORE_FILES: [&str; 4] = [".ignore", ".gitignore", ".git/info/exclude", ".hgignore"];

/// Directories below the named one that are entered.
const MAX_DEPTH: usize = 25;

/// Bytes that `ag` looks at to tell a binary file.
const BINARY_PREFIX_BYTES: usize = 512;

/// Characters that make a pattern a glob.
const GLOB_BYTES: &[u8] = b"!*?[]";

/// What is left out of the search of a directory.
#[derive(Clone, Copy)]
pub(super) struct SilverRules {
    pub(super) hidden: bool,
    pub(super) no_ignore: bool,
}

/// Lists the files of an operand, in no order that `ag` keeps.
pub(super) fn list_files(
    rules: SilverRules,
    directory: &Path,
    operand: &str,
) -> Result<Vec<ListedFile>, SelectionError> {
    let name = match operand.strip_suffix('/') {
        Some(name) if !name.is_empty() => name,
        _ => operand,
    };
    let path = directory.join(name);
    let mut files = Vec::new();
    if path.is_dir() {
        let real = path.canonicalize().unwrap_or_default();
        let mut walk = SilverWalk {
            rules,
            base: [real.as_os_str().as_bytes(), b"/"].concat(),
            files: &mut files,
            levels: Vec::new(),
            has_named_class: false,
        };
        walk.enter(&path, name.as_bytes(), b"");
        if walk.has_named_class {
            return Err(SelectionError::new("an ignore file has a named class"));
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
    } else {
        files.push(ListedFile {
            name: printed_name(name.as_bytes()),
            path,
            is_operand: true,
        });
    }
    Ok(files)
}

/// A name as it is printed.
fn printed_name(name: &[u8]) -> Vec<u8> {
    let shown = match name {
        [b'.', b'/', _, ..] => &name[2..],
        [b'/', b'/', _, ..] => &name[1..],
        _ => name,
    };
    shown.to_vec()
}

/// Whether `ag` skips a file of this content.
pub(super) fn is_binary(content: &[u8]) -> bool {
    if content.is_empty() || content.starts_with(b"\xef\xbb\xbf") {
        return false;
    }
    if content.starts_with(b"%PDF-") {
        return true;
    }
    let prefix = &content[..content.len().min(BINARY_PREFIX_BYTES)];
    let is_continuation = |at: usize| prefix.get(at).is_some_and(|byte| (0x80..0xc0).contains(byte));
    let is_suspicious_share = |suspicious: usize| suspicious * 100 / prefix.len() > 10;
    let mut suspicious = 0;
    let mut at = 0;
    while at < prefix.len() {
        let byte = prefix[at];
        if byte == 0 {
            return true;
        }
        let is_text = (7..=14).contains(&byte) || (32..=127).contains(&byte);
        if !is_text {
            // Characters of two and three bytes are text, those of four are not.
            if (194..224).contains(&byte) && at + 1 < prefix.len() {
                at += 1;
                if is_continuation(at) {
                    at += 1;
                    continue;
                }
            } else if (224..240).contains(&byte) && at + 2 < prefix.len() {
                at += 1;
                if is_continuation(at) && is_continuation(at + 1) {
                    at += 2;
                    continue;
                }
            }
            suspicious += 1;
            if at >= 32 && is_suspicious_share(suspicious) {
                return true;
            }
        }
        at += 1;
    }
    is_suspicious_share(suspicious)
}

/// The rules of one directory.
#[derive(Default)]
struct Level {
    /// The path below the named directory.
    below: Vec<u8>,
    extensions: Vec<Vec<u8>>,
    names: Vec<Vec<u8>>,
    slash_names: Vec<Vec<u8>>,
    globs: Vec<Vec<u8>>,
    slash_globs: Vec<Vec<u8>>,
    exceptions: Vec<Vec<u8>>,
}

impl Level {
    fn load(&mut self, directory: &Path) {
        for name in IGNORE_FILES {
            #[expect(
                clippy::disallowed_methods,
                reason = "ag reads these files, and nothing of them is shown"
            )]
            let Ok(content) = fs::read(directory.join(name)) else {
                continue;
            };
            for line in content.split(|byte| *byte == b'\n') {
                if !line.is_empty() && line[0] != b'#' {
                    self.add(line);
                }
            }
        }
    }

    fn add(&mut self, line: &[u8]) {
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = if line.starts_with(b"./") { &line[1..] } else { line };
        let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
        let trailing = line.iter().rev().take_while(|byte| is_space(byte)).count();
        if trailing == line.len() {
            return;
        }
        let is_glob = |text: &[u8]| text.iter().any(|byte| GLOB_BYTES.contains(byte));
        let (list, skipped) = if is_glob(line) {
            match line {
                [b'*', b'.', rest @ ..] if rest.contains(&b'.') && !is_glob(rest) => {
                    (&mut self.extensions, 2)
                }
                [b'/', ..] => (&mut self.slash_globs, 1),
                [b'!', ..] => (&mut self.exceptions, 1),
                _ => (&mut self.globs, 0),
            }
        } else if line[0] == b'/' {
            (&mut self.slash_names, 1)
        } else {
            (&mut self.names, 0)
        };
        let compared = &line[skipped..];
        let place = list.iter().rposition(|one| compared > one.as_slice());
        let pattern = &compared[..compared.len() - trailing.min(compared.len())];
        list.insert(place.map_or(0, |at| at + 1), pattern.to_vec());
    }

    fn has_named_class(&self) -> bool {
        let globs = [&self.globs, &self.slash_globs, &self.exceptions];
        let is_named = |glob: &Vec<u8>| {
            [b"[:".as_slice(), b"[.", b"[="]
                .iter()
                .any(|start| memchr::memmem::find(glob, start).is_some())
        };
        globs.into_iter().flatten().any(is_named)
    }

    /// Whether a name in the directory `path` is left out by this level.
    fn leaves_out(&self, path: &[u8], name: &[u8]) -> bool {
        if contains(&self.names, name) {
            return true;
        }
        let path = path.strip_prefix(b".").unwrap_or(path);
        let whole = [path, b"/", name].concat();
        let whole = whole.strip_prefix(b"/").unwrap_or(&whole);
        if let Some(rest) = whole.strip_prefix(self.below.as_slice()) {
            let rest = rest.strip_prefix(b"/").unwrap_or(rest);
            let is_step = |one: &Vec<u8>| {
                memchr::memmem::find(rest, one).is_some_and(|at| {
                    let end = rest.get(at + one.len());
                    (at == 0 || rest[at - 1] == b'/') && end.is_none_or(|byte| *byte == b'/')
                })
            };
            if contains(&self.names, rest)
                || contains(&self.slash_names, rest)
                || self.names.iter().any(is_step)
                || self.slash_globs.iter().any(|glob| is_match(glob, rest))
            {
                return true;
            }
        }
        !self.exceptions.iter().any(|glob| is_match(glob, name))
            && self.globs.iter().any(|glob| is_match(glob, name))
    }
}

/// Binary search in a list that trailing blanks may have left unsorted, step by step as `ag` does it.
fn contains(list: &[Vec<u8>], name: &[u8]) -> bool {
    let (mut start, mut end) = (0, list.len());
    while start < end {
        let middle = start + (end - start) / 2;
        match name.cmp(&list[middle]) {
            std::cmp::Ordering::Less => end = middle,
            std::cmp::Ordering::Greater => start = middle + 1,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

/// Whether a glob of `fnmatch` matches, byte by byte, with slashes matched by slashes only.
fn is_match(glob: &[u8], name: &[u8]) -> bool {
    match glob {
        [] => name.is_empty(),
        [b'*', rest @ ..] => {
            let steps = name.iter().take_while(|byte| **byte != b'/').count();
            (0..=steps).any(|skipped| is_match(rest, &name[skipped..]))
        }
        [b'?', rest @ ..] => matches!(name, [byte, tail @ ..] if *byte != b'/' && is_match(rest, tail)),
        [b'\\', byte, rest @ ..] => {
            matches!(name, [first, tail @ ..] if first == byte && is_match(rest, tail))
        }
        [b'\\'] => false,
        [b'[', rest @ ..] => match (bracket(rest), name) {
            (Some((class, rest)), [byte, tail @ ..]) => {
                *byte != b'/' && class.has(*byte) && is_match(rest, tail)
            }
            (Some(_), []) => false,
            // An open bracket without a closing one stands for itself.
            (None, _) => matches!(name, [b'[', tail @ ..] if is_match(rest, tail)),
        },
        [byte, rest @ ..] => matches!(name, [first, tail @ ..] if first == byte && is_match(rest, tail)),
    }
}

/// The members of a bracket as ranges.
struct GlobBracket {
    is_negated: bool,
    ranges: Vec<(u8, u8)>,
}

impl GlobBracket {
    fn has(&self, byte: u8) -> bool {
        self.ranges
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&byte))
            != self.is_negated
    }
}

/// Reads a bracket behind its opening, and returns what follows. `None` if it is not closed.
fn bracket(text: &[u8]) -> Option<(GlobBracket, &[u8])> {
    let is_negated = matches!(text.first(), Some(b'!' | b'^'));
    let mut rest = if is_negated { &text[1..] } else { text };
    let mut ranges = Vec::new();
    loop {
        let (byte, tail) = match rest {
            [b']', tail @ ..] if !ranges.is_empty() => {
                return Some((GlobBracket { is_negated, ranges }, tail));
            }
            // A bracket with a slash matches nothing.
            [b'/', tail @ ..] => {
                let nothing = GlobBracket {
                    is_negated: false,
                    ranges: Vec::new(),
                };
                return Some((nothing, tail));
            }
            [b'\\', byte, tail @ ..] | [byte, tail @ ..] => (*byte, tail),
            [] => return None,
        };
        match tail {
            [b'-', last, tail @ ..] if *last != b']' => {
                ranges.push((byte, *last));
                rest = tail;
            }
            _ => {
                ranges.push((byte, byte));
                rest = tail;
            }
        }
    }
}

/// The walk through a directory that was named.
struct SilverWalk<'a> {
    rules: SilverRules,
    /// The real path of the named directory, with a slash at its end.
    base: Vec<u8>,
    files: &'a mut Vec<ListedFile>,
    /// The directories around, outermost first.
    levels: Vec<Level>,
    /// A rule has a class such as `[:alpha:]`, which is not read here.
    has_named_class: bool,
}

impl SilverWalk<'_> {
    fn enter(&mut self, directory: &Path, name: &[u8], below: &[u8]) {
        let mut level = Level {
            below: below.to_vec(),
            ..Level::default()
        };
        if !self.rules.no_ignore {
            level.load(directory);
            self.has_named_class |= level.has_named_class();
        }
        self.levels.push(level);
        #[expect(
            clippy::disallowed_methods,
            reason = "ag lists every directory that it enters"
        )]
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let start = self.path_start(name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let file_name = entry.file_name().into_vec();
            let is_wanted = kind.is_dir() || kind.is_file();
            if !is_wanted || !self.selects(&start, &file_name, kind.is_dir()) {
                continue;
            }
            let whole = [name, b"/", &file_name].concat();
            if kind.is_file() {
                self.files.push(ListedFile {
                    name: printed_name(&whole),
                    path: entry.path(),
                    is_operand: false,
                });
            } else if self.levels.len() <= MAX_DEPTH {
                let below = match below {
                    b"" => file_name,
                    _ => [below, b"/", &file_name].concat(),
                };
                self.enter(&entry.path(), &whole, &below);
            }
        }
        self.levels.pop();
    }

    /// The part of a directory's name behind what it shares with the real path.
    fn path_start(&self, name: &[u8]) -> Vec<u8> {
        let shared = name
            .iter()
            .zip(&self.base)
            .take_while(|(one, other)| one == other);
        name[shared.count()..].to_vec()
    }

    fn selects(&self, start: &[u8], name: &[u8], is_directory: bool) -> bool {
        if !self.rules.hidden && name.starts_with(b".") {
            return false;
        }
        if self.rules.no_ignore {
            return true;
        }
        let dot = name.iter().position(|byte| *byte == b'.');
        let extension = dot.map(|dot| &name[dot + 1..]).filter(|rest| !rest.is_empty());
        let as_directory = [name, b"/"].concat();
        !self.levels.iter().any(|level| {
            extension.is_some_and(|extension| contains(&level.extensions, extension))
                || level.leaves_out(start, name)
                || is_directory && level.leaves_out(start, &as_directory)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_fnmatch_with_paths_does() {
        for (glob, name, expected) in [
            ("*.log", "run.log", true),
            ("*.log", "a/run.log", false),
            ("a/*", "a/b", true),
            ("[a-c]?", "bx", true),
            ("[!a]x", "ax", false),
            ("[x", "[x", true),
            ("\\*", "*", true),
            ("a*b*c", "aXbYc", true),
        ] {
            assert_eq!(
                is_match(glob.as_bytes(), name.as_bytes()),
                expected,
                "{glob} {name}"
            );
        }
    }

    #[test]
    fn binary_is_what_has_a_nul_or_many_odd_bytes_at_its_start() {
        assert!(is_binary(b"a\0b") && is_binary(b"%PDF-1.4") && is_binary(&[0xff; 40]));
        assert!(!is_binary(b"") && !is_binary("é".repeat(40).as_bytes()) && !is_binary(b"\xef\xbb\xbf\0"));
        let late = [[b'a'; 600].as_slice(), b"\0"].concat();
        assert!(!is_binary(&late));
    }
}
