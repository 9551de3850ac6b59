//! `docent rewrite`: a command line with the commands replaced that docent answers.
//!
//! The line itself is read by `core::shell::line`. Here it is checked against the machine: every path lies in
//! the project and is one that docent shows, and nothing in the environment changes what a command means.
//!
//! Invariant: any doubt leaves a command as it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::path::{Component, Path, PathBuf};

use docent_core::access::Access;
use docent_core::path::RepoPath;
use docent_core::shell::line::{AnswerableCommand, CommandLine};
use docent_core::shell::{CommandRefusal, OutputFilter, Request, Word, quote_word};
use docent_engine::commands::{GLOB_CHARS, expand_glob};
use docent_engine::git::UserGit;
use docent_engine::walk::work_tree;

use super::project::read_access;
use super::{find, git, search};
use crate::settings::{Environment, home_directory};

/// A rewritten command line.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    /// The new line. `None` if nothing is replaced.
    pub(crate) line: Option<String>,
    /// Every command of the line is one of `docent sh` or a `cd`, so that the whole line only reads.
    pub(crate) only_reads: bool,
    /// The searches and lists that were left alone: the program and the reason.
    pub(crate) left_alone: Vec<(String, String)>,
}

/// Rewrites a line that a shell would run in `directory`, which finds docent by the word `program`.
pub(crate) fn rewrite_line(
    line: &str,
    directory: &Path,
    program: &str,
    environment: Environment<'_>,
) -> Rewrite {
    let is_set = |name: &str| environment(name).is_some_and(|value| !value.is_empty());
    if is_set("DOCENT_RAW") || is_set("POSIXLY_CORRECT") {
        return Rewrite::default();
    }
    let Some(read) = CommandLine::read(line) else {
        return Rewrite::default();
    };
    let checks = EnvironmentChecks {
        directory,
        environment,
        access: RefCell::default(),
        gits: RefCell::default(),
    };
    let mut left_alone: Vec<(String, String)> = read
        .left_alone
        .iter()
        .map(|(program, refusal)| (program.clone(), refusal.to_string()))
        .collect();
    let mut accepted: Vec<*const AnswerableCommand> = Vec::new();
    for command in &read.commands {
        match checks.check(command) {
            Ok(()) => accepted.push(std::ptr::from_ref(command)),
            Err(refusal) => left_alone.push((command.program.clone(), refusal.to_string())),
        }
    }
    let is_accepted = |command: &AnswerableCommand| accepted.contains(&std::ptr::from_ref(command));
    let rewritten = read.rewrite(line, program, is_accepted);
    Rewrite {
        only_reads: rewritten.is_some() && read.is_only_answerable && accepted.len() == read.commands.len(),
        line: rewritten,
        left_alone,
    }
}

/// docent's name, if a shell in `directory` finds a docent by it in `PATH`.
///
/// Relative entries of `PATH` follow `cd`, and a project may bring a program of that name, so that both make
/// the name unsafe.
pub(crate) fn program_name(directory: &Path, environment: Environment<'_>) -> Option<&'static str> {
    const NAME: &str = "docent";
    let project = work_tree(directory).unwrap_or(directory).canonicalize().ok()?;
    let path = environment("PATH")?;
    for entry in env::split_paths(&path) {
        if !entry.is_absolute() {
            return None;
        }
        if entry.join(NAME).is_file() {
            let is_inside = entry.canonicalize().is_ok_and(|real| real.starts_with(&project));
            return (!is_inside).then_some(NAME);
        }
    }
    None
}

/// The path of this docent as a word of a shell, for shells whose `PATH` is not known.
pub(crate) fn program_path() -> Option<String> {
    let path = env::current_exe().ok()?.into_os_string().into_string().ok()?;
    quote_word(&path)
}

/// A directory, and the directories of `-C`.
type GitPlace = (PathBuf, Vec<String>);

/// What a command is checked against.
struct EnvironmentChecks<'a> {
    directory: &'a Path,
    environment: Environment<'a>,
    /// The access rules of projects by their roots. `None` if the settings cannot be read.
    access: RefCell<BTreeMap<PathBuf, Option<Access>>>,
    /// git as the user has it, by directory and the directories of `-C`.
    gits: RefCell<BTreeMap<GitPlace, Option<UserGit>>>,
}

impl EnvironmentChecks<'_> {
    fn check(&self, command: &AnswerableCommand) -> Result<(), CommandRefusal> {
        let refuse = |reason| Err(CommandRefusal::Form(reason));
        if command.program == "rg" && (self.environment)("RIPGREP_CONFIG_PATH").is_some() {
            return refuse("ripgrep has a configuration file");
        }
        if command.filters.iter().any(OutputFilter::needs_byte_order) && !self.sorts_by_bytes() {
            return refuse("the locale has an order of its own");
        }
        let mut directory = self.directory.to_owned();
        for step in &command.directories {
            if (self.environment)("CDPATH").is_some() && !step.text.starts_with(['/', '.', '~']) {
                return refuse("CDPATH may lead elsewhere");
            }
            directory = self
                .resolve(&directory, step)
                .ok_or(CommandRefusal::Form("the directory is not known"))?;
            if !directory.is_dir() {
                return refuse("there is no such directory");
            }
        }
        let Ok(directory) = directory.canonicalize() else {
            return refuse("there is no such directory");
        };
        let Some(root) = work_tree(&directory).and_then(|root| root.canonicalize().ok()) else {
            return refuse("the directory is in no project");
        };
        let Some(access) = self.access_of(&root) else {
            return refuse("the settings of the project cannot be read");
        };
        if let Request::Git(request) = &command.request
            && !self
                .git_in(&directory, &request.directories)
                .is_some_and(|git| git::can_answer(request, &git))
        {
            return refuse("the configuration of git is not answered");
        }
        if let Request::Search(request) = &command.request {
            search::check_environment(request, &directory, self.environment)?;
        }
        for filter in &command.filters {
            if let OutputFilter::Without(request) | OutputFilter::CountMatching(request) = filter {
                search::check_environment(request, &directory, self.environment)?;
            }
        }
        if let Request::GitGrep(request) = &command.request {
            let git = self
                .git_in(&directory, &request.directories)
                .ok_or(CommandRefusal::Form("the configuration of git is not answered"))?;
            search::git_grep::check(request, &directory, &git)?;
        }
        if let Request::Find(request) = &command.request {
            find::check_environment(request)?;
        }
        for operand in command.request.operands() {
            self.check_operand(&directory, operand, &root, &access)?;
        }
        Ok(())
    }

    fn access_of(&self, root: &Path) -> Option<Access> {
        let mut known = self.access.borrow_mut();
        let read = || read_access(root, self.environment).ok();
        known.entry(root.to_owned()).or_insert_with(read).clone()
    }

    fn git_in(&self, directory: &Path, directories: &[String]) -> Option<UserGit> {
        let mut known = self.gits.borrow_mut();
        let open = || git::open_user_git(directory, directories).ok();
        let place = (directory.to_owned(), directories.to_vec());
        known.entry(place).or_insert_with(open).clone()
    }

    /// A path has to lie in the project, links followed, and to be one that docent shows.
    fn check_operand(
        &self,
        directory: &Path,
        operand: &str,
        root: &Path,
        access: &Access,
    ) -> Result<(), CommandRefusal> {
        let fixed = fixed_part(operand);
        let path = self
            .resolve(directory, &Word::literal(fixed))
            .ok_or(CommandRefusal::Form("a path is not known"))?;
        check_path(&path, root, access)?;
        if operand.contains(GLOB_CHARS) {
            let named = self
                .resolve(directory, &Word::literal(operand))
                .and_then(|glob| expand_glob(directory, glob.to_str()?))
                .ok_or(CommandRefusal::Form("a glob names too many paths"))?;
            for path in named {
                check_canonical(&path, root, access)?;
            }
        }
        Ok(())
    }

    /// A word as a path, from a directory.
    fn resolve(&self, directory: &Path, word: &Word) -> Option<PathBuf> {
        let text = word.text.as_str();
        if let Some(rest) = text.strip_prefix('~') {
            let below = rest.strip_prefix('/').or_else(|| rest.is_empty().then_some(""))?;
            return Some(home_directory(self.environment)?.join(below));
        }
        Some(directory.join(text))
    }

    /// Whether `sort` orders lines by their bytes.
    fn sorts_by_bytes(&self) -> bool {
        let names = ["LC_ALL", "LC_COLLATE", "LANG"];
        let name = names
            .iter()
            .filter_map(|name| (self.environment)(name))
            .find(|value| !value.is_empty());
        name.is_none_or(|name| {
            ["C", "POSIX", "C.UTF-8", "C.utf8"]
                .iter()
                .any(|plain| name == *plain)
        })
    }
}

/// A path has to lie in the project, links followed, and to be one that docent shows.
fn check_path(path: &Path, root: &Path, access: &Access) -> Result<(), CommandRefusal> {
    match existing_part(path).canonicalize() {
        Ok(canonical) => check_canonical(&canonical, root, access),
        Err(_) => Err(CommandRefusal::Form("a path is not known")),
    }
}

fn check_canonical(path: &Path, root: &Path, access: &Access) -> Result<(), CommandRefusal> {
    let Ok(inside) = path.strip_prefix(root) else {
        return Err(CommandRefusal::Form("a path is outside of the project"));
    };
    let named = inside.to_str().map(RepoPath::parse);
    match named {
        Some(Ok(named)) if access.allows(&named) => Ok(()),
        // The root itself is no path inside.
        _ if inside.as_os_str().is_empty() => Ok(()),
        _ => Err(CommandRefusal::Form("docent does not show a file that is named")),
    }
}

/// The part of an operand before its first glob, up to a directory.
fn fixed_part(operand: &str) -> &str {
    let Some(glob) = operand.find(GLOB_CHARS) else {
        return operand;
    };
    match operand[..glob].rfind('/') {
        Some(0) => "/",
        Some(slash) => &operand[..slash],
        None => ".",
    }
}

/// The longest beginning of a path that exists, if what follows does not lead back up.
fn existing_part(path: &Path) -> PathBuf {
    let mut part = path.to_owned();
    let leads_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    while !part.exists() && !leads_up(&part) {
        if !part.pop() {
            break;
        }
    }
    part
}
