//! The git tools: the project's history, in markdown.
//!
//! git's own messages are never quoted: they may repeat files that a hostile configuration points at.

pub(super) mod blame;
pub(super) mod diff;
pub(super) mod log;

use docent_core::path::RepoPath;
use docent_engine::git::{ChangedFile, GitError, MIN_ID_DIGITS};

use crate::markdown::{cut, inline, shorten};
use crate::tools::failure::{Failure, FailureKind};

/// Parses an optional path. An empty one counts as not given.
fn parse_path(text: Option<&str>) -> Result<Option<RepoPath>, Failure> {
    non_empty(text)
        .map(|text| {
            RepoPath::parse(text).map_err(|error| {
                Failure::new(
                    FailureKind::Invalid,
                    format!("Invalid file path: {}", shorten(text)),
                )
                .details(error.to_string())
                .hint("Name the file relative to the project root, such as src/main.rs")
            })
        })
        .transpose()
}

/// An optional argument. Some clients send empty text for arguments that they leave out.
fn non_empty(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// `src/new.rs (renamed from src/old.rs)`
fn describe_change(file: &ChangedFile) -> String {
    let (path, status) = (inline(&file.path), file.status.name());
    match &file.from {
        Some(from) => format!("{path} ({status} from {})", inline(from)),
        None => format!("{path} ({status})"),
    }
}

/// The failure for an error of git. `reference` is the tool's word for a reference.
fn refuse_git(error: GitError, reference: &str) -> Failure {
    let invalid = |name: &str| format!("Invalid {reference}: {}", shorten(name));
    match error {
        GitError::NotInstalled => Failure::new(FailureKind::NoRepository, "git is not installed")
            .hint("Install git and make sure it is on the PATH that docent is started with"),
        GitError::TooOld(version) => Failure::new(
            FailureKind::NoRepository,
            format!("git {version} is too old to be run safely"),
        )
        .hint("Install git 2.31 or newer"),
        GitError::NotARepository => Failure::new(FailureKind::NoRepository, "This project is not a git repository")
            .hint("Run git init in the project root, or start docent in a repository"),
        GitError::Refused(reason) => Failure::new(FailureKind::Denied, "Cannot access git repository")
            .details(reason)
            .hint("docent follows .git only to a repository that names this project as its own"),
        GitError::ForeignStore => Failure::new(FailureKind::Denied, "Cannot access git repository")
            .details("its objects/info/alternates names an object store outside the repository")
            .hint("If you made it with git clone --shared or --reference, add the store's directory to git.allowed_directories in your user settings (docent/config.toml)"),
        GitError::BareNotAllowed => Failure::new(FailureKind::Denied, "Cannot access git repository")
            .details("the project has the files of a bare repository, which any clone may contain")
            .hint("If it is a bare repository of your own, add its directory to git.allowed_directories in your user settings (docent/config.toml)"),
        GitError::Moved => Failure::moved_project(),
        GitError::Changing => Failure::new(FailureKind::Internal, "The repository changed while it was read").hint("Try again"),
        GitError::Denied => Failure::new(FailureKind::Denied, "Cannot access git repository")
            .hint("Let the user who runs docent read the project and its .git directory"),
        GitError::Bare => Failure::new(FailureKind::Invalid, "This repository is bare: it has no working directory")
            .hint("Give two references, ref1 and ref2"),
        GitError::UnknownReference(name) => Failure::new(FailureKind::Missing, invalid(&name)).hint(
            "Name a commit, branch or tag that exists here, such as HEAD~2 or main; of a range, give the ends as ref1 and ref2",
        ),
        GitError::UnknownDateOrReference(name) => Failure::new(FailureKind::Missing, invalid(&name)).hint(
            "Give a date (2025-01-31, 30 days ago, yesterday), or a tag, branch or commit that exists here",
        ),
        GitError::ShortId(name) => Failure::new(FailureKind::Missing, invalid(&name)).hint(format!(
            "An abbreviated commit id needs at least {MIN_ID_DIGITS} digits; no branch or tag has this name",
        )),
        GitError::NoCommits(name) => Failure::new(FailureKind::Missing, invalid(&name))
            .details("the repository is empty: nothing has been committed yet")
            .hint("Commit something first; without references, git_diff compares the index with the working directory"),
        GitError::NotInShallow(name) => Failure::new(FailureKind::Missing, invalid(&name))
            .details("this is a shallow clone, which has only the newest commits")
            .hint("Name a commit, branch or tag that exists here; git fetch --unshallow gets the rest of the history"),
        GitError::MalformedReference(name) => Failure::new(FailureKind::Invalid, invalid(&name))
            .hint("A reference does not begin with - and has no control characters"),
        GitError::UntrackedYet(path) => {
            Failure::new(FailureKind::Missing, format!("File not tracked by git: {}", shorten(&path)))
                .details("the repository is empty: nothing has been committed yet")
                .hint("Commit the file first")
        }
        GitError::Untracked(path) => {
            Failure::new(FailureKind::Missing, format!("File not tracked by git: {}", shorten(&path)))
                .hint("Name a file that is in the last commit; what is untracked, ignored or only staged has no history yet")
        }
        GitError::Incomplete => Failure::new(FailureKind::Internal, "This clone does not have the content of the file")
            .hint("A partial clone fetches content when it is needed, which docent does not do; git fetch --refetch gets all of it"),
        GitError::LineRange { start, end, lines } => {
            refuse_line_range(&start.to_string(), &end.to_string()).details(format!("the file has {lines} lines"))
        }
        GitError::Uncommitted { first, last } => refuse_uncommitted(first, last),
        GitError::Blocked(path) => Failure::new(FailureKind::Denied, format!("Cannot read file: {}", shorten(&path)))
            .details("the path is blocked because it may hold secrets or machinery, or leads outside the project")
            .hint("git_log shows when and by whom it was changed"),
        GitError::Binary(path) => Failure::new(FailureKind::Invalid, format!("Binary file: {}", shorten(&path)))
            .hint("Lines have authors in text files only; git_log shows the file's commits"),
        GitError::TooLarge(path) => Failure::new(FailureKind::TooLarge, format!("File too large: {}", shorten(&path)))
            .hint("git_log shows the file's commits"),
        GitError::TooManyFiles => Failure::new(FailureKind::TooLarge, "More files differ than docent counts")
            .hint("Name a directory with filePath, or references that are closer"),
        GitError::Expired(expired) => expired.into(),
        GitError::Failed(reason) => {
            Failure::new(FailureKind::Internal, format!("git cannot answer from this repository: {reason}"))
                .hint("Try the same with git on the command line; git fsck finds broken objects")
        }
        GitError::Truncated => Failure::new(FailureKind::Internal, "git stopped in the middle of its answer")
            .hint("Try again; git fsck finds broken objects"),
        GitError::Pipe(error) => Failure::new(FailureKind::Internal, format!("git cannot be run: {error}"))
            .hint("Try again; if it stays, run git on the command line"),
    }
}

fn refuse_uncommitted(first: usize, last: usize) -> Failure {
    Failure::new(
        FailureKind::Missing,
        format!("Lines {first}-{last} are in no commit yet"),
    )
    .hint("Name lines that were committed; git_diff shows the others")
}

/// A compact answer without its last line end, cut to its budget. Cutting is the last resort, for parts that
/// turned out longer than planned.
fn cut_compact(text: &str, budget: usize) -> String {
    cut(text.trim_end_matches('\n'), budget, "\n… cut here; ask for less")
}

/// The failure for lines that no file has, in the words of the contract.
fn refuse_line_range(start: &str, end: &str) -> Failure {
    Failure::new(FailureKind::Invalid, format!("Invalid line range: {start}-{end}"))
        .hint("Count lines from 1, and end no earlier than you start")
}
