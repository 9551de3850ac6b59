//! Lists of files as programs of the shell make them: `find`, `fd`, `rg --files`, `tree` and `ls -R`.
//!
//! These walks differ from [`crate::walk`]: they list what their programs list, blocked names included, and
//! they read no file but ignore files. Rendering is left to the app.
//!
//! Invariant: output, messages and exit status are those of the program, in its order where it has one.

mod directory;
mod find;
mod ignored;
mod ignoring;
mod near;
mod tree;

pub use find::run_find;
pub use ignored::IgnoredDirectories;
pub use ignoring::{run_fd, run_rg_files};
pub use tree::{run_ls, run_tree};

use docent_core::shell::find::Charset;

/// What a command that lists files prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub status: u8,
    /// The entries behind the lines, where the lines are not paths themselves.
    pub entries: Option<Vec<ListedEntry>>,
    /// For a list that is empty: paths that the command may have meant, at most a few.
    pub near: Vec<NearPath>,
}

/// The entry that a line of `tree` or `ls -R` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedEntry {
    /// Ends with a slash for a directory. Empty for a line that shows no entry.
    pub path: Vec<u8>,
    pub link_target: Option<Vec<u8>>,
}

/// A path that nearly matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearPath {
    pub path: Vec<u8>,
    pub reason: NearReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NearReason {
    OtherCase,
    /// The name is within two edits.
    Misspelt,
    /// Hidden or ignored.
    LeftOut,
}

/// What a command knows of the place where it runs.
#[derive(Clone, Debug)]
pub struct ListingContext {
    pub directory: std::path::PathBuf,
    pub charset: Charset,
    pub now: jiff::Timestamp,
    /// The configuration directory of the user, where fd has an ignore file.
    pub config_directory: Option<std::path::PathBuf>,
}

/// Why a command cannot be answered as its program would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListingError {
    #[error("whether `{0}` matches depends on the locale")]
    Unclear(String),
    #[error("the pattern `{0}` cannot be read")]
    Pattern(String),
}

/// The text of an error of the operating system, as C programs print it.
fn describe(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A name in the quotes of a message of GNU programs, with escapes for what is not plain.
fn quote(name: &[u8], charset: Charset) -> String {
    let (open, close) = if charset == Charset::Bytes {
        ('\'', '\'')
    } else {
        ('\u{2018}', '\u{2019}')
    };
    let mut quoted = String::from(open);
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                '\r' => quoted.push_str("\\r"),
                '\\' => quoted.push_str("\\\\"),
                _ if char == close => quoted.push_str(&format!("\\{char}")),
                _ if char.is_control() => quoted.push_str(&format!("\\{:03o}", u32::from(char))),
                _ if charset == Charset::Bytes && !char.is_ascii() => {
                    let mut buffer = [0; 4];
                    for byte in char.encode_utf8(&mut buffer).bytes() {
                        quoted.push_str(&format!("\\{byte:03o}"));
                    }
                }
                _ => quoted.push(char),
            }
        }
        for byte in chunk.invalid() {
            quoted.push_str(&format!("\\{byte:03o}"));
        }
    }
    quoted.push(close);
    quoted
}

/// A path and a name below it. A path that ends with a slash gets no second one.
fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(path.len() + 1 + name.len());
    joined.extend_from_slice(path);
    if !path.ends_with(b"/") {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

#[cfg(test)]
mod tests;
