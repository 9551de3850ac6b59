//! `docent sh grep …`, `docent sh rg …`: a text search.
//!
//! The lines are those that the program prints. Output for machines (`-c`, `-l`, `-o` …) is printed as it is;
//! lines are printed as they are while they are few, and else grouped by file and definition.
//!
//! Invariant: each line that the program prints is shown, or counted under its file.

mod context;
mod counts;
mod definitions;
mod files;
mod functions;
pub(crate) mod git_grep;
mod list;
mod names;
mod nearby;
mod plain;
mod render;

pub(crate) use names::searched_names;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

use docent_core::shell::CommandRefusal;
use docent_core::shell::search::{
    Characters, LineSearchRequest, PatternRules, PatternSyntax, PerlClasses, SearchOutput, SearchProgram,
    perl_classes, translate,
};
use docent_engine::commands::lines::SearchedFiles;
use docent_engine::commands::search::{LineSearch, SearchError};
use docent_engine::commands::{
    CharacterSet, GrepRelease, STANDARD_INPUT, has_piped_input, has_readable_input,
};
use docent_engine::walk::work_tree;

use super::project::character_set;
use super::{ShellAnswer, ShellContext};
use crate::settings::{Environment, home_directory};
use plain::PlainOutput;

/// Whether the installed program reads the request as docent does, in the locale of the user.
pub(crate) fn check_environment(
    request: &LineSearchRequest,
    directory: &Path,
    environment: Environment<'_>,
) -> Result<(), CommandRefusal> {
    const LAST_WITH_ASCII_WORDS: GrepRelease = GrepRelease { major: 3, minor: 8 };
    const FIRST_WITH_ASCII_DIGITS: GrepRelease = GrepRelease { major: 3, minor: 11 };
    // The program ends at the first match of the order in which it lists files, and says nothing about those
    // behind it.
    if request.output == SearchOutput::Nothing && request.recursive {
        return Err(CommandRefusal::Form("its messages depend on the order of files"));
    }
    if request.program == SearchProgram::Silver {
        return check_silver(request, directory, environment);
    }
    if request.syntax != PatternSyntax::Perl {
        return Ok(());
    }
    if character_set(environment) == CharacterSet::Bytes {
        return translate(&request.patterns, PatternRules::of(request), Characters::Bytes).map(drop);
    }
    let classes = perl_classes(request);
    if classes == PerlClasses::default() {
        return Ok(());
    }
    let path = environment("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let Some(release) = GrepRelease::find(directories.iter().map(PathBuf::as_path)) else {
        return Err(CommandRefusal::Form("the release of grep is not known"));
    };
    let has_ascii_words = release <= LAST_WITH_ASCII_WORDS;
    let has_ascii_digits = has_ascii_words || release >= FIRST_WITH_ASCII_DIGITS;
    if classes.has_words && !has_ascii_words || classes.has_digits && !has_ascii_digits {
        return Err(CommandRefusal::Form("this grep takes other letters for words"));
    }
    Ok(())
}

/// `ag` says something of its own about paths that do not exist, and reads the user's own ignore files, which
/// git's configuration may name.
fn check_silver(
    request: &LineSearchRequest,
    directory: &Path,
    environment: Environment<'_>,
) -> Result<(), CommandRefusal> {
    let is_path =
        |operand: &String| operand.contains(['*', '?', '[', '{', '~']) || directory.join(operand).exists();
    if !request.operands.iter().all(is_path) {
        return Err(CommandRefusal::Form("ag is given a path that does not exist"));
    }
    if !request.patterns.iter().all(|pattern| pattern.is_ascii()) {
        return Err(CommandRefusal::Form("ag takes other letters for equal"));
    }
    if request.selection.no_ignore {
        return Ok(());
    }
    let home = home_directory(environment);
    let configuration = environment("XDG_CONFIG_HOME").map(PathBuf::from);
    let ignore_files = [
        home.as_ref().map(|home| home.join(".agignore")),
        home.as_ref().map(|home| home.join(".config/git/ignore")),
        configuration.as_ref().map(|folder| folder.join("git/ignore")),
    ];
    let has_ignore_file = ignore_files.into_iter().flatten().any(|file| file.exists());
    if has_ignore_file
        || environment("GIT_CONFIG_GLOBAL").is_some()
        || environment("GIT_CONFIG_COUNT").is_some()
    {
        return Err(CommandRefusal::Form("ag reads ignore files of the user"));
    }
    let settings = [
        home.as_ref().map(|home| home.join(".gitconfig")),
        home.as_ref().map(|home| home.join(".config/git/config")),
        configuration.as_ref().map(|folder| folder.join("git/config")),
        Some(PathBuf::from("/etc/gitconfig")),
        work_tree(directory).map(|root| root.join(".git/config")),
    ];
    let may_name_file = |file: PathBuf| match read_settings(&file) {
        Some(text) => {
            let text = text.to_ascii_lowercase();
            text.contains("excludesfile") || text.contains("[include")
        }
        None => file.symlink_metadata().is_ok(),
    };
    // The settings of a linked work tree lie elsewhere.
    let is_linked = work_tree(directory).is_some_and(|root| root.join(".git").is_file());
    if is_linked || settings.into_iter().flatten().any(may_name_file) {
        return Err(CommandRefusal::Form("ag reads ignore files of the user"));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "git's configuration is no project file")]
fn read_settings(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok()
}

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &LineSearchRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let mut request = Cow::Borrowed(request);
    let has_no_path = request.program == SearchProgram::Ripgrep && request.operands.is_empty();
    if has_no_path && has_readable_input() {
        request.to_mut().operands = vec![STANDARD_INPUT.to_owned()];
    }
    if request.program == SearchProgram::Silver && request.operands.is_empty() && has_piped_input() {
        let input = request.to_mut();
        input.operands = vec![STANDARD_INPUT.to_owned()];
        input.line_numbers = false;
        input.file_names = Some(false);
    }
    let request = request.as_ref();
    let project = &context.project;
    let search = match LineSearch::new(request, context.characters, &project.shown) {
        Ok(search) => search,
        Err(error) => return Ok(refuse(&error)),
    };
    let found = match search.run(&context.directory) {
        Ok(found) => found,
        Err(error) => return Ok(refuse(&error)),
    };
    let quiet = request.output == SearchOutput::Nothing;
    let status = match (found.is_success, found.has_error) {
        (true, true) if quiet => 0,
        (_, true) => 2,
        (true, false) => 0,
        (false, false) => 1,
    };
    render_found(&found, status, &search, context)
}

/// Writes what was found. `status` is that of the program.
fn render_found(
    found: &SearchedFiles,
    status: u8,
    search: &LineSearch<'_>,
    context: &ShellContext,
) -> anyhow::Result<ShellAnswer> {
    let request = search.request();
    let errors: &[String] = if context.options.with_errors {
        &found.errors
    } else {
        &[]
    };
    let output = PlainOutput::print(request, found, errors, &context.directory);
    let filtered = output.select(&context.options.filters, context.characters)?;
    let selected = filtered.kept;
    let mut answer = ShellAnswer {
        status: context.status(status, filtered.is_success),
        plain_chars: output.count_chars(&selected),
        ..ShellAnswer::default()
    };
    for error in found.errors.iter().filter(|_| !context.options.with_errors) {
        answer.err.extend_from_slice(error.as_bytes());
        answer.err.push(b'\n');
    }
    answer.err.extend_from_slice(&filtered.errors);
    if let Some(count) = filtered.count {
        answer.out = format!("{count}\n").into_bytes();
        answer.plain_chars = answer.out.len() as u64;
        return Ok(answer);
    }
    answer.out = if context.options.is_plain {
        output.join(&render::without_hidden(&output, &selected))
    } else if request.output == SearchOutput::Lines {
        let mut text = render::render(&output, &selected, search, context);
        if selected.is_empty() && context.options.filters.is_empty() && !found.has_error {
            text.extend(nearby::explain(request, context).into_bytes());
        }
        text
    } else {
        render::render_exact(&output, &selected)
    };
    Ok(answer)
}

/// The answer if the search cannot be made here.
fn refuse(error: &SearchError) -> ShellAnswer {
    ShellAnswer {
        err: format!("docent sh: {error}. Run the program itself\n").into_bytes(),
        status: 2,
        ..ShellAnswer::default()
    }
}
