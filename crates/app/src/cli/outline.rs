//! `docent outline PATH`: the definitions of a file or of the files of a directory.
//!
//! For clients, `read_file` and `read_repo_file` have the argument `outline`; this command shows the same
//! compact text to people, and all their fields with `--json`.

use std::io;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use docent_core::path::RepoPath;
use docent_engine::deadline::Deadline;
use docent_engine::files::FileError;
use docent_engine::symbols::{FileOutline, SymbolContext, outline_directory, outline_file};
use serde_json::{Value, json};

use super::call::working_directory;
use super::flags::flag;
use super::tool_command::rebase_paths;
use crate::project::Project;
use crate::terminal::{self, TerminalPage};
use crate::tools::arguments::Object;
use crate::tools::failure::Failure;
use crate::tools::file_compact::{show_directory_outline, show_file_outline};
use crate::tools::file_text::{MAX_FILE_BYTES, decode_text, parse_path, refuse_file};
use crate::tools::symbol_entry::SymbolEntry;
use crate::tools::symbols::refuse_symbols;

pub(super) fn command() -> Command {
    Command::new("outline")
        .about("List the definitions of a file, or of the files of a directory, with their lines")
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .default_value(".")
                .help("File or directory"),
        )
        .arg(flag("json", "Print them as JSON, with all fields"))
}

pub(super) fn run(project: &Project, given: &ArgMatches, page: TerminalPage) -> anyhow::Result<ExitCode> {
    let path = given.get_one::<String>("path").expect("it has a default");
    match read_outline(project, &rebase(project, path)) {
        Ok(outline) => {
            outline.show(given.get_flag("json"), page)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => {
            terminal::complain(&failure.sentence());
            Ok(ExitCode::from(failure.kind.exit_code()))
        }
    }
}

/// The outline of a file, or of a directory.
enum PathOutline {
    File(FileOutline),
    Directory { path: String, files: Vec<FileOutline> },
}

/// A path relative to the working directory as one relative to the root.
fn rebase(project: &Project, path: &str) -> String {
    let root = project.root.path();
    let mut arguments = Object::new();
    arguments.insert("path".to_owned(), path.into());
    if let Some(directory) = working_directory(root) {
        rebase_paths(&mut arguments, root, &directory);
    }
    arguments["path"].as_str().unwrap_or(path).to_owned()
}

fn read_outline(project: &Project, written: &str) -> Result<PathOutline, Failure> {
    let directory = |path: &str| {
        let context = SymbolContext {
            root: &project.root,
            index: &project.index,
            patience: project.search.patience,
            deadline: &Deadline::default(),
            report: &|_| {},
            overlay: None,
        };
        let files = outline_directory(&context, path).map_err(refuse_symbols)?;
        Ok(PathOutline::Directory {
            path: path.to_owned(),
            files,
        })
    };
    if matches!(written, "." | "./" | "") {
        return directory("");
    }
    let path: RepoPath = parse_path(written)?;
    let content = match project.root.read(&path, MAX_FILE_BYTES) {
        Err(FileError::Directory) => return directory(path.as_str()),
        content => content.map_err(|error| refuse_file(&error, written, "Permission denied"))?,
    };
    Ok(PathOutline::File(match decode_text(content.bytes) {
        Some(text) => outline_file(&project.root, &path, &text),
        None => FileOutline {
            path: path.to_string(),
            unparsed: Some("it is not UTF-8 text"),
            ..FileOutline::default()
        },
    }))
}

impl PathOutline {
    fn show(&self, as_json: bool, mut page: TerminalPage) -> io::Result<()> {
        match self {
            _ if as_json => page.verbatim(&(self.json().to_string() + "\n"))?,
            Self::File(file) => page.compact(&show_file_outline(file, &file.path, usize::MAX))?,
            Self::Directory { files, .. } => page.compact(&show_directory_outline(files, usize::MAX))?,
        }
        page.finish()
    }

    fn json(&self) -> Value {
        match self {
            Self::File(file) => file_json(file),
            Self::Directory { path, files } => {
                let files: Vec<Value> = files.iter().map(file_json).collect();
                let path = if path.is_empty() { "." } else { path };
                json!({ "path": path, "files": files })
            }
        }
    }
}

fn file_json(file: &FileOutline) -> Value {
    let definitions: Vec<SymbolEntry> = file.definitions.iter().map(SymbolEntry::new).collect();
    let mut value = json!({ "path": file.path, "language": file.language, "definitions": definitions });
    if let Some(why) = file.unparsed {
        value["notice"] = format!("The file has no outline: {why}").into();
    }
    value
}
