//! The walks of `tree` and `ls -R`: sorted by name, a directory at a time.
//!
//! Left out: names in the order of a language. The caller has checked that the locale orders by bytes.
//!
//! Invariant: [`Listing::entries`] has one entry for each line of the output.

use std::io;
use std::os::fd::BorrowedFd;

use docent_core::shell::find::{Charset, EntryKind, HiddenNames, LsCommand, TreeCommand};
use rustix::fs::{AtFlags, FileType, readlinkat, stat, statat};

use super::directory::{Directory, Entry, allow_depth, kind_of};
use super::{ListedEntry, Listing, ListingContext, describe, join};

/// Draws what `tree` draws.
pub fn run_tree(command: &TreeCommand, context: &ListingContext) -> Listing {
    let mut drawing = TreeDrawing {
        command,
        charset: context.charset,
        lines: Lines::default(),
        directories: 0,
        files: 0,
        status: 0,
    };
    for root in &command.paths {
        let trimmed = root.trim_end_matches('/');
        // Before names with their path, the slashes behind a root are dropped.
        let is_trimmed = command.style.full_paths && !trimmed.is_empty();
        drawing.draw_root(if is_trimmed { trimmed } else { root }.as_bytes());
    }
    drawing.finish()
}

/// Lines with the entries behind them.
#[derive(Default)]
struct Lines {
    out: Vec<u8>,
    entries: Vec<ListedEntry>,
}

impl Lines {
    fn add(&mut self, line: &[u8], path: Vec<u8>) {
        self.out.extend_from_slice(line);
        self.out.push(b'\n');
        // A line end in a name makes two lines of it.
        for _ in line.iter().filter(|byte| **byte == b'\n') {
            self.entries.push(ListedEntry::default());
        }
        self.entries.push(ListedEntry {
            path,
            link_target: None,
        });
    }
}

struct TreeDrawing<'a> {
    command: &'a TreeCommand,
    charset: Charset,
    lines: Lines,
    directories: u64,
    files: u64,
    status: u8,
}

/// An entry that is drawn.
struct Branch {
    entry: Entry,
    /// It is a directory, or a link to one.
    leads_to_directory: bool,
    link_target: Option<Vec<u8>>,
}

impl TreeDrawing<'_> {
    fn draw_root(&mut self, root: &[u8]) {
        let mut line = self.escape(root);
        if let Ok(directory) = Directory::open(None, root) {
            self.lines.add(&line, as_directory(root));
            let before = self.lines.entries.len();
            self.draw(directory, root, "", 1);
            if self.lines.entries.len() > before {
                self.directories += 1;
            }
            return;
        }
        line.extend_from_slice(b"  [error opening dir]");
        self.lines.add(&line, root.to_vec());
        if stat(root).is_ok() {
            self.files += 1;
        } else {
            self.status = 2;
        }
    }

    fn draw(&mut self, mut directory: Directory, path: &[u8], indent: &str, depth: usize) {
        allow_depth(depth);
        let entries = std::mem::take(&mut directory.entries);
        let branches = self.select(entries, directory.handle());
        let last = branches.len().saturating_sub(1);
        for (at, branch) in branches.into_iter().enumerate() {
            let name = branch.entry.name.as_bytes();
            let full = join(path, name);
            let is_directory = branch.entry.kind == EntryKind::Directory;
            if branch.leads_to_directory {
                self.directories += 1;
            } else {
                self.files += 1;
            }
            let (tee, inner) = self.indentation(indent, at == last);
            let mut line = tee.into_bytes();
            line.extend(self.escape(if self.command.style.full_paths {
                &full
            } else {
                name
            }));
            if let Some(target) = &branch.link_target {
                line.extend_from_slice(b" -> ");
                line.extend(self.escape(target));
            }
            let may_enter = is_directory && self.command.max_depth.is_none_or(|max| depth < max);
            let inside = may_enter.then(|| Directory::open(Some(directory.handle()), name));
            if let Some(Err(_)) = &inside {
                line.extend_from_slice(b"  [error opening dir]");
                self.status = 2;
            }
            self.lines.add(
                &line,
                if is_directory {
                    as_directory(&full)
                } else {
                    full.clone()
                },
            );
            if let Some(entry) = self.lines.entries.last_mut() {
                entry.link_target = branch.link_target;
            }
            if let Some(Ok(inside)) = inside {
                self.draw(inside, &full, &inner, depth + 1);
            }
        }
    }

    /// What stands before a name, and before the names inside of it.
    fn indentation(&self, indent: &str, is_last: bool) -> (String, String) {
        if self.command.style.no_indentation {
            return (String::new(), String::new());
        }
        let (tee, bar) = match (self.charset == Charset::Bytes, is_last) {
            (true, true) => ("`-- ", "    "),
            (true, false) => ("|-- ", "|   "),
            (false, true) => ("└── ", "    "),
            (false, false) => ("├── ", "│\u{a0}\u{a0} "),
        };
        (format!("{indent}{tee}"), format!("{indent}{bar}"))
    }

    fn select(&self, entries: Vec<Entry>, directory: BorrowedFd<'_>) -> Vec<Branch> {
        let mut branches: Vec<Branch> = entries
            .into_iter()
            .filter(|entry| self.command.all || !entry.name.as_bytes().starts_with(b"."))
            .filter(|entry| {
                let mut excluded = self.command.excluded.iter();
                !excluded.any(|pattern| pattern.matches(entry.name.as_bytes()))
            })
            .filter_map(|entry| self.branch(entry, directory))
            .collect();
        branches.sort_by(|a, b| a.entry.name.cmp(&b.entry.name));
        if self.command.dirs_first {
            branches.sort_by_key(|branch| !branch.leads_to_directory);
        }
        branches
    }

    fn branch(&self, entry: Entry, directory: BorrowedFd<'_>) -> Option<Branch> {
        let name = entry.name.as_bytes();
        let is_directory = entry.kind == EntryKind::Directory;
        let mut included = self.command.included.iter();
        if !self.command.included.is_empty()
            && !is_directory
            && !included.any(|pattern| pattern.matches(name))
        {
            return None;
        }
        let is_link = entry.kind == EntryKind::Link;
        let leads_to_directory = is_directory
            || (is_link
                && statat(directory, name, AtFlags::empty())
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory));
        if self.command.only_directories && !leads_to_directory {
            return None;
        }
        let link_target = is_link
            .then(|| readlinkat(directory, name, Vec::new()).ok())
            .flatten()
            .map(std::ffi::CString::into_bytes);
        Some(Branch {
            entry,
            leads_to_directory,
            link_target,
        })
    }

    /// A name as tree prints it: what is not printable in octal. A name that is not a text of the locale has
    /// its blanks and backslashes escaped too.
    fn escape(&self, name: &[u8]) -> Vec<u8> {
        let is_utf8 = self.charset != Charset::Bytes && std::str::from_utf8(name).is_ok();
        let mut escaped = Vec::with_capacity(name.len());
        let octal = |byte: u8| format!("\\{byte:03o}").into_bytes();
        for chunk in name.utf8_chunks() {
            for char in chunk.valid().chars() {
                let mut buffer = [0; 4];
                let bytes = char.encode_utf8(&mut buffer).as_bytes();
                match char {
                    '\n' if !is_utf8 => escaped.extend_from_slice(b"\\n"),
                    '\t' if !is_utf8 => escaped.extend_from_slice(b"\\t"),
                    ' ' | '\\' if !is_utf8 => escaped.extend_from_slice(&[b'\\', bytes[0]]),
                    _ if char.is_control() || (!is_utf8 && !char.is_ascii()) => {
                        escaped.extend(bytes.iter().copied().flat_map(octal));
                    }
                    _ => escaped.extend_from_slice(bytes),
                }
            }
            escaped.extend(chunk.invalid().iter().copied().flat_map(octal));
        }
        escaped
    }

    fn finish(mut self) -> Listing {
        if !self.command.style.no_report {
            let plural = |count: u64, one: &str, more: &str| {
                let noun = if count == 1 { one } else { more };
                format!("{count} {noun}")
            };
            let mut report = plural(self.directories, "directory", "directories");
            if !self.command.only_directories {
                report.push_str(", ");
                report.push_str(&plural(self.files, "file", "files"));
            }
            self.lines.add(b"", Vec::new());
            self.lines.add(report.as_bytes(), Vec::new());
        }
        Listing {
            out: self.lines.out,
            status: self.status,
            entries: Some(self.lines.entries),
            ..Listing::default()
        }
    }
}

/// Lists what `ls -R` lists.
pub fn run_ls(command: &LsCommand) -> Listing {
    let mut ls = LsWalk {
        command,
        lines: Lines::default(),
        err: Vec::new(),
        status: 0,
        has_section: false,
    };
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for path in &command.paths {
        match stat(path.as_str()) {
            Ok(stat) if kind_of(FileType::from_raw_mode(stat.st_mode)) == EntryKind::Directory => {
                directories.push(path.as_bytes());
            }
            Ok(_) => files.push(path.as_bytes()),
            // A link that leads nowhere is listed as a file.
            Err(_) if rustix::fs::lstat(path.as_str()).is_ok() => files.push(path.as_bytes()),
            Err(error) => ls.report("access", path.as_bytes(), &error.into(), 2),
        }
    }
    files.sort_unstable();
    directories.sort_unstable();
    for file in files {
        ls.lines.add(file, file.to_vec());
        ls.has_section = true;
    }
    for directory in directories {
        match Directory::open(None, directory) {
            Ok(opened) => ls.list(opened, directory, 1),
            Err(error) => ls.report("open directory", directory, &error, 2),
        }
    }
    Listing {
        out: ls.lines.out,
        err: ls.err,
        status: ls.status,
        entries: Some(ls.lines.entries),
        near: Vec::new(),
    }
}

struct LsWalk<'a> {
    command: &'a LsCommand,
    lines: Lines,
    err: Vec<u8>,
    status: u8,
    /// Something stands above, so that an empty line comes first.
    has_section: bool,
}

impl LsWalk<'_> {
    fn list(&mut self, mut directory: Directory, path: &[u8], depth: usize) {
        allow_depth(depth);
        if self.has_section {
            self.lines.add(b"", Vec::new());
        }
        self.has_section = true;
        self.lines.add(&[path, b":"].concat(), as_directory(path));
        let shows_hidden = self.command.hidden != HiddenNames::None;
        let mut entries = std::mem::take(&mut directory.entries);
        entries.retain(|entry| shows_hidden || !entry.name.as_bytes().starts_with(b"."));
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let mut names: Vec<&[u8]> = entries.iter().map(|entry| entry.name.as_bytes()).collect();
        if self.command.hidden == HiddenNames::All {
            names.extend([&b"."[..], b".."]);
            names.sort_unstable();
        }
        let kinds = |name: &[u8]| {
            let found = entries.binary_search_by(|entry| entry.name.as_bytes().cmp(name));
            found.map_or(EntryKind::Other, |at| entries[at].kind)
        };
        for name in names {
            let full = join(path, name);
            let item = match kinds(name) {
                _ if matches!(name, b"." | b"..") => Vec::new(),
                EntryKind::Directory => as_directory(&full),
                _ => full,
            };
            self.lines.add(name, item);
        }
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Directory) {
            let full = join(path, entry.name.as_bytes());
            match Directory::open(Some(directory.handle()), entry.name.as_bytes()) {
                Ok(inner) => self.list(inner, &full, depth + 1),
                Err(error) => self.report("open directory", &full, &error, 1),
            }
        }
    }

    fn report(&mut self, action: &str, path: &[u8], error: &io::Error, status: u8) {
        let line = format!(
            "ls: cannot {action} '{}': {}\n",
            String::from_utf8_lossy(path),
            describe(error)
        );
        self.err.extend_from_slice(line.as_bytes());
        self.status = self.status.max(status);
    }
}

/// The path of a directory, with one slash behind it.
fn as_directory(path: &[u8]) -> Vec<u8> {
    join(path, b"")
}
