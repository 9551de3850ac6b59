//! The slash commands: one prompt each, in the forms that clients read.
//!
//! Left out: the project's own prompt templates. Clients list them from the server.
//!
//! Invariant: a prompt names tools only as the table of tools has them; a test reads every name.

/// A slash command.
pub(super) struct SlashCommand {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What follows the command.
    pub(super) argument: &'static str,
    /// The prompt. `{}` is the argument.
    prompt: &'static str,
}

pub(super) const COMMANDS: [SlashCommand; 6] = [
    SlashCommand {
        name: "explain",
        about: "Explain a file, a directory or a definition",
        argument: "path or name",
        prompt: "Explain {}. Take its outline (read_file with outline: true, or find_symbol for a name), then only the \
                 definitions that matter, then who uses it (find_references). Say what it is for, how it works and what \
                 depends on it, with path:line for every claim.",
    },
    SlashCommand {
        name: "callers",
        about: "List who uses a function or type, directly and through others",
        argument: "name",
        prompt: "Find every use of {} with find_references, depth: 2. List the callers by file with path:line, then the \
                 tests among them, and say what a change of its signature would break.",
    },
    SlashCommand {
        name: "why",
        about: "Find out why code is as it is",
        argument: "path:line or name",
        prompt: "Find out why {} is as it is: git_blame of these lines, git_log with the symbol, and context_search with \
                 type: \"decision\". Answer with the reason, the commit and its author. If no source says why, say that.",
    },
    SlashCommand {
        name: "tests",
        about: "Find the tests that cover something",
        argument: "path or name",
        prompt: "Find the tests that cover {}: find_references for its definitions, uses in test files first, and \
                 get_file_coverage if there is a report. Name the tests with path:line and what none of them reaches.",
    },
    SlashCommand {
        name: "locate",
        about: "Find the place where an issue has to be fixed",
        argument: "description of the issue",
        prompt: "Find where this has to be fixed, and change nothing: {}. Search with context_search in the words of the \
                 issue, then grep_codebase for its messages, then follow find_references to the cause. Name the one \
                 place as path:line, why it is the cause, and the tests to run.",
    },
    SlashCommand {
        name: "changed",
        about: "Say when and why something changed",
        argument: "path, name or commit",
        prompt: "Say how {} has changed: git_log with the path and, for a definition, the symbol, then git_diff of the \
                 commits that matter. List them newest first, each with its reason in one sentence.",
    },
];

impl SlashCommand {
    /// As markdown with front matter: Claude Code, Copilot CLI, Cursor, opencode.
    pub(super) fn to_markdown(&self) -> String {
        let prompt = self.prompt.replace("{}", "$ARGUMENTS");
        format!(
            "---\ndescription: {}\nargument-hint: \"[{}]\"\n---\n\n{prompt}\n",
            self.about, self.argument
        )
    }

    /// As TOML: Gemini CLI.
    pub(super) fn to_toml(&self) -> String {
        let prompt = self.prompt.replace("{}", "{{args}}");
        format!("description = \"{}\"\nprompt = '''\n{prompt}\n'''\n", self.about)
    }
}
