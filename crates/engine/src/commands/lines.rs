//! The lines that a search prints, file by file.

/// A file that a search has looked at.
#[derive(Clone, Debug, Default)]
pub struct SearchedFile {
    /// Its name as the program prints it.
    pub name: Vec<u8>,
    pub path: std::path::PathBuf,
    /// Lines that match, or parts of lines for `-o`.
    pub matches: u64,
    /// The printed lines, in order.
    pub lines: Vec<FoundLine>,
    /// What ripgrep prints instead of the lines of a binary file.
    pub binary_notice: Option<Vec<u8>>,
    /// ripgrep leaves it out of every list, because it is binary.
    pub is_left_out: bool,
    /// Bytes of its longest line. 0 for small files.
    pub longest_line: usize,
    /// Where its first NUL byte is, behind the first buffer of grep.
    pub late_nul: Option<usize>,
    /// Separators between its groups are among its lines.
    pub has_own_separators: bool,
    /// Its lines are for filters and counts only: no answer may show them.
    pub is_hidden: bool,
}

/// A line that a search prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// Counted from 1.
    pub number: u64,
    /// Without its line end.
    pub text: Vec<u8>,
    pub kind: FoundLineKind,
    /// Lines are left out between this one and the one before, where context is printed.
    pub follows_gap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundLineKind {
    Match,
    Context,
    /// The `--` between groups, in a file that has its own.
    Separator,
}

/// What a search has found.
#[derive(Debug, Default)]
pub struct SearchedFiles {
    /// Files with something to print, in the order of the program.
    pub files: Vec<SearchedFile>,
    /// Messages about files that could not be read, in order.
    pub errors: Vec<String>,
    /// Something could not be read, whether or not a message says so.
    pub has_error: bool,
    /// Some line matched, or for `-L` some file was named.
    pub is_success: bool,
    /// Files whose content was searched.
    pub searched: u64,
}
