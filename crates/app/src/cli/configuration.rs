//! `docent config`: every setting, its value, and the source of the value.
//!
//! Invariant: a secret is never printed, only that it is set.

use std::process::ExitCode;

use crate::settings::{ResolvedSetting, Settings};
use crate::terminal::TerminalPage;

pub(super) fn show(settings: &Settings, mut page: TerminalPage) -> anyhow::Result<ExitCode> {
    let width = settings
        .entries
        .iter()
        .map(|entry| entry.key.name.len())
        .max()
        .unwrap_or_default();
    let root = settings.root.path().display().to_string();
    page.row("root", width, &root, &settings.root_origin.to_string())?;
    for entry in &settings.entries {
        page.row(
            &entry.key.name,
            width,
            &format_value(entry),
            &entry.origin.to_string(),
        )?;
    }
    settings
        .warnings
        .iter()
        .try_for_each(|warning| page.note(&format!("warning: {warning}")))?;
    page.finish()?;
    Ok(if settings.warnings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn format_value(entry: &ResolvedSetting) -> String {
    let empty = entry.value.as_str().is_some_and(str::is_empty);
    if entry.key.secret && !empty {
        "[set]".to_owned()
    } else {
        entry.value.to_string()
    }
}
