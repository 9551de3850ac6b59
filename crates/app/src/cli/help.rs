//! The first screen of `docent --help`: commands in groups, by what a person wants to do.
//!
//! clap lists commands one below the other, which fills two screens. The help of a single command is clap's
//! own.
//!
//! Invariant: every command is in one group; a test compares them with the command line.

use anstyle::Style;

const HEADING: Style = Style::new().bold();

/// Commands that are shown together, and what they are for.
type Row = (&'static [&'static str], &'static str);

/// Groups with their commands.
const GROUPS: [(&str, &[Row]); 4] = [
    (
        "Ask",
        &[
            (
                &["search"],
                "Code, decisions and docs that answer a question or define a name",
            ),
            (
                &["symbol", "references", "outline"],
                "Where a name is defined, who uses it, what a file has",
            ),
            (
                &["read", "grep"],
                "A file or one definition of it; exact text, every match counted",
            ),
            (
                &["log", "blame", "diff"],
                "Changes, authors of lines with their reasons, differences",
            ),
            (
                &["docs", "doc"],
                "The project's documentation: search it, read a section",
            ),
            (&["coverage"], "How much the tests reach, from an LCOV report"),
        ],
    ),
    (
        "Look",
        &[
            (
                &["overview"],
                "What this project is: programs, modules and what they are for",
            ),
            (
                &["status", "sessions"],
                "What is indexed and how fresh it is; who worked with docent here",
            ),
            (
                &["gain", "compare", "bench"],
                "Text saved so far; an agent with and without docent; speed",
            ),
        ],
    ),
    (
        "Keep",
        &[
            (&["memory"], "Decisions to remember: add, approve, reject"),
            (
                &["index", "clear"],
                "Build or delete the index; searches build it by themselves",
            ),
            (
                &["link", "unlink", "links"],
                "Other projects that are searched together with this one",
            ),
        ],
    ),
    (
        "Set up",
        &[
            (
                &["setup", "doctor"],
                "Connect your coding agents; find what keeps docent from working",
            ),
            (
                &["config", "trust"],
                "Settings and their sources; whether a project may describe itself",
            ),
            (
                &["serve", "lsp"],
                "Speak MCP to a client, LSP to an editor or agent; they start it",
            ),
            (
                &["sh", "rewrite", "hook"],
                "Commands of an agent's shell, answered in less text; clients run them",
            ),
            (
                &["call", "repo-file", "hello"],
                "For scripts and tests: any tool with JSON, a raw file, a greeting",
            ),
            (&["completions", "man"], "For your shell; manual pages"),
            (
                &["help", "reference"],
                "Of a command: `docent help COMMAND`; pages of the reference",
            ),
        ],
    ),
];

/// Column in which the second part of a row begins.
const WIDTH: usize = 29;

/// The whole screen, for clap to print.
pub(super) fn screen(about: &str) -> String {
    let mut screen = format!("{about}\n\n{HEADING}Usage:{HEADING:#} docent [OPTIONS] [COMMAND]\n");
    for (title, rows) in GROUPS {
        screen += &format!("\n{HEADING}{title}{HEADING:#}\n");
        for (commands, purpose) in rows {
            screen += &format!("  {:WIDTH$}{purpose}\n", commands.join(", "));
        }
    }
    screen += &format!("\n{HEADING}Options{HEADING:#}\n");
    for (option, purpose) in [
        (
            "--root DIR",
            "The project's directory; else the git repository you are in",
        ),
        (
            "--set KEY=VALUE",
            "Change a setting for this run; `docent config` lists them",
        ),
        ("--color auto|always|never", "When to use colours"),
        (
            "-h, --help; -V, --version",
            "Of docent; `docent COMMAND --help` of a command",
        ),
    ] {
        screen += &format!("  {option:WIDTH$}{purpose}\n");
    }
    screen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = crate::cli::command(&crate::tools::all());
        command.build();
        let there: BTreeSet<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let rows = GROUPS.iter().flat_map(|(_, rows)| rows.iter());
        let grouped: Vec<&str> = rows.flat_map(|(commands, _)| commands.iter().copied()).collect();
        assert_eq!(grouped.iter().copied().collect::<BTreeSet<_>>(), there);
        assert_eq!(grouped.len(), there.len(), "no command is there twice");
        let screen = screen("");
        for option in command.get_arguments().filter_map(clap::Arg::get_long) {
            assert!(screen.contains(&format!("--{option}")), "{option}");
        }
    }

    #[test]
    fn the_screen_fits_a_terminal() {
        let screen = anstream::adapter::strip_str(&screen("A guide")).to_string();
        let lines = screen.lines().count();
        assert!((24..=40).contains(&lines), "{lines} lines");
        for line in screen.lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
