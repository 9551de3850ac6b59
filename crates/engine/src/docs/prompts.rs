//! Prompt templates of the project, which lie beside its pages.
//!
//! Their syntax is in `core`.
//!
//! Invariant: the number and the size of templates are bounded.

use std::collections::BTreeMap;

use docent_core::docs::Problem;
use docent_core::docs::prompt::{Prompt, prompt_name};
use docent_core::path::RepoPath;

use crate::files::{Root, lossy_text};

/// Prompts by name, and the problems of templates that cannot be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    pub known: BTreeMap<String, Prompt>,
    pub problems: Vec<(RepoPath, Problem)>,
}

/// Limits for the number of templates and the size of one.
const MAX_TEMPLATES: usize = 1_000;
const MAX_TEMPLATE_BYTES: u64 = 64 << 10;

/// Reads templates. Of two with the same name, the YAML one is used.
pub fn prompts(root: &Root, templates: &[RepoPath]) -> Prompts {
    let mut prompts = Prompts::default();
    for path in templates.iter().take(MAX_TEMPLATES) {
        let Some(name) = prompt_name(path.as_str()) else {
            continue;
        };
        let read = root
            .read(path, MAX_TEMPLATE_BYTES)
            .map_err(|error| Problem::at_top(error.to_string()))
            .and_then(|content| Prompt::parse(path.as_str(), &lossy_text(content.bytes)));
        match read {
            // `.md` sorts before `.yaml`, so the second insertion wins.
            Ok(prompt) => drop(prompts.known.insert(name.to_owned(), prompt)),
            Err(problem) => prompts.problems.push((path.clone(), problem)),
        }
    }
    prompts
}
