//! A line of shell commands: which of them docent can answer, and how the line then reads.
//!
//! The line is parsed with tree-sitter's grammar of bash. Only commands at its top are considered: in lists
//! of
//! `&&`, `||`, `;` and line breaks, alone or at the left of a pipeline whose other commands are filters that
//! `docent sh` applies itself. Words keep their quotes, and globs are left to the shell.
//!
//! Left out: commands in loops, conditions, functions, subshells and substitutions, which are never replaced.
//!
//! Invariant: a line whose meaning could be changed by an alias, a function or a variable of its own is left
//! as it is, and so is a line that the grammar does not understand.

use tree_sitter::{Node, Parser, TreeCursor};

use super::raw_word::read_word;
use super::{CommandRefusal, OutputFilter, Request, Word, understand};

/// A line with the commands that docent can answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub commands: Vec<AnswerableCommand>,
    /// Searches, lists and questions to git that are left alone: the program and the reason.
    pub left_alone: Vec<(String, CommandRefusal)>,
    /// Every command of the line is answerable or changes the directory.
    pub is_only_answerable: bool,
}

/// A command that docent can answer.
#[derive(Debug, PartialEq, Eq)]
pub struct AnswerableCommand {
    pub program: String,
    pub request: Request,
    pub filters: Vec<OutputFilter>,
    /// Directories of the `cd` commands before it, in their order.
    pub directories: Vec<Word>,
    /// The filters as options of `docent sh`.
    options: String,
    /// Where its first word begins, where its last word or redirect ends, and where its pipeline ends.
    start: usize,
    end: usize,
    pipeline_end: usize,
}

/// Programs that docent answers in part, so that lines with them are worth counting.
const PROGRAMS: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "ag", "find", "fd", "fdfind", "ls", "tree", "git",
];

/// Commands that change what later words mean.
const CHANGING: &[&str] = &[
    "eval", "source", ".", "alias", "unalias", "set", "shopt", "exec", "trap", "enable", "pushd", "popd",
    "hash", "builtin", "unset",
];

/// Levels of the syntax tree of a line. A list of commands has one for each of them.
const MAX_DEPTH: usize = 200;

/// Beginnings of variables that change what programs print or where `cd` goes.
const CHANGING_VARIABLES: &[&str] = &[
    "PATH",
    "RIPGREP_CONFIG_PATH",
    "POSIXLY_CORRECT",
    "GIT_",
    "DOCENT_",
    "GREP_",
    "LC_",
    "LANG",
    "HOME",
    "CDPATH",
    "XDG_",
    "IFS",
];

impl CommandLine {
    /// Reads a line. `None` if it is left as it is, whatever its commands are.
    pub fn read(line: &str) -> Option<Self> {
        // Most lines have nothing to answer, and need no parser.
        if !PROGRAMS.iter().any(|program| line.contains(program)) {
            return None;
        }
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
        let tree = parser.parse(line, None)?;
        let root = tree.root_node();
        if root.has_error() || is_left_whole(line, &mut root.walk()) {
            return None;
        }
        let mut reader = CommandReader {
            line,
            found: Self {
                is_only_answerable: true,
                ..Self::default()
            },
            directories: Some(Vec::new()),
            has_pipefail: line.contains("pipefail"),
        };
        let mut cursor = root.walk();
        for statement in root.children(&mut cursor) {
            // A command in the background writes beside the next one.
            if statement.kind() == "&" {
                return None;
            }
            reader.read_statement(statement);
        }
        Some(reader.found)
    }

    /// The line with `program sh` before the commands for which `is_accepted` is true. `None` if there are
    /// none.
    pub fn rewrite(
        &self,
        line: &str,
        program: &str,
        is_accepted: impl Fn(&AnswerableCommand) -> bool,
    ) -> Option<String> {
        let mut rewritten = String::new();
        let mut at = 0;
        for command in self.commands.iter().filter(|command| is_accepted(command)) {
            rewritten += &line[at..command.start];
            rewritten += &format!("{program} sh {}", command.options);
            rewritten += &line[command.start..command.end];
            at = command.pipeline_end;
        }
        (at > 0).then(|| rewritten + &line[at..])
    }
}

/// Whether the line defines a function, has a command that changes the meaning of later words, or is so deep
/// that reading it could exhaust the stack.
fn is_left_whole(line: &str, cursor: &mut TreeCursor<'_>) -> bool {
    let mut depth = 0;
    loop {
        let node = cursor.node();
        let text = &line[node.byte_range()];
        let is_changing = match node.kind() {
            "function_definition" => true,
            "command_name" if text == "set" => {
                !is_harmless_set(node.parent().map_or("", |one| &line[one.byte_range()]))
            }
            "command_name" => CHANGING.contains(&text),
            "variable_assignment" => CHANGING_VARIABLES.iter().any(|name| text.starts_with(name)),
            _ => false,
        };
        if is_changing {
            return true;
        }
        if cursor.goto_first_child() {
            depth += 1;
            if depth > MAX_DEPTH {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}

/// `set -e`, `-u` and `-x` change when a line stops and what it prints about itself, and no word of it.
/// `set -o pipefail` changes the status of pipelines.
fn is_harmless_set(command: &str) -> bool {
    let mut words = command.split_ascii_whitespace().skip(1).peekable();
    let mut has_flags = false;
    while let Some(word) = words.next() {
        let Some(flags) = word.strip_prefix('-') else {
            return false;
        };
        let (letters, takes_name) = match flags.strip_suffix('o') {
            Some(letters) => (letters, true),
            None => (flags, false),
        };
        let is_known = letters.chars().all(|flag| "eux".contains(flag)) && !flags.is_empty();
        let names = ["pipefail", "errexit", "nounset", "xtrace"];
        if !is_known || takes_name && !words.next().is_some_and(|name| names.contains(&name)) {
            return false;
        }
        has_flags = true;
    }
    has_flags
}

/// Whether a command of this name is somewhere in the node.
fn has_command(line: &str, node: Node<'_>, name: &str) -> bool {
    let mut cursor = node.walk();
    node.kind() == "command_name" && &line[node.byte_range()] == name
        || node
            .children(&mut cursor)
            .any(|child| has_command(line, child, name))
}

/// The first command of a pipeline. The grammar takes `a && b 2>/dev/null | c` for a pipeline whose first
/// part is the whole list, with the redirect of its last command.
struct Stage<'t> {
    /// Statements before the command.
    before: Vec<Node<'t>>,
    command: Node<'t>,
    redirects: Vec<Node<'t>>,
    end: usize,
}

impl<'t> Stage<'t> {
    fn split(node: Node<'t>) -> Self {
        let mut cursor = node.walk();
        let mut children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let mut stage = match node.kind() {
            "list" => match children.pop() {
                Some(last) => {
                    let mut stage = Self::split(last);
                    children.append(&mut stage.before);
                    stage.before = children;
                    stage
                }
                None => Self::of(node),
            },
            "redirected_statement" => {
                let (redirects, bodies): (Vec<Node<'t>>, Vec<Node<'t>>) = children
                    .into_iter()
                    .partition(|child| child.kind().ends_with("_redirect"));
                match bodies.as_slice() {
                    [body] => {
                        let mut stage = Self::split(*body);
                        stage.redirects.extend(redirects);
                        stage
                    }
                    _ => Self::of(node),
                }
            }
            _ => Self::of(node),
        };
        stage.end = node.end_byte();
        stage
    }

    fn of(node: Node<'t>) -> Self {
        Self {
            before: Vec::new(),
            command: node,
            redirects: Vec::new(),
            end: node.end_byte(),
        }
    }
}

/// Reads the statements of a line in order.
struct CommandReader<'a> {
    line: &'a str,
    found: CommandLine,
    /// The directories that were changed to. `None` once it is not known which directory is current.
    directories: Option<Vec<Word>>,
    /// The status of a pipeline may be that of any of its commands.
    has_pipefail: bool,
}

/// A command with its redirects.
struct PlainCommand {
    words: Vec<Word>,
    start: usize,
    end: usize,
    /// `2>&1`: messages go where the output goes.
    merges_errors: bool,
}

impl CommandReader<'_> {
    fn read_statement(&mut self, node: Node<'_>) {
        match node.kind() {
            ";" | "\n" | "&&" | "||" | "comment" | ";;" => {}
            "list" => {
                let mut cursor = node.walk();
                for child in node.children(&mut cursor) {
                    self.read_statement(child);
                }
            }
            "command" | "redirected_statement" => self.read_pipeline(&[node], node),
            "pipeline" => {
                let mut cursor = node.walk();
                let stages: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                // `|&` sends messages into the pipe too.
                if self.text(node).contains("|&") {
                    self.leave(node);
                } else {
                    self.read_pipeline(&stages, node);
                }
            }
            _ => self.leave(node),
        }
    }

    /// Something that is not replaced. A `cd` in it makes the directory unknown.
    fn leave(&mut self, node: Node<'_>) {
        self.found.is_only_answerable = false;
        if has_command(self.line, node, "cd") {
            self.directories = None;
        }
    }

    fn read_pipeline(&mut self, stages: &[Node<'_>], whole: Node<'_>) {
        let Some((first, filters)) = stages.split_first() else {
            return;
        };
        let stage = Stage::split(*first);
        for statement in &stage.before {
            self.read_statement(*statement);
        }
        let command = match self.read_command(&stage) {
            Ok(command) => command,
            Err(refusal) => {
                self.leave(stage.command);
                if let Some(program) = self.program_of(stage.command) {
                    self.found.left_alone.push((program, refusal));
                }
                return;
            }
        };
        let Some(program) = command.words.first().map(|word| word.text.clone()) else {
            return self.leave(stage.command);
        };
        if program == "cd" && filters.is_empty() {
            return self.change_directory(&command);
        }
        // `\grep` asks for the program itself.
        if !PROGRAMS.contains(&program.as_str()) || !self.line[command.start..].starts_with(&program) {
            return self.leave(stage.command);
        }
        match self.read_answerable(&command, &program, filters, whole) {
            Ok(command) => self.found.commands.push(command),
            Err(refusal) => {
                self.found.is_only_answerable = false;
                self.found.left_alone.push((program, refusal));
            }
        }
    }

    fn read_answerable(
        &self,
        command: &PlainCommand,
        program: &str,
        filters: &[Node<'_>],
        whole: Node<'_>,
    ) -> Result<AnswerableCommand, CommandRefusal> {
        let Some(directories) = self.directories.clone() else {
            return Err(CommandRefusal::Form("the directory is not known"));
        };
        if self.has_pipefail && !filters.is_empty() {
            return Err(CommandRefusal::Form("pipefail changes the status of pipelines"));
        }
        let request = understand(&command.words)?;
        let mut options = String::new();
        if command.merges_errors && !filters.is_empty() {
            options += "--with-errors ";
        }
        let mut understood = Vec::new();
        for filter in filters {
            if understood.last().is_some_and(OutputFilter::prints_number) {
                return Err(CommandRefusal::Form("a number goes to another filter"));
            }
            let words = self.read_filter(*filter)?;
            let texts: Option<Vec<String>> = words.iter().map(|word| super::quote_word(&word.text)).collect();
            let text = texts
                .ok_or(CommandRefusal::Form("a filter has a quote"))?
                .join(" ");
            options += &format!("--then {} ", quote_text(&text));
            understood.push(OutputFilter::understand(&words)?);
        }
        Ok(AnswerableCommand {
            program: program.to_owned(),
            request,
            filters: understood,
            directories,
            options,
            start: command.start,
            end: command.end,
            pipeline_end: whole.end_byte(),
        })
    }

    /// The words of a filter, which may have no redirect.
    fn read_filter(&self, node: Node<'_>) -> Result<Vec<Word>, CommandRefusal> {
        if node.kind() != "command" {
            return Err(CommandRefusal::Form(
                "the output goes to something that is not answered",
            ));
        }
        let command = self.read_command(&Stage::of(node))?;
        if command.merges_errors {
            return Err(CommandRefusal::Form("a filter has a redirect"));
        }
        Ok(command.words)
    }

    /// A command of literal words, with no redirects but those of messages.
    fn read_command(&self, stage: &Stage<'_>) -> Result<PlainCommand, CommandRefusal> {
        let (command, mut redirects) = (stage.command, stage.redirects.clone());
        if command.kind() != "command" {
            return Err(CommandRefusal::Form("it is no simple command"));
        }
        let mut words = Vec::new();
        let mut cursor = command.walk();
        for child in command.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => return Err(CommandRefusal::Form("a variable is set for it")),
                "file_redirect" => redirects.push(child),
                "herestring_redirect" | "heredoc_redirect" => {
                    return Err(CommandRefusal::Form("a redirect is not answered"));
                }
                _ => words
                    .push(read_word(self.text(child)).ok_or(CommandRefusal::Form("a word is not literal"))?),
            }
        }
        let mut merges_errors = false;
        for redirect in redirects {
            match self.text(redirect).replace(' ', "").as_str() {
                "2>/dev/null" => {}
                "2>&1" => merges_errors = true,
                _ => return Err(CommandRefusal::Form("the output is redirected")),
            }
        }
        Ok(PlainCommand {
            words,
            start: command.start_byte(),
            end: stage.end,
            merges_errors,
        })
    }

    /// `cd DIRECTORY`. With options, or in any other form, the directory is unknown from here on.
    fn change_directory(&mut self, command: &PlainCommand) {
        match (&command.words[1..], &mut self.directories) {
            ([directory], Some(directories))
                if !directory.text.starts_with('-') && !directory.text.is_empty() =>
            {
                directories.push(directory.clone());
            }
            _ => self.directories = None,
        }
    }

    /// The program of a command that could not be read, if it is one of those that docent answers.
    fn program_of(&self, node: Node<'_>) -> Option<String> {
        let text = self.text(node);
        let first = text.split_whitespace().next()?;
        PROGRAMS.contains(&first).then(|| first.to_owned())
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.line[node.byte_range()]
    }
}

/// A text as one word of a shell: between double quotes if nothing acts there, which is easier to read.
fn quote_text(text: &str) -> String {
    if !text.contains('\'') {
        format!("'{text}'")
    } else if text.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", text.replace('\'', r"'\''"))
    } else {
        format!("\"{text}\"")
    }
}

#[cfg(test)]
mod tests;
