//! git as the user runs it in a shell: with the user's configuration and environment, but no other program.
//!
//! [`super::command::Runner`] answers from the repository alone. Here the bytes have to be those of a plain
//! `git`, so settings that only change the output stay, and a configuration under which git would start a
//! program that changes the output is refused.
//!
//! Filters are switched off as required ones: git fails where it would need one, and never reads a file
//! without it. Objects that are missing are not fetched.
//!
//! Invariant: git is run at most twice, plus once for each submodule that it looks into.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::command::{KilledOnDrop, register, spawn};
use super::{GitEnvironment, GitError};

/// A command of git in a directory.
#[derive(Clone, Debug)]
pub struct UserGit {
    program: PathBuf,
    directory: PathBuf,
    /// Values of `-C`.
    directories: Vec<String>,
    pub settings: UserSettings,
    /// Settings of the caller, as `NAME=VALUE`.
    overrides: Vec<&'static str>,
    /// Filters by name, of the repository and of its submodules.
    filters: BTreeSet<String>,
}

/// The settings that matter to a reader of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSettings {
    traits: BTreeSet<OutputTrait>,
    /// What else the output depends on, which only the user's own git can do.
    programs: Vec<ProgramSetting>,
}

/// What the settings change about the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputTrait {
    /// Names in patches have no prefix.
    NoPrefix,
    /// Prefixes of names in patches are not one component each.
    OddPrefix,
    /// Names in patches start at the working directory.
    Relative,
    /// Colours are printed to pipes too.
    Coloured,
    /// Commits are described in a form of the user's.
    CommitFormat,
    /// Objects may be missing until they are fetched.
    PartialClone,
    /// `git grep` prints colours to pipes too.
    ColouredMatches,
    /// `git grep` prints the numbers of lines.
    NumberedMatches,
    /// `git grep` prints names from the top of the work tree.
    FullNames,
    /// `git grep` prints columns.
    MatchColumns,
    /// Commands look into submodules.
    RecursesSubmodules,
}

/// A setting that makes git run a program whose output it prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProgramSetting {
    used_for: SettingUse,
    reason: &'static str,
}

/// What a setting is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingUse {
    Contents,
    Commits,
    Status,
    Other,
}

/// What a command of git printed.
#[derive(Clone, Debug, Default)]
pub struct GitText {
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub status: u8,
    /// The reader had enough before git was done.
    pub is_stopped: bool,
    /// Lines and characters behind `out` that were read and not kept.
    pub dropped_lines: u64,
    pub dropped_chars: u64,
}

/// Output that is kept. Of what comes behind it, lines and characters are counted.
const MAX_KEPT_BYTES: usize = 128 << 20;

/// Submodules that a command may look into.
const MAX_SUBMODULES: usize = 32;

/// Settings that start programs and do not change what is printed, with values that start none.
const QUIET_SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "log.showSignature=false",
    "gpg.program=/dev/null",
    "gpg.ssh.program=/dev/null",
    "gpg.x509.program=/dev/null",
    "protocol.allow=never",
];

const SIGNATURES: &str = "a program checks signatures";

/// What git says when a filter that is switched off was needed.
const FILTER_FAILED: &[u8] = b"filter '";

impl UserGit {
    /// git in `directory`, behind the directories of `-C`. Reads the configuration.
    pub fn open(
        environment: &GitEnvironment,
        directory: &Path,
        directories: &[String],
    ) -> Result<Self, GitError> {
        let mut start = directory.to_owned();
        start.extend(directories);
        // Neither the project around the directory nor that of `-C` may bring the git that is run.
        let tops = [directory, &start].map(|place| find_top(place).unwrap_or_else(|| place.to_owned()));
        let program = environment
            .find_program_outside("git", &tops)
            .ok_or(GitError::NotInstalled)?;
        let mut git = Self {
            program,
            directory: directory.to_owned(),
            directories: directories.to_vec(),
            settings: UserSettings::default(),
            overrides: Vec::new(),
            filters: BTreeSet::new(),
        };
        let list = git.list_settings(&[])?;
        git.settings = UserSettings::parse(&list);
        git.filters = find_filters(&list)?;
        if let Some(top) = find_top(&git.start()) {
            check_work_tree(&list, &top)?;
        }
        Ok(git)
    }

    /// The directory that git starts in.
    pub fn start(&self) -> PathBuf {
        let mut start = self.directory.clone();
        start.extend(&self.directories);
        start
    }

    /// Runs git with these settings too, as `NAME=VALUE`.
    pub fn override_settings(&mut self, settings: &[&'static str]) {
        self.overrides.extend_from_slice(settings);
    }

    /// Refuses settings under which git would run a program for a command that reads contents through
    /// drivers, or for one of these that describe commits or the state of submodules.
    pub fn check_programs(&self, reads_contents: bool, use_of: SettingUse) -> Result<(), GitError> {
        let is_used = |program: &&ProgramSetting| match program.used_for {
            SettingUse::Contents => reads_contents,
            used_for => used_for == use_of,
        };
        match self.settings.programs.iter().find(is_used) {
            Some(program) => Err(GitError::Refused(program.reason)),
            None => Ok(()),
        }
    }

    /// Switches off the filters of the submodules that git looks into when it reads the working tree.
    pub fn add_submodules(&mut self) -> Result<(), GitError> {
        let Some(top) = find_top(&self.start()) else {
            return Ok(());
        };
        let mut open = vec![top];
        let mut seen = 0;
        while let Some(directory) = open.pop() {
            if !may_have_gitlinks(&directory) {
                continue;
            }
            for gitlink in self.list_gitlinks(&directory)? {
                let inside = directory.join(gitlink);
                if inside.join(".git").symlink_metadata().is_err() {
                    continue;
                }
                seen += 1;
                if seen > MAX_SUBMODULES {
                    return Err(GitError::Refused("it has too many submodules"));
                }
                let list = self.list_settings(&["-C", &inside.to_string_lossy()])?;
                check_work_tree(&list, &inside)?;
                self.filters.extend(find_filters(&list)?);
                open.push(inside);
            }
        }
        Ok(())
    }

    /// Runs a command. `is_enough` says whether the first bytes suffice; git is stopped then.
    pub fn run(
        &self,
        command: &str,
        arguments: &[String],
        is_enough: &dyn Fn(&[u8]) -> bool,
    ) -> Result<GitText, GitError> {
        let mut git = self.command();
        git.arg(command).args(arguments);
        let text = run(&mut git, is_enough)?;
        if text.status == 128 {
            let says = |words: &[u8]| memchr::memmem::find(&text.err, words).is_some();
            if says(FILTER_FAILED) && !self.filters.is_empty() {
                return Err(GitError::Refused("a file has to go through a filter program"));
            }
            if self.settings.has(OutputTrait::PartialClone) {
                return Err(GitError::Refused("an object may have to be fetched"));
            }
        }
        Ok(text)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.directory)
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_PAGER", "cat")
            .env_remove("GIT_EXTERNAL_DIFF");
        command.args(["--no-optional-locks", "--no-pager"]);
        for directory in &self.directories {
            command.args(["-C", directory]);
        }
        for setting in QUIET_SETTINGS.iter().chain(&self.overrides) {
            command.args(["-c", setting]);
        }
        for name in &self.filters {
            for setting in ["clean=", "smudge=", "process=", "required=true"] {
                command.args(["-c", &format!("filter.{name}.{setting}")]);
            }
        }
        command
    }

    fn list_settings(&self, place: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut list = self.command();
        list.args(place).args(["config", "--list", "-z"]);
        // A configuration that cannot be read is an error of the command itself, which will say so.
        Ok(run(&mut list, &|_| false)?.out)
    }

    /// The paths of submodules in the index.
    fn list_gitlinks(&self, directory: &Path) -> Result<Vec<PathBuf>, GitError> {
        let mut list = self.command();
        list.arg("-C").arg(directory).args(["ls-files", "--stage", "-z"]);
        let text = run(&mut list, &|_| false)?;
        let paths = text.out.split(|byte| *byte == 0).filter_map(|entry| {
            let tab = memchr::memchr(b'\t', entry)?;
            let path = entry.starts_with(b"160000 ").then(|| &entry[tab + 1..])?;
            Some(PathBuf::from(String::from_utf8_lossy(path).into_owned()))
        });
        Ok(paths.collect())
    }
}

impl UserSettings {
    pub fn has(&self, of_output: OutputTrait) -> bool {
        self.traits.contains(&of_output)
    }

    /// Reads the output of `git config --list -z`.
    fn parse(list: &[u8]) -> Self {
        let mut settings = Self::default();
        for (key, value) in entries(list) {
            let is_on = !matches!(value.as_str(), "false" | "no" | "off" | "0" | "");
            match key.as_str() {
                "diff.noprefix" => settings.set(OutputTrait::NoPrefix, is_on),
                "diff.relative" => settings.set(OutputTrait::Relative, is_on),
                "diff.srcprefix" | "diff.dstprefix" if !is_plain_prefix(&value) => {
                    settings.set(OutputTrait::OddPrefix, true);
                }
                "color.ui" | "color.diff" | "color.status" | "color.branch" if value == "always" => {
                    settings.set(OutputTrait::Coloured, true);
                }
                "color.grep" => settings.set(OutputTrait::ColouredMatches, value == "always"),
                "grep.linenumber" => settings.set(OutputTrait::NumberedMatches, is_on),
                "grep.fullname" => settings.set(OutputTrait::FullNames, is_on),
                "grep.column" => settings.set(OutputTrait::MatchColumns, is_on),
                "submodule.recurse" => settings.set(OutputTrait::RecursesSubmodules, is_on),
                "diff.external" => {
                    settings.add(
                        SettingUse::Contents,
                        "diff.external is a program",
                        !value.is_empty(),
                    );
                }
                "diff.submodule" => {
                    settings.add(
                        SettingUse::Contents,
                        "diff.submodule shows patches",
                        value == "diff",
                    );
                }
                "log.showsignature" => settings.add(SettingUse::Commits, SIGNATURES, is_on),
                "status.submodulesummary" => {
                    settings.add(
                        SettingUse::Status,
                        "status.submoduleSummary runs a program",
                        is_on,
                    );
                }
                "extensions.partialclone" => settings.set(OutputTrait::PartialClone, true),
                "format.pretty" => {
                    settings.set(OutputTrait::CommitFormat, true);
                    settings.add(SettingUse::Commits, SIGNATURES, value.contains("%G"));
                }
                _ if key.starts_with("pretty.") => {
                    settings.add(SettingUse::Commits, SIGNATURES, value.contains("%G"));
                }
                _ if key.starts_with("remote.") && key.ends_with(".promisor") => {
                    settings.set(OutputTrait::PartialClone, true);
                }
                _ if key.starts_with("diff.")
                    && (key.ends_with(".textconv") || key.ends_with(".command")) =>
                {
                    settings.add(
                        SettingUse::Contents,
                        "a driver for differences is a program",
                        true,
                    );
                }
                _ => {}
            }
        }
        settings
    }

    fn set(&mut self, of_output: OutputTrait, is_on: bool) {
        if is_on {
            self.traits.insert(of_output);
        } else {
            self.traits.remove(&of_output);
        }
    }

    fn add(&mut self, used_for: SettingUse, reason: &'static str, is_on: bool) {
        if is_on {
            self.programs.push(ProgramSetting { used_for, reason });
        }
    }
}

fn is_plain_prefix(prefix: &str) -> bool {
    prefix.find('/') == prefix.len().checked_sub(1)
}

/// The keys and values of `git config --list -z`: `KEY\nVALUE\0`. A key without a value is on.
fn entries(list: &[u8]) -> impl Iterator<Item = (String, String)> {
    list.split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            (key.to_owned(), value.to_owned())
        })
}

fn find_filters(list: &[u8]) -> Result<BTreeSet<String>, GitError> {
    let mut filters = BTreeSet::new();
    for (key, _) in entries(list) {
        if let Some((name, _)) = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) {
            // `-c` would split such a name, or lose it.
            if name.contains(['=', '\n', char::REPLACEMENT_CHARACTER]) {
                return Err(GitError::Refused("a filter has an odd name"));
            }
            filters.insert(name.to_owned());
        }
    }
    Ok(filters)
}

/// Refuses a repository whose files lie elsewhere: its submodules could not be found.
fn check_work_tree(list: &[u8], top: &Path) -> Result<(), GitError> {
    let named = entries(list).filter(|(key, _)| key == "core.worktree").last();
    let is_here = |value: &str| {
        let target = git_directory(top)?.join(value).canonicalize().ok()?;
        Some(target == top.canonicalize().ok()?)
    };
    match named {
        Some((_, value)) if is_here(&value) != Some(true) => {
            Err(GitError::Refused("its core.worktree leads to another directory"))
        }
        _ => Ok(()),
    }
}

/// The git directory of a working tree.
fn git_directory(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let pointer = read_file(&dot_git)?;
    let target = str::from_utf8(&pointer).ok()?.strip_prefix("gitdir: ")?;
    Some(top.join(target.trim_end()))
}

/// Whether the index may have submodules. Their entries have a mode that is hardly ever seen elsewhere in it.
fn may_have_gitlinks(top: &Path) -> bool {
    const MODE: [u8; 4] = 0o160_000_u32.to_be_bytes();
    let Some(directory) = git_directory(top) else {
        return true;
    };
    let has_mode =
        |path: &Path| read_file(path).is_none_or(|index| memchr::memmem::find(&index, &MODE).is_some());
    let index = directory.join("index");
    if index.symlink_metadata().is_err() {
        return false;
    }
    // A part of a split index.
    let is_shared = |name: &str| name.starts_with("sharedindex.");
    #[expect(clippy::disallowed_methods, reason = "the git directory is no project file")]
    let mut files = fs::read_dir(&directory).into_iter().flatten().flatten();
    has_mode(&index)
        || files.any(|file| file.file_name().to_str().is_some_and(is_shared) && has_mode(&file.path()))
}

#[expect(clippy::disallowed_methods, reason = "the git directory is no project file")]
fn read_file(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

/// The top of the working tree around a directory.
pub fn find_top(directory: &Path) -> Option<PathBuf> {
    let directory = directory.canonicalize().ok()?;
    let top = directory
        .ancestors()
        .find(|above| above.join(".git").symlink_metadata().is_ok())?;
    Some(top.to_owned())
}

fn run(command: &mut Command, is_enough: &dyn Fn(&[u8]) -> bool) -> Result<GitText, GitError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child: Child = spawn(command)?;
    let mut stdout = BufReader::with_capacity(64 << 10, child.stdout.take().expect("it was piped"));
    let mut stderr = child.stderr.take().expect("it was piped");
    let child = Arc::new(Mutex::new(KilledOnDrop(child)));
    register(&child);
    thread::scope(|scope| {
        let err = scope.spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).map(|_| text)
        });
        let mut text = read_text(&mut stdout, is_enough)?;
        drop(stdout);
        let mut child = child.lock().expect("nothing panics while it holds the child");
        if text.is_stopped {
            child.kill();
        } else {
            let status = child.0.wait().map_err(GitError::Pipe)?;
            text.status = exit_code(status);
        }
        text.err = err.join().unwrap_or(Ok(Vec::new())).map_err(GitError::Pipe)?;
        Ok(text)
    })
}

/// Reads text until it ends or is enough. What is kept of a text that goes on ends with a line.
fn read_text(out: &mut dyn Read, is_enough: &dyn Fn(&[u8]) -> bool) -> Result<GitText, GitError> {
    let mut text = GitText::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = out.read(&mut buffer).map_err(GitError::Pipe)?;
        let bytes = &buffer[..read];
        if text.out.len() < MAX_KEPT_BYTES {
            text.out.extend_from_slice(bytes);
        } else {
            text.dropped_lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            text.dropped_chars += count_chars(bytes);
        }
        text.is_stopped = is_enough(&text.out);
        if read == 0 || text.is_stopped {
            break;
        }
    }
    if text.is_stopped || text.dropped_chars > 0 {
        let end = memchr::memrchr(b'\n', &text.out).map_or(0, |end| end + 1);
        let tail = text.out.split_off(end);
        text.dropped_chars += if text.is_stopped { 0 } else { count_chars(&tail) };
    }
    Ok(text)
}

fn count_chars(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u64
}

/// The exit status as a shell tells it.
fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_setting_counts_and_any_program_refuses() {
        let settings = UserSettings::parse(b"diff.noprefix\0diff.noprefix\nfalse\0color.ui\nalways\0");
        assert!(!settings.has(OutputTrait::NoPrefix) && settings.has(OutputTrait::Coloured));
        assert!(settings.programs.is_empty());
        let settings = UserSettings::parse(b"diff.exif.textconv\nexif\0log.showsignature\ntrue\0");
        assert_eq!(settings.programs.len(), 2);
    }

    #[test]
    fn filters_are_found_under_any_name_that_can_be_switched_off() {
        let names = find_filters(b"filter.lfs.clean\nx\0filter.a.b.process\ny\0filter.lfs.smudge\0").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a.b", "lfs"]);
        assert!(find_filters(b"filter.a=b.clean\nx\0").is_err());
    }

    #[test]
    fn text_that_is_enough_ends_with_a_line() {
        let mut source: &[u8] = b"one\ntwo\nthr";
        let text = read_text(&mut source, &|text| !text.is_empty()).unwrap();
        assert!(text.is_stopped && text.out == b"one\ntwo\n");
    }
}
