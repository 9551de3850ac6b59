//! `docent sh`: answers to lists of files.
//!
//! Invariant: the lines of the program are made first and its filters applied to them; only then are they
//! grouped.

#[cfg(unix)]
mod groups;
mod locale;
#[cfg(unix)]
mod selection;
#[cfg(unix)]
mod tail;

#[cfg(not(unix))]
use anyhow::bail;
use docent_core::shell::CommandRefusal;
use docent_core::shell::find::FindRequest;
#[cfg(unix)]
use docent_engine::listing::{
    ListedEntry, Listing, ListingContext, ListingError, NearPath, NearReason, run_fd, run_find, run_ls,
    run_rg_files, run_tree,
};

#[cfg(unix)]
use groups::ShownPath;

#[cfg(unix)]
use super::filters::filter_lines;
use super::{ShellAnswer, ShellContext};

/// Answers up to this length are printed as the program prints them.
#[cfg(unix)]
const MAX_PLAIN_CHARS: usize = 300;

/// Characters of the line that says what comes near.
#[cfg(unix)]
const MAX_NEAR_CHARS: usize = 300;

/// Whether the environment of this process leaves the answer to the program: an order by the rules of a
/// language, or settings of ripgrep in a file.
pub(crate) fn check_environment(request: &FindRequest) -> Result<(), CommandRefusal> {
    if request.needs_byte_order() && !locale::orders_by_bytes() {
        return Err(CommandRefusal::Form(
            "names are ordered by the rules of a language",
        ));
    }
    if matches!(request, FindRequest::RgFiles(_)) && locale::variable("RIPGREP_CONFIG_PATH").is_some() {
        return Err(CommandRefusal::Form("ripgrep has a configuration file"));
    }
    Ok(())
}

/// Runs the request and writes its answer.
#[cfg(unix)]
pub(crate) fn answer(request: &FindRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    if let Err(refusal) = check_environment(request) {
        return Ok(refuse(&refusal.to_string()));
    }
    match list(request, context) {
        Ok(listing) => render(&listing, request, context),
        Err(error) => Ok(refuse(&error.to_string())),
    }
}

#[cfg(not(unix))]
pub(crate) fn answer(request: &FindRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let _ = (request, context);
    bail!("lists of files are answered on Unix only")
}

fn refuse(reason: &str) -> ShellAnswer {
    ShellAnswer {
        err: format!("docent sh: {reason}. Run the program itself\n").into_bytes(),
        status: 2,
        ..ShellAnswer::default()
    }
}

#[cfg(unix)]
fn list(request: &FindRequest, context: &ShellContext) -> Result<Listing, ListingError> {
    let listing_context = ListingContext {
        directory: context.directory.clone(),
        charset: locale::charset(),
        now: docent_engine::clock::Clock::System.now(),
        config_directory: locale::config_directory(),
    };
    match request {
        FindRequest::Find(command) => run_find(command, &listing_context),
        FindRequest::Fd(command) => run_fd(command, &listing_context),
        FindRequest::RgFiles(command) => run_rg_files(command, &listing_context),
        FindRequest::Tree(command) => Ok(run_tree(command, &listing_context)),
        FindRequest::Ls(command) => Ok(run_ls(command)),
    }
}

#[cfg(unix)]
fn render(listing: &Listing, request: &FindRequest, context: &ShellContext) -> anyhow::Result<ShellAnswer> {
    let mut answer = ShellAnswer {
        err: listing.err.clone(),
        status: listing.status,
        ..ShellAnswer::default()
    };
    if context.options.with_errors && !listing.err.is_empty() && !context.options.filters.is_empty() {
        return Ok(refuse("messages among the lines of a list are not answered"));
    }
    let lines = split_lines(&listing.out);
    let numbered = lines.iter().map(|line| (*line, *line)).collect();
    let filtered = filter_lines(numbered, &context.options.filters, context.characters)?;
    answer.err.extend_from_slice(&filtered.errors);
    answer.status = context.status(listing.status, filtered.is_success);
    if let Some(count) = filtered.count {
        answer.out = format!("{count}\n").into_bytes();
        answer.plain_chars = answer.out.len() as u64;
        return Ok(answer);
    }
    let kept = filtered.kept;
    let mut plain = kept.join(&b'\n');
    // The last line of a format may have no line end.
    if !kept.is_empty() && listing.out.ends_with(b"\n") {
        plain.push(b'\n');
    }
    if !listing.out.is_empty() && !listing.out.ends_with(b"\n") && !context.options.filters.is_empty() {
        return Ok(refuse(
            "filters differ in what they make of a last line without an end",
        ));
    }
    let plain_chars = count_chars(&plain);
    answer.plain_chars = plain_chars as u64;
    if listing.out.is_empty() {
        answer.out = describe_near(&listing.near).into_bytes();
        return Ok(answer);
    }
    let is_formatted = matches!(request, FindRequest::Find(command) if command.has_format());
    if plain_chars <= MAX_PLAIN_CHARS || is_formatted || context.options.is_plain {
        answer.out = plain;
        return Ok(answer);
    }
    let paths: Vec<ShownPath<'_>> = match &listing.entries {
        Some(entries) => entries_behind(&kept, &lines, entries),
        None => kept
            .iter()
            .map(|path| ShownPath {
                path,
                link_target: None,
            })
            .collect(),
    };
    let shortened = groups::write_groups(&paths, listing.entries.is_some(), context.budget);
    answer.out = if shortened.chars().count() < plain_chars {
        shortened.into_bytes()
    } else {
        plain
    };
    Ok(answer)
}

fn split_lines(out: &[u8]) -> Vec<&[u8]> {
    let text = out.strip_suffix(b"\n").unwrap_or(out);
    if out.is_empty() {
        Vec::new()
    } else {
        text.split(|byte| *byte == b'\n').collect()
    }
}

fn count_chars(text: &[u8]) -> usize {
    String::from_utf8_lossy(text).chars().count()
}

/// The entries of the lines that passed the filters. A line is known by its place in the output, because
/// `tree` has the same line for files of the same name.
#[cfg(unix)]
fn entries_behind<'a>(kept: &[&[u8]], lines: &[&[u8]], entries: &'a [ListedEntry]) -> Vec<ShownPath<'a>> {
    let place = |line: &&[u8]| line.as_ptr() as usize;
    kept.iter()
        .filter_map(|line| entries.get(lines.partition_point(|other| place(other) < place(line))))
        .filter(|entry| !entry.path.is_empty())
        .map(|entry| ShownPath {
            path: &entry.path,
            link_target: entry.link_target.as_deref(),
        })
        .collect()
}

/// One line on what comes near to a list that is empty.
#[cfg(unix)]
fn describe_near(near: &[NearPath]) -> String {
    let Some(first) = near.first() else {
        return String::new();
    };
    let reason = match first.reason {
        NearReason::OtherCase => "in another case",
        NearReason::Misspelt => "similar",
        NearReason::LeftOut => "hidden or ignored",
    };
    let alike = near.iter().take_while(|path| path.reason == first.reason);
    let paths: Vec<String> = alike.map(|path| selection::quote(&path.path)).collect();
    let line = format!("nothing found; {reason}: {}\n", paths.join(" "));
    if line.chars().count() <= MAX_NEAR_CHARS {
        line
    } else {
        String::new()
    }
}
