//! The user's rules about shell commands in the settings of coding agents: would a rewritten command evade
//! one?
//!
//! Clients apply their rules to the command after the hooks. A rule that denies `grep` says nothing of
//! `docent sh grep`, so a line that such a rule may be about is left as it is.
//!
//! Left out: rules given as flags of the client, which no hook can see. Clients whose rules are only flags
//! get no rewriting (`hook_files`).
//!
//! Invariant: in doubt a line is restricted. A file of rules that cannot be read or parsed restricts every
//! line.

mod line;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use docent_core::client_config::read_json;
use ignore::gitignore::GitignoreBuilder;
use serde_json::Value as Json;

use crate::clients::{Client, Machine};
use crate::files::read_own;
use line::ShellLine;

/// Larger files of rules restrict every line.
const MAX_RULES_BYTES: usize = 4 * 1024 * 1024;

/// Whether a rule that denies a command, or that asks the user, may be about this line.
pub fn is_restricted(client: Client, machine: &Machine<'_>, line: &str, directory: &Path) -> bool {
    let line = ShellLine::read(line, directory);
    let rules = match client {
        Client::ClaudeCode => claude_rules(machine, directory),
        Client::Cursor => cursor_rules(machine),
        Client::Codex => codex_rules(machine),
        Client::Gemini => gemini_rules(machine),
        Client::Opencode => opencode_rules(machine),
        _ => None,
    };
    rules.is_none_or(|rules| {
        rules
            .iter()
            .any(|rule| rule.is_about_docent() || rule.is_about(&line, machine))
    })
}

/// A rule, as far as it is about commands that only read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ClientRule {
    /// Commands that begin with these words; all commands without any.
    Command(Vec<String>),
    /// Commands that have one of these words.
    AnyWord(Vec<String>),
    /// Files by a pattern as in `.gitignore`, relative to a directory.
    Files { pattern: String, base: PathBuf },
}

impl ClientRule {
    /// Whether it is about `docent sh` itself, whatever path that is run by.
    fn is_about_docent(&self) -> bool {
        let is = |word: Option<&String>, name: &str| word.is_none_or(|word| word == name);
        match self {
            Self::Command(words) => is(words.first(), "docent") && is(words.get(1), "sh"),
            Self::AnyWord(words) => words.iter().any(|word| word == "docent"),
            Self::Files { .. } => false,
        }
    }

    fn is_about(&self, line: &ShellLine, machine: &Machine<'_>) -> bool {
        match self {
            Self::Command(words) => {
                let has = |wanted: &String| line.words.iter().any(|word| word.is_program(wanted));
                words.first().is_none_or(has) && words.get(1).is_none_or(has)
            }
            Self::AnyWord(words) => words
                .iter()
                .any(|wanted| line.words.iter().any(|word| word.is_program(wanted))),
            Self::Files { pattern, base } => line.words.iter().any(|word| {
                word.expands
                    || line
                        .paths_of(word, machine)
                        .iter()
                        .any(|path| matches_pattern(pattern, base, path))
            }),
        }
    }
}

/// Whether a pattern matches a path, a directory around it, or whatever is in it.
fn matches_pattern(pattern: &str, base: &Path, path: &Path) -> bool {
    if !path.starts_with(base) {
        return false;
    }
    let mut builder = GitignoreBuilder::new(base);
    let Ok(matcher) = builder
        .add_line(None, pattern)
        .and_then(|builder| builder.build())
    else {
        return true;
    };
    let inside = path.join("any");
    matcher.matched_path_or_any_parents(path, false).is_ignore()
        || matcher.matched_path_or_any_parents(path, true).is_ignore()
        || matcher.matched_path_or_any_parents(&inside, false).is_ignore()
}

/// The JSON in a file, `Null` if it does not exist. `None` if it cannot be read.
fn read_rules(path: &Path) -> Option<Json> {
    match read_own(path) {
        Ok(None) => Some(Json::Null),
        Ok(Some(text)) if text.trim().is_empty() => Some(Json::Null),
        Ok(Some(text)) if text.len() <= MAX_RULES_BYTES => read_json(&text).ok(),
        _ => None,
    }
}

fn claude_rules(machine: &Machine<'_>, directory: &Path) -> Option<Vec<ClientRule>> {
    let mut files = vec![
        PathBuf::from("/etc/claude-code/managed-settings.json"),
        PathBuf::from("/Library/Application Support/ClaudeCode/managed-settings.json"),
        PathBuf::from("C:\\Program Files\\ClaudeCode\\managed-settings.json"),
    ];
    files.extend(
        machine
            .claude_directory()
            .map(|folder| folder.join("settings.json")),
    );
    for folder in [machine.root, directory] {
        files.push(folder.join(".claude/settings.json"));
        files.push(folder.join(".claude/settings.local.json"));
    }
    let mut rules = Vec::new();
    for file in files {
        let settings = read_rules(&file)?;
        for list in ["deny", "ask"] {
            for rule in strings_of(&settings["permissions"][list]) {
                rules.extend(parse_tool_rule(rule, machine, &[machine.root, directory]));
            }
        }
    }
    Some(rules)
}

fn cursor_rules(machine: &Machine<'_>) -> Option<Vec<ClientRule>> {
    let files = [
        machine.in_home(".cursor/cli-config.json"),
        Some(machine.root.join(".cursor/cli.json")),
    ];
    let mut rules = Vec::new();
    for file in files.into_iter().flatten() {
        let settings = read_rules(&file)?;
        for rule in strings_of(&settings["permissions"]["deny"]) {
            rules.extend(parse_tool_rule(rule, machine, &[machine.root]));
        }
    }
    Some(rules)
}

/// The texts in a list.
fn strings_of(list: &Json) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Json::as_str)
}

/// Parses `Bash(git push:*)`, `Shell(rm)`, `Read(./secret/**)`. Rules about other tools are none of ours.
fn parse_tool_rule(rule: &str, machine: &Machine<'_>, bases: &[&Path]) -> Vec<ClientRule> {
    let (tool, argument) = match rule.trim().split_once('(') {
        Some((tool, argument)) => (tool, argument.strip_suffix(')').unwrap_or(argument)),
        None => (rule.trim(), ""),
    };
    match tool {
        "Bash" | "Shell" => vec![command_rule(argument)],
        "Read" => files_rules(argument, machine, bases),
        "*" => vec![ClientRule::Command(Vec::new())],
        _ => Vec::new(),
    }
}

/// The first words of a pattern, up to two. A pattern that begins with a wildcard is about every command.
fn command_rule(pattern: &str) -> ClientRule {
    let literal = pattern.split(['*', '?', '[']).next().unwrap_or_default();
    let is_cut = literal.len() < pattern.len() && !literal.ends_with([' ', ':']);
    let mut words: Vec<String> = literal
        .split([' ', ':', '('])
        .filter(|word| !word.is_empty())
        .map(|word| word.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    if is_cut {
        // `git*` and `git pu*`: the last word is only a beginning.
        words.pop();
    }
    words.truncate(2);
    // A flag may be written in many ways, so that only the words before it decide.
    if let Some(flag) = words.iter().position(|word| word.starts_with('-')) {
        words.truncate(flag);
    }
    ClientRule::Command(words)
}

fn files_rules(pattern: &str, machine: &Machine<'_>, bases: &[&Path]) -> Vec<ClientRule> {
    let files = |pattern: &str, base: &Path| ClientRule::Files {
        pattern: pattern.to_owned(),
        base: base.to_owned(),
    };
    if let Some(absolute) = pattern.strip_prefix("//") {
        return vec![files(&format!("/{absolute}"), Path::new("/"))];
    }
    if let Some(below) = pattern.strip_prefix("~/") {
        let home = machine.in_home("");
        return home
            .map(|home| files(&format!("/{below}"), &home))
            .into_iter()
            .collect();
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.is_empty() {
        return vec![files("*", Path::new("/"))];
    }
    bases.iter().map(|base| files(pattern, base)).collect()
}

/// Files with an ending in a folder. `None` if the folder cannot be read.
fn files_with_ending(folder: &Path, ending: &str) -> Option<Vec<PathBuf>> {
    #[expect(clippy::disallowed_methods, reason = "a folder of another program's settings")]
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(Vec::new()),
        Err(_) => return None,
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension() == Some(OsStr::new(ending)))
        .collect();
    paths.sort_unstable();
    Some(paths)
}

fn codex_rules(machine: &Machine<'_>) -> Option<Vec<ClientRule>> {
    let mut files = vec![PathBuf::from("/etc/codex/requirements.toml")];
    let folders = [
        machine.codex_directory().map(|folder| folder.join("rules")),
        Some(machine.root.join(".codex/rules")),
        Some(PathBuf::from("/etc/codex/rules")),
    ];
    for folder in folders.into_iter().flatten() {
        files.extend(files_with_ending(&folder, "rules")?);
    }
    text_rules(&files, &["forbidden", "prompt"], &[])
}

fn gemini_rules(machine: &Machine<'_>) -> Option<Vec<ClientRule>> {
    let own = machine.gemini_file();
    let folder = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let settings = [
        own,
        Some(machine.root.join(".gemini/settings.json")),
        Some(PathBuf::from("/etc/gemini-cli/settings.json")),
    ];
    let mut rules = Vec::new();
    for file in settings.into_iter().flatten() {
        let settings = read_rules(&file)?;
        let tools = &settings["tools"];
        for rule in strings_of(&tools["exclude"]).chain(strings_of(&settings["excludeTools"])) {
            rules.extend(shell_argument(rule).map(command_rule));
        }
        // Only the commands of these lists may be run, and docent is not among them.
        for rule in strings_of(&tools["core"]).chain(strings_of(&settings["coreTools"])) {
            if shell_argument(rule).is_some_and(|argument| !argument.is_empty()) {
                rules.push(ClientRule::Command(Vec::new()));
            }
        }
    }
    let folders = [
        folder.map(|folder| folder.join("policies")),
        Some(machine.root.join(".gemini/policies")),
        Some(PathBuf::from("/etc/gemini-cli/policies")),
    ];
    let mut files = Vec::new();
    for folder in folders.into_iter().flatten() {
        files.extend(files_with_ending(&folder, "toml")?);
    }
    rules.extend(text_rules(
        &files,
        &["deny", "ask_user"],
        &["commandRegex", "argsPattern"],
    )?);
    Some(rules)
}

/// The command in `run_shell_command(git push)`; empty if the rule is about all commands.
fn shell_argument(rule: &str) -> Option<&str> {
    let rest = rule
        .strip_prefix("run_shell_command")
        .or_else(|| rule.strip_prefix("ShellTool"))?;
    Some(rest.trim_start_matches('(').trim_end_matches(')'))
}

/// Rules in files of a language that is not parsed here: if one of these decisions occurs in a file, the
/// first words of all its texts may be restricted, and every command if one of `patterns` occurs.
fn text_rules(files: &[PathBuf], decisions: &[&str], patterns: &[&str]) -> Option<Vec<ClientRule>> {
    let mut rules = Vec::new();
    for file in files {
        let text = read_own(file).ok()?.unwrap_or_default();
        if text.len() > MAX_RULES_BYTES {
            return None;
        }
        if !decisions.iter().any(|decision| text.contains(decision)) {
            continue;
        }
        if patterns.iter().any(|pattern| text.contains(pattern)) {
            rules.push(ClientRule::Command(Vec::new()));
        }
        let texts = text.split(['"', '\'']).skip(1).step_by(2);
        let words = texts.filter_map(|text| text.split_whitespace().next());
        let words = words.map(|word| word.rsplit('/').next().unwrap_or_default().to_owned());
        rules.push(ClientRule::AnyWord(words.collect()));
    }
    Some(rules)
}

fn opencode_rules(machine: &Machine<'_>) -> Option<Vec<ClientRule>> {
    if (machine.variable)("OPENCODE_PERMISSION").is_some() {
        return None;
    }
    let folders = [
        machine.in_config("opencode"),
        Some(machine.root.to_owned()),
        Some(machine.root.join(".opencode")),
    ];
    let named = (machine.variable)("OPENCODE_CONFIG").map(PathBuf::from);
    let mut files: Vec<PathBuf> = named.into_iter().collect();
    for folder in folders.into_iter().flatten() {
        files.extend(["opencode.json", "opencode.jsonc"].map(|name| folder.join(name)));
    }
    let mut rules = Vec::new();
    for file in files {
        collect_opencode_rules(&read_rules(&file)?, &mut rules);
    }
    Some(rules)
}

/// Rules of the settings and of every agent in them.
fn collect_opencode_rules(settings: &Json, rules: &mut Vec<ClientRule>) {
    let Some(members) = settings.as_object() else {
        return;
    };
    for (name, value) in members {
        match value.get("bash").filter(|_| name == "permission") {
            Some(Json::Object(patterns)) => {
                let is_allowed = |pattern: &str| patterns[pattern] == "allow";
                let lets_docent = patterns
                    .keys()
                    .any(|pattern| pattern.starts_with("docent") && is_allowed(pattern));
                for pattern in patterns.keys().filter(|pattern| !is_allowed(pattern)) {
                    // A rule about all commands asks about `docent sh`, too, even where `grep` is allowed.
                    if pattern != "*" || !lets_docent {
                        rules.push(command_rule(pattern));
                    }
                }
            }
            _ => collect_opencode_rules(value, rules),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Whether a line is restricted with these files below a home directory and a project.
    fn check(client: Client, files: &[(&str, &str)], line: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let (home, root) = (folder.path().join("home"), folder.path().join("project"));
        fs::create_dir_all(&root).unwrap();
        for (name, text) in files {
            let text = text.replace("ROOT", root.to_str().unwrap());
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let machine = Machine {
            variable: &|name| (name == "HOME").then(|| home.clone().into_os_string()),
            search: &[],
            root: &root,
            program: Path::new("/bin/docent"),
        };
        is_restricted(client, &machine, line, &root)
    }

    fn check_claude(rule: &str, line: &str) -> bool {
        let settings = format!(r#"{{"permissions": {{"deny": ["{rule}"], "allow": ["Bash(grep:*)"]}}}}"#);
        check(
            Client::ClaudeCode,
            &[("home/.claude/settings.json", &settings)],
            line,
        )
    }

    #[test]
    fn without_rules_nothing_is_restricted() {
        for client in [
            Client::ClaudeCode,
            Client::Codex,
            Client::Gemini,
            Client::Cursor,
            Client::Opencode,
        ] {
            assert!(!check(client, &[], "cd src && grep -rn 'a b' . | head -5"));
        }
    }

    /// Long because it is a table of cases.
    #[test]
    fn a_rule_of_claude_restricts_the_commands_that_it_is_about() {
        for (rule, line, expected) in [
            ("Bash", "grep a b", true),
            ("Bash(*)", "grep a b", true),
            ("Bash(grep:*)", "grep a b", true),
            ("Bash(grep *)", "cd src && grep a b", true),
            ("Bash(grep:*)", "'gr'ep a b", true),
            ("Bash(grep:*)", "/usr/bin/grep a b", true),
            ("Bash(grep:*)", "rg a b", false),
            ("Bash(docent sh:*)", "rg a b", true),
            ("Bash(docent memory:*)", "rg a b", false),
            ("Bash(sh:*)", "rg a b", false),
            ("Bash(gr*)", "grep a b", true),
            ("Bash(git push:*)", "git log", false),
            ("Bash(git log:*)", "git log", true),
            ("Bash(git log:*)", "git -C x log", true),
            ("Bash(git:*)", "git log", true),
            ("Bash(git diff --stat:*)", "git diff", true),
            ("Read(./secret/**)", "grep a secret/x", true),
            ("Read(./secret/**)", "grep a ./src/../secret/x", true),
            ("Read(./secret/**)", "grep -r a secret", true),
            ("Read(./secret/**)", "cd secret && grep a x", true),
            ("Read(./secret/**)", "git -C secret grep a", true),
            ("Read(./secret/**)", "grep a 'sec'\"ret\"/x", true),
            ("Read(./secret/**)", "grep a se*/x", true),
            ("Read(./secret/**)", "grep a \"$D\"", true),
            ("Read(./secret/**)", "grep 'a.*b' src", false),
            ("Read(**/.env)", "grep a conf/.env", true),
            ("Read(.env)", "grep a conf/.env", true),
            ("Read(.env)", "grep a conf/env", false),
            ("Read(/ROOT/keys/**)", "grep a keys/k", true),
            ("Read(~/notes/**)", "grep a ~/notes/n", true),
            ("Read", "grep a b", true),
            ("Edit(./secret/**)", "grep a secret/x", false),
            ("WebFetch", "grep a b", false),
        ] {
            assert_eq!(check_claude(rule, line), expected, "{rule}: {line}");
        }
    }

    #[test]
    fn rules_of_every_settings_file_count() {
        let settings = r#"{"permissions": {"ask": ["Bash(grep:*)"]}}"#;
        for file in [
            "project/.claude/settings.json",
            "project/.claude/settings.local.json",
        ] {
            assert!(
                check(Client::ClaudeCode, &[(file, settings)], "grep a b"),
                "{file}"
            );
        }
        for damaged in ["{", "[", "\u{0}"] {
            let files = [("project/.claude/settings.json", damaged)];
            assert!(check(Client::ClaudeCode, &files, "grep a b"), "{damaged}");
        }
    }

    /// Long because it is a table of cases.
    #[test]
    fn rules_of_other_clients_restrict_lines() {
        for (client, file, text, line, expected) in [
            (
                Client::Codex,
                "home/.codex/rules/default.rules",
                "prefix_rule(pattern=[\"grep\"], decision=\"forbidden\")",
                "grep a b",
                true,
            ),
            (
                Client::Codex,
                "project/.codex/rules/a.rules",
                "prefix_rule(pattern=[[\"rg\", \"grep\"]], decision = 'prompt')",
                "rg a",
                true,
            ),
            (
                Client::Codex,
                "home/.codex/rules/default.rules",
                "prefix_rule(pattern=[\"docent\", \"sh\"], decision=\"forbidden\")",
                "rg a",
                true,
            ),
            (
                Client::Codex,
                "home/.codex/rules/default.rules",
                "prefix_rule(pattern=[\"git\", \"push\"], decision=\"forbidden\")",
                "rg a",
                false,
            ),
            (
                Client::Codex,
                "home/.codex/rules/default.rules",
                "prefix_rule(pattern=[\"grep\"], decision=\"allow\")",
                "grep a",
                false,
            ),
            (
                Client::Gemini,
                "home/.gemini/settings.json",
                "{\"tools\": {\"exclude\": [\"run_shell_command(grep)\"]}}",
                "grep a",
                true,
            ),
            (
                Client::Gemini,
                "home/.gemini/settings.json",
                "{\"tools\": {\"core\": [\"run_shell_command(grep)\"]}}",
                "grep a",
                true,
            ),
            (
                Client::Gemini,
                "home/.gemini/settings.json",
                "{\"tools\": {\"allowed\": [\"run_shell_command(grep)\"]}}",
                "grep a",
                false,
            ),
            (
                Client::Gemini,
                "home/.gemini/policies/mine.toml",
                "[[rule]]\ncommandPrefix = \"git log\"\ndecision = \"deny\"",
                "git log",
                true,
            ),
            (
                Client::Gemini,
                "home/.gemini/policies/mine.toml",
                "[[rule]]\ncommandRegex = \"x\"\ndecision = \"ask_user\"",
                "rg a",
                true,
            ),
            (
                Client::Cursor,
                "home/.cursor/cli-config.json",
                "{\"permissions\": {\"deny\": [\"Shell(grep)\"]}}",
                "grep a",
                true,
            ),
            (
                Client::Cursor,
                "project/.cursor/cli.json",
                "{\"permissions\": {\"deny\": [\"Read(secret/**)\"]}}",
                "grep a secret/x",
                true,
            ),
            (
                Client::Opencode,
                "home/.config/opencode/opencode.json",
                "{\"permission\": {\"bash\": {\"*\": \"allow\", \"grep *\": \"deny\"}}}",
                "grep a",
                true,
            ),
            (
                Client::Opencode,
                "project/opencode.jsonc",
                "{ // mine\n \"agent\": {\"plan\": {\"permission\": {\"bash\": {\"rg *\": \"ask\"}}}}}",
                "rg a",
                true,
            ),
            (
                Client::Opencode,
                "project/opencode.json",
                "{\"permission\": {\"bash\": {\"*\": \"ask\", \"grep *\": \"allow\"}}}",
                "grep a",
                true,
            ),
            (
                Client::Opencode,
                "project/opencode.json",
                "{\"permission\": {\"bash\": {\"*\": \"ask\", \"docent sh *\": \"allow\"}}}",
                "grep a",
                false,
            ),
            (
                Client::Opencode,
                "project/opencode.json",
                "{\"permission\": {\"edit\": \"ask\", \"bash\": \"ask\"}}",
                "grep a",
                false,
            ),
        ] {
            assert_eq!(check(client, &[(file, text)], line), expected, "{text}: {line}");
        }
    }
}
