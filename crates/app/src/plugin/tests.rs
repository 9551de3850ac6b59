//! The plugin's files: `plugin/` is what the tables say, and texts name only tools that there are.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read the files of this repository, and the variable that has them written"
)]

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::tools;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

#[test]
fn reference_pages_of_the_plugin_are_what_the_tables_say() {
    let files = repository_files(&tools::all());
    for PluginFile { path, text } in &files {
        let file = repository().join(path);
        if std::env::var_os("DOCENT_UPDATE_DOCS").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
        }
        assert!(
            fs::read_to_string(&file).unwrap_or_default() == *text,
            "{path} is stale: DOCENT_UPDATE_DOCS=1 cargo test reference_pages"
        );
    }
    let mut folders = vec![repository().join("plugin")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(repository()).unwrap();
                assert!(
                    files.iter().any(|file| Path::new(&file.path) == name),
                    "{} is made from no table",
                    name.display()
                );
            }
        }
    }
}

/// The words in a text that are written as names of tools are.
fn words_like_tools(text: &str) -> Vec<&str> {
    text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_')
        .filter(|word| {
            word.contains('_') && word.chars().all(|char| char.is_ascii_lowercase() || char == '_')
        })
        .collect()
}

#[test]
fn texts_name_only_tools_that_there_are_and_the_skill_all_that_answer_questions() {
    let tools = tools::all();
    let mut texts = vec![SKILL.to_owned(), EXPLORER.to_owned()];
    texts.extend(COMMANDS.iter().map(commands::SlashCommand::to_toml));
    for text in &texts {
        for word in words_like_tools(text) {
            assert!(tools.iter().any(|tool| tool.name == word), "{word}: {text}");
        }
    }
    for tool in &tools {
        // These are for a task that the user names, not for looking around.
        let is_special = [
            "hello",
            "read_repo_file",
            "start_coverage_snapshot",
            "end_coverage_snapshot",
        ];
        assert_eq!(
            SKILL.contains(&format!("`{}`", tool.name)),
            !is_special.contains(&tool.name),
            "{}",
            tool.name
        );
    }
    assert!(SKILL.lines().count() <= 60, "{}", SKILL.lines().count());
}

#[test]
fn the_explorer_has_every_tool_that_reads_and_none_that_writes() {
    for (form, server) in [
        (FolderForm::Plugin, PLUGIN_SERVER),
        (FolderForm::Shared, PLAIN_SERVER),
    ] {
        let profile = explorer(Client::ClaudeCode, form, &tools::all());
        for tool in tools::all() {
            let is_there = profile.contains(&format!("{server}__{}", tool.name));
            let is_wanted = tool.effect == Effect::Nothing && tool.name != "hello";
            assert_eq!(is_there, is_wanted, "{server} {}", tool.name);
        }
    }
}

#[test]
fn extensions_of_other_servers_are_left_to_them() {
    let taken = BTreeSet::from([".py".to_owned(), ".pyi".to_owned(), ".pyw".to_owned()]);
    let all = extensions(&BTreeSet::new());
    let left = extensions(&taken);
    assert_eq!((&all[".py"], left.get(".py")), (&Value::from("python"), None));
    assert_eq!(all.len() - left.len(), 3);
    assert_eq!(all[".tsx"], "typescriptreact");
    assert!(!all.contains_key(".md") && !all.contains_key(".json"));
    assert_eq!(count_languages(&BTreeSet::new()) - count_languages(&taken), 1);
}

#[test]
fn every_client_gets_the_parts_that_it_can_have() {
    for client in Client::ALL {
        let files = loose_files(client, &tools::all(), &PluginPart::ALL);
        let folders = |name: &str| files.iter().any(|file| file.path.starts_with(name));
        let has = |part| client.plugin_parts().contains(&part);
        assert_eq!(folders("skills/"), has(PluginPart::Skill), "{client:?}");
        assert_eq!(folders("agents/"), has(PluginPart::Explorer), "{client:?}");
        assert_eq!(folders("commands/"), has(PluginPart::Commands), "{client:?}");
        for PluginFile { path, text } in files {
            assert!(text.contains(OWN_FILE_MARK), "{path}");
            if Path::new(&path)
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let parsed: Result<toml::Table, _> = toml::from_str(&text);
                parsed.unwrap_or_else(|error| panic!("{path}: {error}"));
            }
        }
    }
}
