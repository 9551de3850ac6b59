//! `docent sh git grep …`: git searches, and what it prints is rendered like any search.
//!
//! Left out: configurations that print columns or colours, and searches in submodules.
//!
//! Invariant: git runs once for the search, with the caller's flags and configuration, and starts no program.

use std::path::Path;

use docent_core::shell::CommandRefusal;
use docent_core::shell::search::GitGrepRequest;
use docent_engine::commands::git_grep::{MARKED_SEPARATORS, read_git_lines};
use docent_engine::commands::search::LineSearch;
use docent_engine::git::{GitError, OutputTrait, UserGit, find_top};

use super::render_found;
use crate::shell::git::open_user_git;
use crate::shell::{ShellAnswer, ShellContext};

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &GitGrepRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let mut git = open_user_git(&context.directory, &request.directories)?;
    if let Err(refusal) = check(request, &context.directory, &git) {
        return Ok(refuse(&refusal.to_string()));
    }
    let mut request = request.clone();
    request.search.line_numbers = request
        .line_numbers
        .unwrap_or(git.settings.has(OutputTrait::NumberedMatches));
    git.override_settings(&MARKED_SEPARATORS);
    let text = match git.run("grep", &request.arguments(), &|_| false) {
        Ok(text) => text,
        Err(GitError::Refused(reason)) => return Ok(refuse(reason)),
        Err(error) => return Err(error.into()),
    };
    if text.dropped_chars > 0 {
        return Ok(refuse("git printed too much"));
    }
    let top = find_top(&git.start());
    let start = git.start().canonicalize().ok();
    let has_full_names = request
        .full_names
        .unwrap_or(git.settings.has(OutputTrait::FullNames));
    let base = if has_full_names { top } else { start };
    let Ok(found) = read_git_lines(&text, &request, &base.unwrap_or_default(), &context.project.shown) else {
        return Ok(refuse("git printed lines of an unknown form"));
    };
    if request.reads_records() {
        // Definitions of today say nothing about it.
        request.search.patterns.clear();
    }
    let search = match LineSearch::new(&request.search, context.characters, &context.project.shown) {
        Ok(search) => search,
        Err(error) => return Ok(super::refuse(&error)),
    };
    render_found(&found, text.status, &search, context)
}

/// Refuses a request in `directory` for which git prints lines of another form, or of another project.
pub(crate) fn check(request: &GitGrepRequest, directory: &Path, git: &UserGit) -> Result<(), CommandRefusal> {
    let refuse = |reason| Err(CommandRefusal::Form(reason));
    let start = git.start();
    if find_top(&start) != find_top(directory) {
        return refuse("-C leads out of the project");
    }
    // git takes such a word for a revision if there is one.
    let separated = request.paths.first().is_some_and(|first| first == "--");
    let is_path = |path: &String| path.contains(['*', '?', '[']) || start.join(path).exists();
    if !separated && !request.paths.iter().all(is_path) {
        return refuse("a revision without `--` behind it may be searched");
    }
    let has = |of_output| git.settings.has(of_output);
    if has(OutputTrait::MatchColumns) || has(OutputTrait::RecursesSubmodules) {
        return refuse("a setting of git changes what it prints");
    }
    if !request.is_plain && (has(OutputTrait::Coloured) || has(OutputTrait::ColouredMatches)) {
        return refuse("git prints colours");
    }
    Ok(())
}

fn refuse(reason: &str) -> ShellAnswer {
    ShellAnswer {
        err: format!("docent sh: {reason}. Run the program itself\n").into_bytes(),
        status: 2,
        ..ShellAnswer::default()
    }
}
