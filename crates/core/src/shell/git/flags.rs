//! The flags of git that docent knows, by command.
//!
//! Left out on purpose: `--ext-diff`, `--textconv`, `--show-signature` (they run programs), `--output`
//! (writes),
//! `-O`, `--stdin`, `--no-index`, `--contents` (they read other files), `--color`, `--word-diff`,
//! `--line-prefix`, `--src-prefix` (their patches cannot be read), `--binary`, `--remerge-diff`.
//!
//! Invariant: a flag in a table means the same to every version of git that docent accepts.

use super::GitCommand;

/// A flag of git.
#[derive(Clone, Copy, Debug)]
pub(super) struct GitFlag {
    name: &'static str,
    pub(super) value: FlagValue,
    pub(super) effect: FlagEffect,
}

/// Where the value of a flag stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagValue {
    None,
    /// `--stat` or `--stat=80`.
    Optional,
    /// `--since=DATE` or `--since DATE`.
    Required,
    /// `--format=FORMAT` only.
    Attached,
    /// `-U5` or `-U 5`.
    Letter,
    /// `-M` or `-M90%`.
    OptionalLetter,
}

/// What a flag changes about the form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagEffect {
    None,
    Patch,
    NoPatch,
    Stat,
    /// A form for programs.
    Machine,
    /// Entries that end with a NUL.
    Nul,
    Oneline,
    Graph,
    /// The value is a format of commits.
    Format,
}

impl GitFlag {
    /// The match if the word is this flag.
    pub(super) fn match_word<'a>(&self, word: &'a str) -> Option<FlagMatch<'a>> {
        let rest = word.strip_prefix(self.name)?;
        let attached = || rest.strip_prefix('=').map(FlagMatch::WithValue);
        match self.value {
            _ if rest.is_empty() && self.value != FlagValue::Attached => Some(FlagMatch::Alone),
            FlagValue::None => None,
            FlagValue::Attached | FlagValue::Optional | FlagValue::Required => attached(),
            FlagValue::Letter | FlagValue::OptionalLetter => Some(FlagMatch::WithValue(rest)),
        }
    }
}

/// How a word is a flag: alone, or with a value in the same word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlagMatch<'a> {
    Alone,
    WithValue(&'a str),
}

/// The tables of a command.
pub(super) fn tables(command: GitCommand) -> &'static [&'static [GitFlag]] {
    match command {
        GitCommand::Log | GitCommand::Show => &[DIFFERENCES, COMMITS],
        GitCommand::Diff => &[DIFFERENCES, DIFF],
        GitCommand::Blame => &[BLAME],
        GitCommand::Status => &[STATUS],
    }
}

const fn flag(name: &'static str, effect: FlagEffect) -> GitFlag {
    GitFlag {
        name,
        value: FlagValue::None,
        effect,
    }
}

const fn with(name: &'static str, value: FlagValue, effect: FlagEffect) -> GitFlag {
    GitFlag { name, value, effect }
}

const fn plain(name: &'static str) -> GitFlag {
    flag(name, FlagEffect::None)
}

const fn valued(name: &'static str, value: FlagValue) -> GitFlag {
    with(name, value, FlagEffect::None)
}

/// Flags of differences, for `log`, `show` and `diff`.
const DIFFERENCES: &[GitFlag] = &[
    flag("-p", FlagEffect::Patch),
    flag("-u", FlagEffect::Patch),
    flag("--patch", FlagEffect::Patch),
    flag("--patch-with-stat", FlagEffect::Patch),
    with("-U", FlagValue::Letter, FlagEffect::Patch),
    with("--unified", FlagValue::Required, FlagEffect::Patch),
    flag("-s", FlagEffect::NoPatch),
    flag("--no-patch", FlagEffect::NoPatch),
    with("--stat", FlagValue::Optional, FlagEffect::Stat),
    with("--stat-width", FlagValue::Attached, FlagEffect::Stat),
    with("--stat-name-width", FlagValue::Attached, FlagEffect::Stat),
    with("--stat-count", FlagValue::Attached, FlagEffect::Stat),
    flag("--shortstat", FlagEffect::Stat),
    flag("--summary", FlagEffect::Stat),
    flag("--compact-summary", FlagEffect::Stat),
    flag("--name-only", FlagEffect::Machine),
    flag("--name-status", FlagEffect::Machine),
    flag("--numstat", FlagEffect::Machine),
    flag("--raw", FlagEffect::Machine),
    flag("-z", FlagEffect::Nul),
    plain("-w"),
    plain("-b"),
    plain("--ignore-all-space"),
    plain("--ignore-space-change"),
    plain("--ignore-space-at-eol"),
    plain("--ignore-cr-at-eol"),
    plain("--ignore-blank-lines"),
    plain("--minimal"),
    plain("--patience"),
    plain("--histogram"),
    valued("--diff-algorithm", FlagValue::Required),
    valued("--inter-hunk-context", FlagValue::Required),
    plain("--no-renames"),
    valued("-M", FlagValue::OptionalLetter),
    valued("--find-renames", FlagValue::Optional),
    plain("--find-copies-harder"),
    valued("--find-copies", FlagValue::Optional),
    valued("-C", FlagValue::OptionalLetter),
    plain("-W"),
    plain("--function-context"),
    plain("-R"),
    plain("--full-index"),
    plain("-a"),
    plain("--text"),
    valued("--abbrev", FlagValue::Optional),
    plain("--no-color"),
    plain("--no-ext-diff"),
    plain("--no-textconv"),
    plain("--no-prefix"),
    plain("--relative"),
    plain("--no-relative"),
    valued("--diff-filter", FlagValue::Required),
    valued("-S", FlagValue::Letter),
    valued("-G", FlagValue::Letter),
    plain("--pickaxe-regex"),
    plain("--pickaxe-all"),
];

/// Flags of `git diff` alone.
const DIFF: &[GitFlag] = &[
    plain("--cached"),
    plain("--staged"),
    plain("--merge-base"),
    plain("--exit-code"),
    flag("--quiet", FlagEffect::NoPatch),
    flag("--check", FlagEffect::Machine),
];

/// Flags that select and describe commits.
const COMMITS: &[GitFlag] = &[
    flag("--oneline", FlagEffect::Oneline),
    with("--format", FlagValue::Attached, FlagEffect::Format),
    with("--pretty", FlagValue::Optional, FlagEffect::Format),
    flag("--graph", FlagEffect::Graph),
    flag("--cc", FlagEffect::Patch),
    valued("-n", FlagValue::Letter),
    valued("--max-count", FlagValue::Required),
    valued("--skip", FlagValue::Required),
    valued("--since", FlagValue::Required),
    valued("--after", FlagValue::Required),
    valued("--until", FlagValue::Required),
    valued("--before", FlagValue::Required),
    valued("--author", FlagValue::Required),
    valued("--committer", FlagValue::Required),
    valued("--grep", FlagValue::Required),
    valued("--date", FlagValue::Required),
    plain("-i"),
    plain("--regexp-ignore-case"),
    plain("-E"),
    plain("--extended-regexp"),
    plain("-F"),
    plain("--fixed-strings"),
    plain("-P"),
    plain("--perl-regexp"),
    plain("--all-match"),
    plain("--invert-grep"),
    plain("--merges"),
    plain("--no-merges"),
    plain("--first-parent"),
    plain("--all"),
    valued("--branches", FlagValue::Optional),
    valued("--tags", FlagValue::Optional),
    valued("--remotes", FlagValue::Optional),
    plain("--not"),
    plain("--reverse"),
    plain("--date-order"),
    plain("--topo-order"),
    plain("--author-date-order"),
    valued("--decorate", FlagValue::Optional),
    plain("--no-decorate"),
    plain("--abbrev-commit"),
    plain("--no-abbrev-commit"),
    plain("--relative-date"),
    plain("--follow"),
    plain("--full-history"),
    plain("--simplify-merges"),
    plain("--simplify-by-decoration"),
    valued("--ancestry-path", FlagValue::Optional),
    plain("--left-right"),
    plain("--left-only"),
    plain("--right-only"),
    plain("--cherry-pick"),
    plain("--cherry-mark"),
    plain("--cherry"),
    plain("--boundary"),
    plain("--no-walk"),
    plain("--full-diff"),
    plain("--no-notes"),
    plain("--no-mailmap"),
    plain("--use-mailmap"),
];

/// Flags of `git blame`.
const BLAME: &[GitFlag] = &[
    valued("-L", FlagValue::Letter),
    plain("-w"),
    plain("-s"),
    plain("-e"),
    plain("--show-email"),
    plain("-l"),
    plain("-t"),
    plain("-f"),
    plain("--show-name"),
    plain("-n"),
    plain("--show-number"),
    plain("--root"),
    plain("-M"),
    plain("-C"),
    plain("--first-parent"),
    valued("--abbrev", FlagValue::Attached),
    valued("--date", FlagValue::Required),
    valued("--since", FlagValue::Attached),
    flag("-p", FlagEffect::Machine),
    flag("--porcelain", FlagEffect::Machine),
    flag("--line-porcelain", FlagEffect::Machine),
];

/// Flags of `git status`.
const STATUS: &[GitFlag] = &[
    plain("-s"),
    plain("--short"),
    plain("-b"),
    plain("--branch"),
    plain("-sb"),
    plain("-bs"),
    plain("--long"),
    plain("--show-stash"),
    plain("--ahead-behind"),
    plain("--no-ahead-behind"),
    plain("--no-renames"),
    valued("--find-renames", FlagValue::Optional),
    valued("--untracked-files", FlagValue::Optional),
    valued("-u", FlagValue::OptionalLetter),
    plain("-suno"),
    plain("-sno"),
    plain("-suall"),
    valued("--ignored", FlagValue::Optional),
    with("--porcelain", FlagValue::Optional, FlagEffect::Machine),
    flag("-z", FlagEffect::Nul),
];
