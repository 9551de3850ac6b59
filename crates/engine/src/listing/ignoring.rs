//! The walks of `fd` and `rg --files`, which leave out hidden and ignored files as the `ignore` library does.
//!
//! Both print in the order in which their threads find files, so any order is theirs; here it is that of
//! paths, which fd has for short lists too.
//!
//! Invariant: the settings of the library are those of the program.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use docent_core::shell::find::{EntryKind, FdCommand, IgnoreFlags, NameRegex, RgFilesCommand};
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder};

use super::{Listing, ListingContext, ListingError, NearPath, NearReason};

/// Entries that are looked at for a hidden or ignored match when there is no other.
const MAX_LEFT_OUT_ENTRIES: usize = 20_000;

/// Hidden and ignored matches that are named.
const MAX_LEFT_OUT_PATHS: usize = 3;

/// Lists what `fd` finds. Relative paths are those of the process's working directory.
pub fn run_fd(command: &FdCommand, context: &ListingContext) -> Result<Listing, ListingError> {
    let mut listing = Listing::default();
    let mut roots = Vec::new();
    for path in &command.paths {
        if Path::new(path).is_dir() {
            roots.push(path.as_str());
        } else {
            let line = format!("[fd error]: Search path '{path}' is not a directory.\n");
            listing.err.extend_from_slice(line.as_bytes());
        }
    }
    if roots.is_empty() && !command.paths.is_empty() {
        listing
            .err
            .extend_from_slice(b"[fd error]: No valid search paths given.\n");
        listing.status = 1;
        return Ok(listing);
    }
    if roots.is_empty() {
        roots.push(".");
    }
    let filter = FdFilter::new(command)?;
    let builder = fd_walk(command, &roots, context)?;
    let mut found = Vec::new();
    for entry in builder.build().flatten() {
        if filter.accepts(&entry) {
            found.push(filter.print(&entry, context));
        }
    }
    sort_paths(&mut found);
    if found.is_empty() && !command.left_out.is_empty() {
        listing.near = find_left_out(builder, |entry| {
            filter.accepts(entry).then(|| filter.print(entry, context))
        });
    }
    for path in found {
        listing.out.extend_from_slice(&path);
        listing.out.push(b'\n');
    }
    Ok(listing)
}

fn fd_walk(
    command: &FdCommand,
    roots: &[&str],
    context: &ListingContext,
) -> Result<WalkBuilder, ListingError> {
    let mut overrides = OverrideBuilder::new(roots[0]);
    for glob in &command.excluded {
        let added = overrides.add(&format!("!{glob}"));
        added.map_err(|_| ListingError::Pattern(glob.clone()))?;
    }
    let overrides = overrides
        .build()
        .map_err(|_| ListingError::Pattern(command.excluded.join(" ")))?;
    let mut builder = WalkBuilder::new(roots[0]);
    for root in &roots[1..] {
        builder.add(root);
    }
    leave_out(&mut builder, command.left_out);
    builder.overrides(overrides).max_depth(command.max_depth);
    if !command.left_out.no_ignore {
        builder.add_custom_ignore_filename(".fdignore");
        if let Some(directory) = &context.config_directory {
            let file = directory.join("fd/ignore");
            if file.is_file() {
                builder.add_ignore(file);
            }
        }
    }
    Ok(builder)
}

fn leave_out(builder: &mut WalkBuilder, left_out: IgnoreFlags) {
    builder
        .hidden(!left_out.hidden)
        .ignore(!left_out.no_ignore)
        .parents(!left_out.no_ignore)
        .git_ignore(left_out.reads_git())
        .git_global(left_out.reads_git())
        .git_exclude(left_out.reads_git());
}

/// Which entries fd prints, and how.
struct FdFilter<'a> {
    command: &'a FdCommand,
    pattern: NameRegex,
    extensions: Vec<Vec<u8>>,
}

impl<'a> FdFilter<'a> {
    fn new(command: &'a FdCommand) -> Result<Self, ListingError> {
        let pattern = command.pattern.compile();
        Ok(Self {
            command,
            pattern: pattern.map_err(|_| ListingError::Pattern(command.pattern.text.clone()))?,
            extensions: command
                .extensions
                .iter()
                .map(|extension| format!(".{extension}").into_bytes())
                .collect(),
        })
    }

    fn accepts(&self, entry: &DirEntry) -> bool {
        let Some(kind) = entry.file_type() else {
            return false;
        };
        if entry.depth() == 0 || self.command.min_depth.is_some_and(|least| entry.depth() < least) {
            return false;
        }
        let name = entry.file_name().as_bytes();
        self.pattern.is_match(name) && self.has_extension(name) && self.has_kind(kind)
    }

    /// Whether a name has an extension behind a character, which fd does not find in bytes that are no text.
    fn has_extension(&self, name: &[u8]) -> bool {
        let has_character = |stem: &[u8]| {
            let ends = (1..=4.min(stem.len())).map(|length| &stem[stem.len() - length..]);
            let mut ends = ends.filter_map(|end| std::str::from_utf8(end).ok());
            ends.next().is_some_and(|end| end != "\n")
        };
        self.extensions.is_empty()
            || self.extensions.iter().any(|extension| {
                let stem = name.len().saturating_sub(extension.len());
                name[stem..].eq_ignore_ascii_case(extension) && has_character(&name[..stem])
            })
    }

    fn has_kind(&self, kind: std::fs::FileType) -> bool {
        let own = if kind.is_file() {
            EntryKind::File
        } else if kind.is_dir() {
            EntryKind::Directory
        } else if kind.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Other
        };
        self.command.kinds.is_empty() || self.command.kinds.contains(&own)
    }

    fn print(&self, entry: &DirEntry, context: &ListingContext) -> Vec<u8> {
        let path = entry.path();
        let inside = path.strip_prefix(".").unwrap_or(path);
        let shown = if self.command.absolute {
            context.directory.join(inside)
        } else if self.command.paths.is_empty() {
            inside.to_owned()
        } else {
            path.to_owned()
        };
        let mut bytes = shown.as_os_str().as_bytes().to_vec();
        if entry.file_type().is_some_and(|kind| kind.is_dir()) && !bytes.ends_with(b"/") {
            bytes.push(b'/');
        }
        bytes
    }
}

/// Lists the files that `rg` would search.
pub fn run_rg_files(command: &RgFilesCommand, context: &ListingContext) -> Result<Listing, ListingError> {
    let mut listing = Listing::default();
    let builder = rg_walk(command, context)?;
    let mut found = Vec::new();
    for entry in builder.build() {
        match entry {
            Ok(entry) => {
                if let Some(error) = entry.error() {
                    listing.err.extend_from_slice(format!("rg: {error}\n").as_bytes());
                }
                found.extend(print_for_rg(command, &entry));
            }
            Err(error) => {
                listing.err.extend_from_slice(format!("rg: {error}\n").as_bytes());
                listing.status = 2;
            }
        }
    }
    if listing.status == 0 && found.is_empty() {
        listing.status = 1;
        listing.near = find_left_out(builder, |entry| print_for_rg(command, entry));
    }
    if !command.sorts {
        sort_paths(&mut found);
    }
    for path in found {
        listing.out.extend_from_slice(&path);
        listing.out.push(b'\n');
    }
    Ok(listing)
}

fn rg_walk(command: &RgFilesCommand, context: &ListingContext) -> Result<WalkBuilder, ListingError> {
    let mut overrides = OverrideBuilder::new(&context.directory);
    for glob in &command.globs {
        let added = overrides.add(glob);
        added.map_err(|_| ListingError::Pattern(glob.clone()))?;
    }
    let overrides = overrides
        .build()
        .map_err(|_| ListingError::Pattern(command.globs.join(" ")))?;
    let mut types = TypesBuilder::new();
    for glob in &command.type_globs {
        let added = types.add("wanted", glob);
        added.map_err(|_| ListingError::Pattern((*glob).to_owned()))?;
    }
    if !command.type_globs.is_empty() {
        types.select("wanted");
    }
    let types = types
        .build()
        .map_err(|_| ListingError::Pattern(command.type_globs.join(" ")))?;
    let mut paths = command.paths.iter().map(PathBuf::from);
    let mut builder = WalkBuilder::new(paths.next().unwrap_or_else(|| PathBuf::from("./")));
    for path in paths {
        builder.add(path);
    }
    leave_out(&mut builder, command.left_out);
    builder
        .overrides(overrides)
        .types(types)
        .max_depth(command.max_depth);
    if !command.left_out.no_ignore {
        builder.add_custom_ignore_filename(".rgignore");
    }
    if command.sorts {
        builder.sort_by_file_name(OsStr::cmp);
    }
    Ok(builder)
}

/// The line of an entry, if ripgrep lists it: a file, or whatever was named as an operand.
fn print_for_rg(command: &RgFilesCommand, entry: &DirEntry) -> Option<Vec<u8>> {
    let kind = entry.file_type()?;
    let is_operand = entry.depth() == 0 && !entry.path().is_dir();
    if !kind.is_file() && !is_operand {
        return None;
    }
    let path = entry.path();
    let shown = if command.paths.is_empty() {
        path.strip_prefix("./").unwrap_or(path)
    } else {
        path
    };
    Some(shown.as_os_str().as_bytes().to_vec())
}

/// Sorts by components, as fd does, not by bytes: `a/x` stands before `a-b`.
fn sort_paths(paths: &mut [Vec<u8>]) {
    paths.sort_unstable_by(|a, b| Path::new(OsStr::from_bytes(a)).cmp(Path::new(OsStr::from_bytes(b))));
}

/// The first hidden or ignored paths that would match.
fn find_left_out(
    mut builder: WalkBuilder,
    mut print: impl FnMut(&DirEntry) -> Option<Vec<u8>>,
) -> Vec<NearPath> {
    let nothing = IgnoreFlags {
        hidden: true,
        no_ignore: true,
        no_ignore_vcs: true,
    };
    leave_out(&mut builder, nothing);
    builder.filter_entry(|entry| entry.file_name() != ".git");
    let entries = builder.build().take(MAX_LEFT_OUT_ENTRIES).flatten();
    entries
        .filter_map(|entry| print(&entry))
        .take(MAX_LEFT_OUT_PATHS)
        .map(|path| NearPath {
            path,
            reason: NearReason::LeftOut,
        })
        .collect()
}
