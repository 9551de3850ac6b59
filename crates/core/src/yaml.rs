//! Limits for YAML from a project, so that aliases cannot make parsing cost more than the length of the text.

use serde_saphyr::{Budget, Options};

/// Parser options for untrusted YAML.
pub(crate) fn bounded_options() -> Options {
    let mut budget = Budget::default();
    budget.max_aliases = 100;
    budget.max_anchors = 100;
    budget.max_nodes = 20_000;
    budget.max_depth = 50;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.with_snippet = false;
    options
}
