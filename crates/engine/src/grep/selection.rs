//! Which files a text search looks at: by glob, by path and by kind.

use docent_core::glob::is_reasonable;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::{GrepError, GrepQuery};
use crate::files::Root;
use crate::walk::WalkExtent;

/// Kinds of files that a search can be limited to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Code,
    Tests,
    Docs,
    Config,
}

impl FileKind {
    /// The kind of a file, by its role.
    pub fn of(path: &RepoPath) -> Self {
        match FileRole::of(path) {
            FileRole::Entry | FileRole::Core => Self::Code,
            FileRole::Test | FileRole::Fixture => Self::Tests,
            FileRole::Docs | FileRole::Changelog | FileRole::IssueTemplate => Self::Docs,
            FileRole::Config | FileRole::Lock | FileRole::Translation => Self::Config,
        }
    }
}

/// Which files are searched.
pub(super) struct FileSelection {
    pattern: Option<FileFilter>,
    paths: Vec<FileFilter>,
    kinds: Vec<FileKind>,
    /// The part of the project that can have such files.
    pub(super) extent: WalkExtent,
}

impl FileSelection {
    pub(super) fn new(root: &Root, query: &GrepQuery<'_>) -> Result<Self, GrepError> {
        let paths = query.paths.iter().map(|path| FileFilter::of_path(path));
        // A plain path needs no walk of anything else.
        let extent = match query.paths {
            [path] if !path.contains(GLOB_SIGNS) => RepoPath::parse(path.trim_end_matches('/')).ok(),
            _ => None,
        };
        Ok(Self {
            pattern: query.file_pattern.map(FileFilter::new).transpose()?,
            paths: paths.collect::<Result<_, _>>()?,
            kinds: query.kinds.to_vec(),
            extent: extent.map_or(WalkExtent::Everything, |path| {
                WalkExtent::Below(root.path().join(path.as_str()))
            }),
        })
    }

    pub(super) fn accepts(&self, path: &RepoPath) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.accepts(path))
            && (self.paths.is_empty() || self.paths.iter().any(|one| one.accepts(path)))
            && (self.kinds.is_empty() || self.kinds.contains(&FileKind::of(path)))
    }
}

/// Signs that make a path a glob.
const GLOB_SIGNS: [char; 5] = ['*', '?', '[', '{', '!'];

/// A glob over paths. Without a `/` it matches file names at any depth, with one at its start or inside it
/// matches paths from the root. A pattern that ends with a plain name or a `/` selects a directory of that
/// name with all files below it; one that ends with a wildcard selects files only. A leading `!` negates it,
/// and then a wildcard excludes directories as well, as in ripgrep.
#[derive(Debug)]
pub struct FileFilter {
    globs: GlobSet,
    accepts_matches: bool,
}

impl FileFilter {
    /// A file or directory by its path from the root, or a glob.
    pub fn of_path(path: &str) -> Result<Self, GrepError> {
        let plain = path.strip_prefix("./").unwrap_or(path);
        if plain.contains(GLOB_SIGNS) || plain.starts_with('/') || plain.is_empty() || plain == "." {
            Self::new(plain)
        } else {
            Self::new(&format!("/{plain}"))
        }
    }

    pub fn new(pattern: &str) -> Result<Self, GrepError> {
        let fail = |error: &globset::Error| GrepError::FilePattern(error.kind().to_string());
        if !is_reasonable(pattern) {
            return Err(GrepError::FilePattern("it is too long or too deep".to_owned()));
        }
        let (pattern, accepts_matches) = pattern
            .strip_prefix('!')
            .map_or((pattern, true), |rest| (rest, false));
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let selects_directories = !accepts_matches || pattern.ends_with('/') || !ends_with_wildcard(pattern);
        let pattern = pattern.trim_end_matches('/');
        let pattern = match pattern.strip_prefix('/') {
            Some(rooted) => rooted.to_owned(),
            None if pattern.is_empty() || pattern == "." => "**".to_owned(),
            None if pattern.contains('/') => pattern.to_owned(),
            None => format!("**/{pattern}"),
        };
        let mut globs = GlobSetBuilder::new();
        let below = selects_directories.then(|| format!("{pattern}/**"));
        for glob in below.into_iter().chain([pattern]) {
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            globs.add(glob.map_err(|error| fail(&error))?);
        }
        Ok(Self {
            globs: globs.build().map_err(|error| fail(&error))?,
            accepts_matches,
        })
    }

    pub fn accepts(&self, path: &RepoPath) -> bool {
        self.globs.is_match(path.as_str()) == self.accepts_matches
    }
}

/// True if the last part of a glob has a wildcard. A `/` inside alternatives does not begin a part, because
/// `{src/*,lib/x}` ends in either of them.
fn ends_with_wildcard(pattern: &str) -> bool {
    let (mut depth, mut is_escaped, mut has_wildcard) = (0_usize, false, false);
    for c in pattern.chars() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' => is_escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => has_wildcard = false,
            '*' | '?' | '[' => has_wildcard = true,
            _ => {}
        }
    }
    has_wildcard
}
