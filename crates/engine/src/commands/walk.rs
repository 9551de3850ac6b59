//! The files that `grep -r` and `rg` search, in the order of the program.
//!
//! `grep` reads directories as the system lists them and follows no link below a directory it was given;
//! ripgrep respects ignore files. ripgrep searches with several threads in no order; here its files are
//! ordered by path.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::absolute_lexically;
#[cfg(unix)]
use super::silver;
use docent_core::shell::search::{FileSelectionRules, LineSearchRequest, SearchProgram};
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;

/// A file to search.
#[derive(Clone, Debug)]
pub(super) struct ListedFile {
    /// As the program prints it.
    pub(super) name: Vec<u8>,
    pub(super) path: PathBuf,
    /// It was named on the command line.
    pub(super) is_operand: bool,
}

/// What a walk has listed.
#[derive(Debug, Default)]
pub(super) struct ListedFiles {
    pub(super) files: Vec<ListedFile>,
    pub(super) errors: Vec<WalkError>,
}

/// A file or directory that cannot be read.
#[derive(Debug)]
pub(super) struct WalkError {
    pub(super) name: Vec<u8>,
    pub(super) reason: Reason,
    /// How many files were listed before.
    pub(super) after: usize,
}

#[derive(Debug)]
pub(super) enum Reason {
    IsDirectory,
    /// A link leads to a directory above it.
    Loop,
    System(io::Error),
}

/// A filter that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SelectionError(String);

#[cfg(unix)]
impl SelectionError {
    pub(super) fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

/// Lists the files of the request's operands.
pub(super) fn list_files(
    request: &LineSearchRequest,
    directory: &Path,
) -> Result<ListedFiles, SelectionError> {
    let mut listing = ListedFiles::default();
    match request.program {
        SearchProgram::Grep => {
            let rules = GrepRules::read(&request.selection)?;
            let mut walk = GrepWalk {
                rules,
                recursive: request.recursive,
                follows_links: request.follows_links,
                above: Vec::new(),
                listing: &mut listing,
            };
            if request.operands.is_empty() {
                walk.enter_once(directory, b"");
            }
            for operand in &request.operands {
                walk.add_operand(directory, operand);
            }
        }
        // git lists its files itself.
        SearchProgram::GitGrep => {}
        SearchProgram::Silver => {
            let default = [".".to_owned()];
            let operands = match request.operands.as_slice() {
                [] => default.as_slice(),
                operands => operands,
            };
            for operand in operands {
                listing
                    .files
                    .append(&mut list_silver(request, directory, operand)?);
            }
        }
        SearchProgram::Ripgrep => {
            let default = [".".to_owned()];
            let operands = match request.operands.as_slice() {
                [] => default.as_slice(),
                operands => operands,
            };
            for operand in operands {
                add_with_ignore_rules(&request.selection, directory, operand, &mut listing)?;
            }
            if request.operands.is_empty() {
                for file in &mut listing.files {
                    file.name.drain(..file.name.strip_prefix(b"./").map_or(0, |_| 2));
                }
            }
        }
    }
    Ok(listing)
}

/// Lists the files of an operand of `ag`.
#[cfg(unix)]
fn list_silver(
    request: &LineSearchRequest,
    directory: &Path,
    operand: &str,
) -> Result<Vec<ListedFile>, SelectionError> {
    let rules = silver::SilverRules {
        hidden: request.selection.hidden,
        no_ignore: request.selection.no_ignore,
    };
    silver::list_files(rules, directory, operand)
}

#[cfg(not(unix))]
fn list_silver(_: &LineSearchRequest, _: &Path, operand: &str) -> Result<Vec<ListedFile>, SelectionError> {
    Err(SelectionError(format!(
        "ag is answered on Unix only, not for {operand}"
    )))
}

/// A name as programs print it.
fn bytes_of(name: &OsStr) -> Cow<'_, [u8]> {
    #[cfg(unix)]
    return Cow::Borrowed(std::os::unix::ffi::OsStrExt::as_bytes(name));
    #[cfg(not(unix))]
    return Cow::Owned(name.to_string_lossy().into_owned().into_bytes());
}

/// `--include`, `--exclude` and `--exclude-dir`.
struct GrepRules {
    globs: Vec<(GlobMatcher, bool)>,
    excluded_directories: Vec<GlobMatcher>,
}

impl GrepRules {
    fn read(rules: &FileSelectionRules) -> Result<Self, SelectionError> {
        let globs = rules.globs.iter();
        let directories = rules.excluded_directories.iter();
        Ok(Self {
            globs: globs
                .map(|glob| Ok((compile_glob(&glob.glob)?, glob.included)))
                .collect::<Result<_, SelectionError>>()?,
            excluded_directories: directories
                .map(|glob| compile_glob(glob.trim_end_matches('/')))
                .collect::<Result<_, SelectionError>>()?,
        })
    }

    /// Of several globs that match, the last one decides. If none does, a file is searched unless the first
    /// glob is an `--include`.
    fn selects(&self, name: &OsStr) -> bool {
        let last = self.globs.iter().rev().find(|(glob, _)| glob.is_match(name));
        match (last, self.globs.first()) {
            (Some((_, included)), _) => *included,
            (None, Some((_, first_included))) => !first_included,
            (None, None) => true,
        }
    }

    /// The same for a file that is named on the command line: a glob can match any trailing part of its name
    /// that begins behind a slash.
    fn selects_operand(&self, operand: &str) -> bool {
        let is_match = |glob: &GlobMatcher| suffixes(operand).any(|suffix| glob.is_match(suffix));
        let last = self.globs.iter().rev().find(|(glob, _)| is_match(glob));
        match (last, self.globs.first()) {
            (Some((_, included)), _) => *included,
            (None, Some((_, first_included))) => !first_included,
            (None, None) => true,
        }
    }

    fn enters_operand(&self, operand: &str) -> bool {
        suffixes(operand.trim_end_matches('/')).all(|suffix| self.enters(OsStr::new(suffix)))
    }

    fn enters(&self, name: &OsStr) -> bool {
        !self.excluded_directories.iter().any(|glob| glob.is_match(name))
    }
}

/// A name, and its trailing parts that begin behind a slash.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
    std::iter::once(name).chain(parts)
}

/// A glob of `fnmatch`, in which `*` matches any character.
fn compile_glob(glob: &str) -> Result<GlobMatcher, SelectionError> {
    let escaped = glob.replace('{', "\\{").replace('}', "\\}").replace(',', "\\,");
    GlobBuilder::new(&escaped)
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| SelectionError(error.to_string()))
}

/// The walk of `grep -r`.
struct GrepWalk<'a> {
    rules: GrepRules,
    recursive: bool,
    follows_links: bool,
    /// The directories that are entered, canonical, if links are followed.
    above: Vec<PathBuf>,
    listing: &'a mut ListedFiles,
}

impl GrepWalk<'_> {
    fn add_operand(&mut self, directory: &Path, operand: &str) {
        let path = directory.join(operand);
        let name = operand.as_bytes();
        match fs::metadata(&path) {
            Err(error) => self.add_error(name, Reason::System(error)),
            Ok(metadata) if metadata.is_dir() => {
                if !self.recursive {
                    self.add_error(name, Reason::IsDirectory);
                } else if self.rules.enters_operand(operand) {
                    self.enter_once(&path, name);
                }
            }
            Ok(_) if self.rules.selects_operand(operand) => self.listing.files.push(ListedFile {
                name: name.to_vec(),
                path,
                is_operand: true,
            }),
            Ok(_) => {}
        }
    }

    /// Enters a directory, unless it is one that the walk is inside of: links can lead back up.
    fn enter_once(&mut self, directory: &Path, prefix: &[u8]) {
        if !self.follows_links {
            return self.enter(directory, prefix);
        }
        match directory.canonicalize() {
            Ok(canonical) if self.above.contains(&canonical) => self.add_error(prefix, Reason::Loop),
            Ok(canonical) => {
                self.above.push(canonical);
                self.enter(directory, prefix);
                self.above.pop();
            }
            Err(error) => self.add_error(prefix, Reason::System(error)),
        }
    }

    /// Lists a directory whose files are printed below `prefix`.
    fn enter(&mut self, directory: &Path, prefix: &[u8]) {
        #[expect(
            clippy::disallowed_methods,
            reason = "grep searches every directory, in the order of the system"
        )]
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.add_error(prefix, Reason::System(error)),
        };
        for entry in entries.flatten() {
            let file_name = entry.file_name();
            let mut name = prefix.to_vec();
            if !name.is_empty() && !name.ends_with(b"/") {
                name.push(b'/');
            }
            name.extend_from_slice(&bytes_of(&file_name));
            let Ok(mut kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() && self.follows_links {
                match fs::metadata(entry.path()) {
                    Ok(target) => kind = target.file_type(),
                    Err(error) => {
                        // A file that is left out is not opened either.
                        if self.rules.selects(&file_name) {
                            self.add_error(&name, Reason::System(error));
                        }
                        continue;
                    }
                }
            }
            if kind.is_dir() {
                if self.rules.enters(&file_name) {
                    self.enter_once(&entry.path(), &name);
                }
            } else if kind.is_file() && self.rules.selects(&file_name) {
                self.listing.files.push(ListedFile {
                    name,
                    path: entry.path(),
                    is_operand: false,
                });
            }
        }
    }

    fn add_error(&mut self, name: &[u8], reason: Reason) {
        let after = self.listing.files.len();
        self.listing.errors.push(WalkError {
            name: name.to_vec(),
            reason,
            after,
        });
    }
}

/// Lists the files of an operand of ripgrep.
fn add_with_ignore_rules(
    rules: &FileSelectionRules,
    directory: &Path,
    operand: &str,
    listing: &mut ListedFiles,
) -> Result<(), SelectionError> {
    let refuse = |error: ignore::Error| SelectionError(error.to_string());
    // Globs are compared with paths from the directory, which `.` in between would not begin with.
    let path = absolute_lexically(&directory.join(operand));
    let after = listing.files.len();
    if let Err(error) = fs::metadata(&path) {
        let name = operand.as_bytes().to_vec();
        let reason = Reason::System(error);
        listing.errors.push(WalkError { name, reason, after });
        return Ok(());
    }
    if !path.is_dir() {
        listing.files.push(ListedFile {
            name: operand.as_bytes().to_vec(),
            path,
            is_operand: true,
        });
        return Ok(());
    }
    let mut overrides = OverrideBuilder::new(directory);
    for glob in &rules.globs {
        overrides.add(&glob.glob).map_err(refuse)?;
    }
    let mut types = TypesBuilder::new();
    types.add_defaults();
    for (name, selected) in &rules.types {
        if *selected {
            types.select(name);
        } else {
            types.negate(name);
        }
    }
    let mut walk = WalkBuilder::new(&path);
    walk.current_dir(directory)
        .hidden(!rules.hidden)
        .ignore(!rules.no_ignore)
        .git_ignore(!rules.no_ignore)
        .git_global(!rules.no_ignore)
        .git_exclude(!rules.no_ignore)
        .parents(!rules.no_ignore)
        .max_depth(rules.max_depth)
        .overrides(overrides.build().map_err(refuse)?)
        .types(types.build().map_err(refuse)?);
    if !rules.no_ignore {
        walk.add_custom_ignore_filename(".rgignore");
    }
    let mut found: Vec<ListedFile> = Vec::new();
    for entry in walk.build() {
        let Ok(entry) = entry else {
            continue;
        };
        if entry.file_type().is_some_and(|kind| kind.is_file()) {
            let below = entry.path().strip_prefix(&path).unwrap_or(entry.path());
            let name = bytes_of(Path::new(operand).join(below).as_os_str()).into_owned();
            let path = entry.into_path();
            found.push(ListedFile {
                name,
                path,
                is_operand: false,
            });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    listing.files.append(&mut found);
    Ok(())
}
