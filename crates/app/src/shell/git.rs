//! `docent sh`: answers to questions to git.
//!
//! git itself is run with the arguments of the caller, and what it prints is printed again: exactly if it is
//! made for programs or fits into the budget, otherwise shortened with everything counted that is left out.
//!
//! Invariant: lines of files that the access rules block are counted and never printed.

mod commits;
mod digest;
mod hunks;
mod lines;
mod mask;
mod noise;
mod reshow;

use std::path::Path;

use docent_core::shell::OutputFilter;
use docent_core::shell::git::patch::{PatchNames, PatchPart, parse_patches};
use docent_core::shell::git::{GitCommand, GitInvocation, GitOutput, is_blocked};
use docent_engine::git::{GitEnvironment, GitError, GitText, OutputTrait, SettingUse, UserGit, find_top};

use super::filters::filter_lines;
use super::{ShellAnswer, ShellContext};
use reshow::Reshow;

/// Variables that change what git reads or runs in ways that are not looked through here.
const VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_CONFIG",
];

/// An answer with this many characters is never shortened.
pub(super) const MIN_SHORTENED_CHARS: usize = 300;

/// Percent of a longer patch that are shown, beside the characters of one that is printed exactly.
const PATCH_PERCENT: usize = 30;

/// Runs the request and writes its answer.
pub(crate) fn answer(request: &GitInvocation, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let refusal = match try_answer(request, context) {
        Ok(answer) => return Ok(answer),
        Err(GitError::Refused(reason)) => reason,
        Err(error) => return Err(error.into()),
    };
    let shown = Reshow::new(request, context).whole();
    Ok(ShellAnswer {
        err: format!("docent sh: {refusal}. Run: {shown}\n").into_bytes(),
        status: 2,
        ..ShellAnswer::default()
    })
}

fn try_answer(request: &GitInvocation, context: &ShellContext) -> Result<ShellAnswer, GitError> {
    let mut git = open_user_git(&context.directory, &request.directories)?;
    check(request, &git)?;
    if request.reads_work_tree() {
        git.add_submodules()?;
    }
    let is_coloured = git.settings.has(OutputTrait::Coloured) && !request.has_flag("--no-color");
    let has_patches = matches!(request.output, GitOutput::Patches | GitOutput::ExactPatches);
    if has_own_patches(request, &git) {
        return Err(GitError::Refused(
            "its patches have colours or prefixes of their own",
        ));
    }
    let mut arguments = request.arguments.clone();
    if request.command != GitCommand::Status {
        arguments.insert(0, "--no-textconv".to_owned());
    }
    if !matches!(request.command, GitCommand::Status | GitCommand::Blame) {
        arguments.insert(0, "--no-ext-diff".to_owned());
    }
    let max_lines = max_lines(&context.options.filters);
    let text = git.run(request.command.name(), &arguments, &|text| {
        max_lines.is_some_and(|lines| memchr::memchr_iter(b'\n', text).take(lines).count() == lines)
    })?;
    let names = if git.settings.has(OutputTrait::NoPrefix) || request.has_flag("--no-prefix") {
        PatchNames::Bare
    } else {
        PatchNames::Prefixed
    };
    let parts = if has_patches {
        parse_patches(&text.out, names).map_err(|_| GitError::Refused("a patch has an unknown form"))?
    } else {
        Vec::new()
    };
    let reshow = Reshow::new(request, context).from(&git);
    let has_own_form = git.settings.has(OutputTrait::CommitFormat) && request.command.prints_commits();
    let output = match request.output {
        GitOutput::Commits if is_coloured || has_own_form => GitOutput::Lines,
        // Text at the start of a line could be taken for that of a patch.
        GitOutput::Patches if has_own_form => GitOutput::ExactPatches,
        output => output,
    };
    render(output, &text, &parts, (&reshow, context))
}

/// Whether git as the user has it answers the request as docent would.
pub(crate) fn can_answer(request: &GitInvocation, git: &UserGit) -> bool {
    check(request, git).is_ok() && !has_own_patches(request, git)
}

/// Whether the user's patches have colours or prefixes of their own.
fn has_own_patches(request: &GitInvocation, git: &UserGit) -> bool {
    let has_patches = matches!(request.output, GitOutput::Patches | GitOutput::ExactPatches);
    let is_coloured = git.settings.has(OutputTrait::Coloured) && !request.has_flag("--no-color");
    has_patches && (is_coloured || git.settings.has(OutputTrait::OddPrefix))
}

/// Opens git as the user has it, with the directories of `-C`. Refused if a variable changes what it reads.
pub(super) fn open_user_git(directory: &Path, directories: &[String]) -> Result<UserGit, GitError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "git is run in the environment of the user"
    )]
    let variable = |name: &str| std::env::var_os(name);
    if VARIABLES.iter().any(|name| variable(name).is_some()) {
        return Err(GitError::Refused(
            "a variable of the environment changes what git reads",
        ));
    }
    let environment = GitEnvironment {
        search: variable("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default(),
        ..GitEnvironment::default()
    };
    UserGit::open(&environment, directory, directories)
}

/// Refuses a request that would make git run another program, or print something else.
fn check(request: &GitInvocation, git: &UserGit) -> Result<(), GitError> {
    // Names that git prints or takes from there say nothing about the directories above.
    let start = git.start().canonicalize().unwrap_or_default();
    let below = find_top(&start).and_then(|top| start.strip_prefix(top).ok().map(Path::to_owned));
    if request.reads_contents() && below.is_some_and(|below| is_blocked(&below.to_string_lossy())) {
        return Err(GitError::Refused(
            "docent does not show what is in this directory",
        ));
    }
    let use_of = match request.command {
        GitCommand::Status => SettingUse::Status,
        command if command.prints_commits() => SettingUse::Commits,
        _ => SettingUse::Other,
    };
    git.check_programs(request.reads_contents(), use_of)
}

/// The lines that the first filter lets through, if it needs no more.
fn max_lines(filters: &[OutputFilter]) -> Option<usize> {
    match filters.first()? {
        OutputFilter::Head(lines) => Some(*lines),
        OutputFilter::Range { last, .. } => Some(*last),
        _ => None,
    }
}

fn render(
    output: GitOutput,
    text: &GitText,
    parts: &[PatchPart],
    (reshow, context): (&Reshow<'_>, &ShellContext),
) -> Result<ShellAnswer, GitError> {
    let blocked = mask::blocked_ranges(parts, &context.project);
    let filters = context.options.filters.as_slice();
    // git prints its messages before it prints anything else.
    let filters_errors = context.options.with_errors && !filters.is_empty();
    let mut all: Vec<&[u8]> = split_lines(if filters_errors { &text.err } else { b"" });
    all.extend(split_lines(&text.out));
    let numbered = all.iter().map(|line| (*line, *line)).collect();
    let filtered = filter_lines(numbered, filters, context.characters)
        .map_err(|_| GitError::Refused("a filter behind it is not answered"))?;
    let selected = filtered.kept;
    let ends_line = text.out.is_empty() || text.out.ends_with(b"\n");
    let is_whole = !text.is_stopped
        && (!filters_errors || text.err.is_empty())
        && (ends_line || filters.is_empty())
        && selected.len() == all.len()
        && selected
            .iter()
            .zip(&all)
            .all(|(one, other)| std::ptr::eq(*one, *other));
    let mut plain = 0;
    for line in &selected {
        plain += count_chars(line) + 1;
    }
    if is_whole {
        plain = count_chars(&text.out);
    }
    let mut answer = ShellAnswer {
        err: if filters_errors {
            Vec::new()
        } else {
            text.err.clone()
        },
        status: context.status(text.status, filtered.is_success),
        plain_chars: plain as u64 + text.dropped_chars,
        ..ShellAnswer::default()
    };
    answer.err.extend_from_slice(&filtered.errors);
    if let Some(count) = filtered.count {
        let is_uncounted = !ends_line && counts_line_ends(filters) && is_last(&selected, &all);
        let count = count as u64 + text.dropped_lines - u64::from(is_uncounted);
        answer.out = format!("{count}\n").into_bytes();
        answer.plain_chars = answer.out.len() as u64;
        return Ok(answer);
    }
    if !is_whole {
        answer.out = mask::join_lines(&text.out, &selected, &blocked);
        end_last_line(&mut answer.out, filters);
        return Ok(answer);
    }
    let shortened = shorten(output, text, plain, (parts, reshow, context));
    answer.out = match shortened.map(String::into_bytes) {
        Some(short) if count_chars(&short) < plain => short,
        _ => mask::mask_whole(&text.out, &blocked),
    };
    Ok(answer)
}

/// Whether `wc -l` counts the line ends of git itself: no filter before it has written lines of its own.
fn counts_line_ends(filters: &[OutputFilter]) -> bool {
    let Some((OutputFilter::Count, before)) = filters.split_last() else {
        return false;
    };
    let keeps_ends = |filter: &OutputFilter| {
        matches!(
            filter,
            OutputFilter::Head(_)
                | OutputFilter::Tail(_)
                | OutputFilter::Range { .. }
                | OutputFilter::From(_)
                | OutputFilter::All
        )
    };
    before.iter().all(keeps_ends)
}

/// Whether the last selected line is the last line of all.
fn is_last(selected: &[&[u8]], all: &[&[u8]]) -> bool {
    let last = selected.last().zip(all.last());
    last.is_some_and(|(one, other)| std::ptr::eq(*one, *other))
}

/// Ends the last line if a filter does so, even if its input did not.
fn end_last_line(out: &mut Vec<u8>, filters: &[OutputFilter]) {
    let ends_lines = |filter: &OutputFilter| {
        matches!(
            filter,
            OutputFilter::Sort | OutputFilter::SortUnique | OutputFilter::Unique | OutputFilter::Without(_)
        )
    };
    if filters.iter().any(ends_lines) && !out.is_empty() && !out.ends_with(b"\n") {
        out.push(b'\n');
    }
}

/// A shorter form of what git printed in `plain` characters. `None` if it is printed as it is.
fn shorten(
    output: GitOutput,
    text: &GitText,
    plain: usize,
    (parts, reshow, context): (&[PatchPart], &Reshow<'_>, &ShellContext),
) -> Option<String> {
    let budget = context.budget;
    let is_exact = matches!(output, GitOutput::Exact | GitOutput::ExactPatches);
    if is_exact || context.options.is_plain || plain < MIN_SHORTENED_CHARS || text.status > 1 {
        return None;
    }
    let fits = |chars: usize| plain <= chars && text.dropped_lines == 0;
    let exact = context.project.shell_settings().exact_patch_chars.min(budget);
    match output {
        GitOutput::Commits => commits::shorten(&text.out, reshow, budget)
            .or_else(|| (!fits(budget)).then(|| lines::shorten(text, reshow, budget))),
        GitOutput::Patches if !fits(exact) => {
            let room = exact + plain.saturating_sub(exact) * PATCH_PERCENT / 100;
            let room = room.min(budget);
            Some(digest::shorten(text, parts, reshow, (context, room)))
        }
        GitOutput::Stat if !fits(exact) => Some(lines::shorten_stat(text, reshow, budget)),
        GitOutput::Lines if !fits(budget) => Some(lines::shorten(text, reshow, budget)),
        _ => None,
    }
}

/// The lines of a text without their ends, as filters read them.
fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines
}

/// Characters of a text that may not be UTF-8 everywhere.
pub(super) fn count_chars(text: &[u8]) -> usize {
    text.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}
