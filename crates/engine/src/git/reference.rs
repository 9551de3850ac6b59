//! References as callers write them, and the abbreviated ids in them.
//!
//! git accepts the first four digits of an id. A caller could try all 65,536 of them in seconds and so list
//! commits that no branch leads to, so more digits are required here.
//!
//! Invariant: git never sees a shorter id than [`MIN_ID_DIGITS`] where it would complete it.

use super::{GitError, Repository, command};
use crate::deadline::Deadline;

/// Digits that an abbreviated id needs, as many as git shows by default.
pub const MIN_ID_DIGITS: usize = 7;

/// Longer lists of references whose names begin like the requested one are an error.
const MAX_REF_LIST_BYTES: u64 = 4 << 20;

/// Prefixes of references by which git completes a name, in its order.
const REF_PREFIXES: [&str; 4] = ["refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];

impl Repository {
    /// Resolves a reference to a commit. `None` if there is none.
    pub(super) fn find_commit(
        &self,
        reference: &str,
        deadline: &Deadline,
    ) -> Result<Option<String>, GitError> {
        let full;
        let given = reference;
        let refuse = || GitError::ShortId(given.to_owned());
        let (mut reference, mut unresolved) = (given, given);
        if let Some((name, rest)) = split_short_id(reference) {
            let found = self.find_ref(name, deadline)?.ok_or_else(refuse)?;
            full = format!("{found}{rest}");
            (reference, unresolved) = (&full, rest);
        }
        if has_short_describe_id(unresolved) {
            return Err(refuse());
        }
        if reference.contains(":/") || reference.contains("{/") {
            return self.search_messages(reference, deadline);
        }
        let name = format!("{reference}^{{commit}}");
        let object = self.objects.find(&name, deadline)?;
        Ok(object
            .filter(|object| object.kind == "commit")
            .map(|object| object.id))
    }

    /// The full name of a branch, tag or remote, which git does not take for an id if it exists.
    fn find_ref(&self, name: &str, deadline: &Deadline) -> Result<Option<String>, GitError> {
        let names: Vec<String> = REF_PREFIXES
            .iter()
            .map(|prefix| format!("{prefix}{name}"))
            .chain([format!("refs/remotes/{name}/HEAD")])
            .collect();
        // A lookup of the object would complete an id at the end of `refs/tags/v1.0-3-gabcd` too.
        let mut command = self.runner.command("for-each-ref");
        command.arg("--format=%(refname)").args(&names);
        let listed = command::read_text(command, MAX_REF_LIST_BYTES, deadline)?;
        // The arguments are patterns, which match more than these names.
        let listed: Vec<&str> = listed.lines().collect();
        Ok(names.into_iter().find(|name| listed.contains(&name.as_str())))
    }
}

/// Splits a reference behind a name that git could take for an abbreviated id with too few digits: `abcd`, or
/// `v1.0-3-gabcd` as `git describe` writes it. `None` for all other references.
fn split_short_id(reference: &str) -> Option<(&str, &str)> {
    let end = reference.find(['^', '~', ':']).unwrap_or(reference.len());
    let end = reference.find("@{").map_or(end, |at| at.min(end));
    let (name, rest) = reference.split_at(end);
    let digits = name.rsplit_once("-g").map_or(name, |(_, digits)| digits);
    let is_short_id =
        (1..MIN_ID_DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_short_id.then_some((name, rest))
}

/// Whether git could take a part of a reference for the output of `git describe` with too few digits. It
/// looks for `-g` and digits at the end of everything that is left without suffixes: `HEAD~0-gabcd`,
/// `x:-gabcd`.
fn has_short_describe_id(reference: &str) -> bool {
    reference.match_indices("-g").any(|(at, _)| {
        let rest = &reference[at + 2..];
        let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        let is_end = rest[digits..].chars().next().is_none_or(|c| "^~:@".contains(c));
        (1..MIN_ID_DIGITS).contains(&digits) && is_end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_behind_suffixes_are_found() {
        for reference in [
            "HEAD~0-g8754",
            "HEAD^2-g8754",
            "x:-g8754",
            "x@{-g8754",
            "x~-g8754^",
            ":/x-g8754",
            "x~-g87~-g8754ab9",
        ] {
            assert!(has_short_describe_id(reference), "{reference}");
        }
        for reference in [
            "HEAD~2",
            "x~-g8754ab9",
            "main-green",
            "HEAD^{/add -g option}",
            "-g",
        ] {
            assert!(!has_short_describe_id(reference), "{reference}");
        }
    }

    #[test]
    fn short_ids_are_found_in_every_form() {
        for (reference, expected) in [
            ("abcd", Some(("abcd", ""))),
            ("ABCDEF", Some(("ABCDEF", ""))),
            ("abcd^", Some(("abcd", "^"))),
            ("abcd~2^2", Some(("abcd", "~2^2"))),
            ("abcd@{1}", Some(("abcd", "@{1}"))),
            ("abcd^{/fix: x}", Some(("abcd", "^{/fix: x}"))),
            ("abcd:file", Some(("abcd", ":file"))),
            ("v1.0-3-gabcd", Some(("v1.0-3-gabcd", ""))),
            ("-g-gabcd~1", Some(("-g-gabcd", "~1"))),
            ("abcdef0", None),
            ("v1.0-3-gabcdef0", None),
            ("HEAD", None),
            ("@", None),
            ("@{1}", None),
            (":/abcd", None),
            ("heads/abcd", None),
            ("v1-gabcd-x", None),
            ("", None),
        ] {
            assert_eq!(split_short_id(reference), expected, "{reference}");
        }
    }
}
