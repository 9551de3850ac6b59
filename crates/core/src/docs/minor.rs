//! Minor pages: changelogs, templates and fixtures. They have the words of guides, but do not explain them,
//! so guides stand before them in search results.

use crate::path::RepoPath;
use crate::role::FileRole;
use crate::text::tokens::words;

/// True if a page is no guide by its path.
pub fn is_minor(path: &RepoPath) -> bool {
    matches!(
        FileRole::of(path),
        FileRole::Changelog | FileRole::IssueTemplate | FileRole::Fixture | FileRole::Translation
    )
}

/// True if a query asks for what minor pages say: releases, changes, templates.
pub fn asks_for_minor(query: &str) -> bool {
    const ASKING: [&str; 4] = ["changelog", "releas", "templat", "fixtur"];
    let is_version = |word: &str| {
        let number = word.trim_start_matches(['v', 'V']);
        number.contains('.')
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number
                .split('.')
                .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    words(query).iter().any(|word| ASKING.contains(&word.as_str()))
        || query
            .split_whitespace()
            .any(|word| is_version(word.trim_end_matches(['?', '.', ','])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_for_releases_asks_for_changelogs() {
        let check = |query: &str, expected: bool| assert_eq!(asks_for_minor(query), expected, "{query}");
        check("what is in release 2", true);
        check("changelog", true);
        check("breaking changes of v1.22.3?", true);
        check("how to configure ssh", false);
        check("how do I change the password.", false);
    }

    #[test]
    fn changelogs_and_templates_are_minor() {
        let check = |path: &str, expected: bool| {
            assert_eq!(is_minor(&RepoPath::parse(path).unwrap()), expected, "{path}");
        };
        check("CHANGELOG.md", true);
        check(".github/ISSUE_TEMPLATE/bug.md", true);
        check("docs/install.md", false);
        check("README.zh-CN.md", false);
    }
}
