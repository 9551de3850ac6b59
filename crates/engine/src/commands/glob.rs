//! The paths that a shell would put in place of a glob, as far as they exist.
//!
//! `docent rewrite` looks at them to leave alone a command that names a blocked file by a glob. Left out:
//! braces with a sequence, and `**` of shells that enter directories with it.
//!
//! Invariant: every path that `bash` with its default options would name is returned with its links resolved,
//! or `None`.

use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

/// Names that are compared with a glob at most.
const MAX_NAMES: usize = 3_000;

/// Alternatives of braces at most.
const MAX_ALTERNATIVES: usize = 50;

/// Characters that a shell acts on in a word.
pub const GLOB_CHARS: [char; 4] = ['*', '?', '[', '{'];

/// The paths that the glob names from a canonical directory. `None` if they are too many to look at, or not
/// known.
pub fn expand_glob(directory: &Path, glob: &str) -> Option<Vec<PathBuf>> {
    let mut names = 0;
    let mut found = Vec::new();
    for glob in expand_braces(glob)? {
        let start = if glob.starts_with('/') {
            PathBuf::from("/")
        } else {
            directory.to_owned()
        };
        let mut paths = vec![start];
        for step in glob.split('/').filter(|step| !step.is_empty()) {
            paths = take_step(&paths, step, &mut names)?;
        }
        found.append(&mut paths);
    }
    Some(found)
}

/// The paths that a step of a glob leads to.
fn take_step(paths: &[PathBuf], step: &str, names: &mut usize) -> Option<Vec<PathBuf>> {
    if !step.contains(GLOB_CHARS) {
        let existing = paths
            .iter()
            .filter_map(|path| path.join(step).canonicalize().ok());
        return Some(existing.collect());
    }
    let matcher = GlobBuilder::new(step).build().ok()?.compile_matcher();
    let mut found = Vec::new();
    for path in paths {
        #[expect(
            clippy::disallowed_methods,
            reason = "a shell lists the directory for the glob"
        )]
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            *names += 1;
            if *names > MAX_NAMES {
                return None;
            }
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if !matcher.is_match(&name) || is_hidden && !step.starts_with('.') {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                found.extend(entry.path().canonicalize());
            } else {
                found.push(path.join(name));
            }
        }
    }
    Some(found)
}

/// The words that braces stand for: `x{1,2}` is `x1` and `x2`. Braces without a comma stand for themselves.
fn expand_braces(word: &str) -> Option<Vec<String>> {
    let Some((before, inside, after)) = first_braces(word) else {
        return Some(vec![word.to_owned()]);
    };
    if inside.contains("..") {
        return None;
    }
    let mut words = Vec::new();
    for alternative in split_alternatives(inside) {
        words.append(&mut expand_braces(&format!("{before}{alternative}{after}"))?);
        if words.len() > MAX_ALTERNATIVES {
            return None;
        }
    }
    Some(words)
}

/// The first braces with a comma or a sequence inside, and what stands around them.
fn first_braces(word: &str) -> Option<(&str, &str, &str)> {
    for (open, _) in word.match_indices('{') {
        let mut depth = 0_usize;
        for (at, char) in word[open..].char_indices() {
            depth = match char {
                '{' => depth + 1,
                '}' => depth - 1,
                _ => depth,
            };
            if depth == 0 {
                let inside = &word[open + 1..open + at];
                if inside.contains(',') || inside.contains("..") {
                    return Some((&word[..open], inside, &word[open + at + 1..]));
                }
                break;
            }
        }
    }
    None
}

/// The parts between commas that are not in braces of their own.
fn split_alternatives(inside: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, char) in inside.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_words_of_their_own() {
        let check = |word: &str, expected: &[&str]| {
            assert_eq!(expand_braces(word).unwrap(), expected, "{word}");
        };
        check("x{1,2}y", &["x1y", "x2y"]);
        check("{a,b{c,d}}", &["a", "bc", "bd"]);
        check("a{b}c", &["a{b}c"]);
        check("{a}{b,c}", &["{a}b", "{a}c"]);
        assert_eq!(expand_braces("a{1..3}"), None);
    }
}
