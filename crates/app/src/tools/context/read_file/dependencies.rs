//! The project files that a file imports: their paths, and as much of each as fits.

use docent_core::path::RepoPath;
use docent_core::text::reveal::{reveal, reveal_part};
use docent_engine::dependencies::{Dependencies, DependencyError};
use docent_engine::files::FileError;
use docent_engine::symbols::outline_file;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Args, ReadFile};
use crate::markdown::length;
use crate::tools::budget::json_length;
use crate::tools::call::Call;
use crate::tools::failure::{Failure, FailureKind};
use crate::tools::file_compact::show_file_outline;
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text};

/// Characters of a dependency beside its path.
const FIELD_CHARS: usize = 50;

/// Characters of a dependency's content field beside the content.
const CONTENT_FIELD_CHARS: usize = 14;

/// Characters of all dependencies in the compact form.
const MAX_COMPACT_CHARS: usize = 6_000;

#[derive(Serialize, JsonSchema)]
pub(super) struct Dependency {
    /// The file's path; for external imports, the name in the import statement
    pub(super) path: String,
    pub(super) r#type: DependencyType,
    level: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The file itself; `path` is its name as it may be shown
    #[serde(skip)]
    pub(super) file: Option<RepoPath>,
}

/// The target of an import.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum DependencyType {
    /// A file of the project
    Import,
    /// The standard library, a package, or a file that does not exist
    External,
}

/// The imports of a file that a call asks for, without content.
pub(super) fn list_dependencies(
    call: &Call<'_>,
    args: &Args,
    file: &ReadFile,
) -> Result<Vec<Dependency>, Failure> {
    if !args.include_deps || args.max_depth == 0 {
        return Ok(Vec::new());
    }
    let imports = Dependencies::of(
        &call.project.root,
        &file.path,
        file.language,
        &file.text,
        call.deadline,
    );
    Ok(list_imports(
        &imports.map_err(|error| refuse_imports(&error, &args.path))?,
    ))
}

/// Dependencies in the compact form: each path, and the definitions of the file if they fit. Returns the
/// files whose definitions are shown.
pub(super) fn write_compact(
    call: &Call<'_>,
    dependencies: &[Dependency],
    room: usize,
) -> (String, Vec<RepoPath>) {
    let mut left = room.min(MAX_COMPACT_CHARS).saturating_sub(100);
    let mut text = String::new();
    let mut read = Vec::new();
    for (at, dependency) in dependencies.iter().enumerate() {
        let header = match dependency.r#type {
            DependencyType::Import => format!("imports {}", dependency.path),
            DependencyType::External => format!("imports {} (external)", dependency.path),
        };
        if length(&header) + 1 > left {
            text += &format!("\n… {} more imports", dependencies.len() - at);
            break;
        }
        let outline = dependency.file.as_ref().and_then(|file| {
            let content = call.project.root.read(file, MAX_FILE_BYTES).ok()?;
            let outline = outline_file(&call.project.root, file, &decode_text(content.bytes)?);
            let is_shown = !outline.definitions.is_empty();
            is_shown.then(|| show_file_outline(&outline, &header, usize::MAX))
        });
        let shown = match outline.filter(|outline| length(outline) < left) {
            Some(outline) => {
                read.extend(dependency.file.clone());
                outline
            }
            None => header,
        };
        left -= length(&shown) + 1;
        text.push('\n');
        text += &shown;
    }
    (text, read)
}

/// The failure for imports that cannot be parsed.
fn refuse_imports(error: &DependencyError, path: &str) -> Failure {
    match error {
        DependencyError::Syntax(_) => Failure::new(FailureKind::Malformed, "Failed to parse imports")
            .about("path", path)
            .details(error.to_string())
            .hint("Read the file without includeDeps"),
        DependencyError::Expired(expired) => (*expired).into(),
    }
}

/// The imports of a file, without content.
fn list_imports(imports: &Dependencies) -> Vec<Dependency> {
    let dependency = |path: &str, r#type, file| Dependency {
        path: reveal_part(path).into_owned(),
        r#type,
        level: 1,
        content: None,
        file,
    };
    let files = imports
        .files
        .iter()
        .map(|file| dependency(file.as_str(), DependencyType::Import, Some(file.clone())));
    let external = imports
        .external
        .iter()
        .map(|name| dependency(name, DependencyType::External, None));
    files.chain(external).collect()
}

/// Keeps as many dependencies as can be named within `budget`, with a notice if some are left out.
pub(super) fn cut_dependencies(dependencies: &mut Vec<Dependency>, budget: usize) -> Vec<String> {
    let all = dependencies.len();
    let mut used = 0;
    let fitting = dependencies
        .iter()
        .take_while(|dependency| {
            used += json_length(&dependency.path) + FIELD_CHARS;
            used <= budget
        })
        .count();
    dependencies.truncate(fitting);
    let is_cut = fitting < all;
    Vec::from_iter(is_cut.then(|| format!("{fitting} of {all} dependencies are listed")))
}

/// Adds the content of those files that fit as a whole. Returns them, and notices about the others.
pub(super) fn add_contents(
    call: &Call<'_>,
    dependencies: &mut [Dependency],
    budget: usize,
) -> (Vec<RepoPath>, Vec<String>) {
    let mut left = budget;
    let mut read = Vec::new();
    let (mut too_long, mut unreadable) = (0, 0);
    for dependency in dependencies {
        let Some(file) = &dependency.file else { continue };
        // A character has at most four bytes, so a larger file cannot fit and need not be read.
        let max_bytes = (left as u64).saturating_mul(4).min(MAX_FILE_BYTES);
        match call
            .project
            .root
            .read(file, max_bytes)
            .map(|content| decode_text(content.bytes))
        {
            Ok(Some(content)) => {
                let shown = reveal(&content);
                let cost = json_length(&shown) + CONTENT_FIELD_CHARS;
                if cost > left {
                    too_long += 1;
                    continue;
                }
                left -= cost;
                dependency.content = Some(shown.into_owned());
                read.push(file.clone());
            }
            Err(FileError::TooLarge { size, .. }) if size <= MAX_FILE_BYTES => too_long += 1,
            _ => unreadable += 1,
        }
    }
    let mut notices = Vec::new();
    if too_long > 0 {
        notices.push(format!(
            "{too_long} dependencies are listed without content, which did not fit; read_file shows each"
        ));
    }
    if unreadable > 0 {
        notices.push(format!("{unreadable} dependencies are no text that can be shown"));
    }
    (read, notices)
}
