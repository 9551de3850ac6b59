//! The subject line of a commit: its kind of change, its scope, and whether it says what was wrong.

/// A subject line, split by the rules of conventional commits.
pub(super) struct CommitSubject<'a> {
    kind: &'a str,
    pub(super) scope: Option<&'a str>,
    pub(super) text: &'a str,
}

/// Scopes and kinds of changes that do not change the program.
const HOUSEKEEPING: [&str; 24] = [
    "ci",
    "docs",
    "doc",
    "lint",
    "style",
    "build",
    "deps",
    "dep",
    "release",
    "changelog",
    "readme",
    "typo",
    "typos",
    "tests",
    "test",
    "chore",
    "wip",
    "merge",
    "bump",
    "formatting",
    "format",
    "i18n",
    "l10n",
    "translations",
];

/// Words of fixes that are not worth finding.
const TRIVIAL_WORDS: [&str; 52] = [
    "pylint",
    "eslint",
    "upgrade",
    "bump",
    "actions",
    "cont",
    "follow",
    "pipeline",
    "snapshots",
    "typo",
    "typos",
    "doc",
    "lint",
    "linter",
    "linting",
    "lints",
    "format",
    "formatting",
    "whitespace",
    "spelling",
    "grammar",
    "indentation",
    "changelog",
    "readme",
    "docs",
    "documentation",
    "comment",
    "comments",
    "docstring",
    "test",
    "tests",
    "spec",
    "specs",
    "ci",
    "build",
    "compile",
    "compilation",
    "warning",
    "warnings",
    "clippy",
    "nit",
    "nits",
    "review",
    "imports",
    "import",
    "link",
    "links",
    "merge",
    "conflict",
    "conflicts",
    "wording",
    "workflow",
];

/// Words of a subject that do not tell what was wrong.
const FILLER_WORDS: [&str; 40] = [
    "the", "this", "that", "these", "those", "and", "for", "from", "with", "another", "other", "some", "few",
    "several", "various", "many", "more", "small", "minor", "last", "first", "second", "third", "new", "old",
    "issue", "issues", "bug", "bugs", "problem", "problems", "error", "errors", "mistake", "mistakes",
    "stuff", "thing", "things", "again", "number",
];

impl<'a> CommitSubject<'a> {
    pub(super) fn of(subject: &'a str) -> Self {
        let subject = subject.trim();
        if let Some((head, text)) = subject.split_once(": ")
            && !head.contains(' ')
            && head.len() <= 60
        {
            let head = head.trim_end_matches('!');
            let (kind, scope) = match head.split_once('(') {
                Some((kind, rest)) => (kind, rest.strip_suffix(')')),
                None => (head, None),
            };
            if kind.bytes().all(|byte| byte.is_ascii_alphabetic()) {
                return Self {
                    kind,
                    scope: scope.filter(|scope| !scope.is_empty()),
                    text: text.trim(),
                };
            }
        }
        Self {
            kind: "",
            scope: None,
            text: subject,
        }
    }

    fn words(&self) -> impl Iterator<Item = String> + '_ {
        let words = self.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase)
    }

    /// The text without the number of its pull request.
    pub(super) fn title(&self) -> &'a str {
        let text = self.text;
        match text.rfind(" (#") {
            Some(at) if text.ends_with(')') => text[..at].trim_end(),
            _ => text,
        }
    }

    /// True if the text itself begins with "fix" and names a condition, as opposed to a change that is only
    /// labelled a fix.
    pub(super) fn is_specific(&self) -> bool {
        const CONDITIONS: [&str; 14] = [
            "when", "if", "on", "in", "for", "with", "without", "after", "before", "while", "during", "due",
            "so", "by",
        ];
        let words: Vec<String> = self.words().collect();
        let says_fix = words.first().is_some_and(|first| is_fix_word(first));
        says_fix && words.len() >= 5 && words.iter().any(|word| CONDITIONS.contains(&word.as_str()))
    }

    /// True for changes of tests, documentation, the build and the like.
    pub(super) fn is_housekeeping(&self) -> bool {
        let is = |word: &str| HOUSEKEEPING.iter().any(|other| word.eq_ignore_ascii_case(other));
        is(self.kind) || self.scope.is_some_and(is) || self.words().next().is_some_and(|first| is(&first))
    }

    /// True for a change that adds something.
    pub(super) fn is_addition(&self) -> bool {
        let first = self.words().next().unwrap_or_default();
        self.kind.eq_ignore_ascii_case("feat")
            || [
                "add",
                "adds",
                "added",
                "adding",
                "allow",
                "support",
                "implement",
                "enable",
            ]
            .contains(&first.as_str())
    }

    /// True for a fix.
    pub(super) fn is_fix(&self) -> bool {
        is_fix_word(&self.kind.to_ascii_lowercase())
            || self.words().next().is_some_and(|first| is_fix_word(&first))
    }

    /// How many words say something about the fault: no names of faults, no numbers, no words of every
    /// sentence.
    pub(super) fn count_telling_words(&self) -> usize {
        self.words()
            .filter(|word| {
                !is_fix_word(word)
                    && word.len() > 2
                    && !word.starts_with(|c: char| c.is_ascii_digit())
                    && !FILLER_WORDS.contains(&word.as_str())
            })
            .count()
    }

    /// True for a fix that says what was broken.
    pub(super) fn is_informative(&self) -> bool {
        let content: Vec<String> = self
            .words()
            .filter(|word| {
                !is_fix_word(word) && word.len() > 2 && !word.bytes().all(|byte| byte.is_ascii_digit())
            })
            .collect();
        let is_trivial = |word: &String| TRIVIAL_WORDS.contains(&word.as_str());
        content.len() >= 3 && !content.iter().any(is_trivial) && !self.text.contains('…')
    }
}

fn is_fix_word(word: &str) -> bool {
    ["fix", "fixes", "fixed", "fixing", "bugfix", "hotfix"].contains(&word)
}
