//! What `docent --version` says of the build: commit and date, profile, features.
//!
//! The commit is that of `SOURCE_COMMIT` (with its day from `SOURCE_DATE_EPOCH`), as packagers set them, else
//! git's. The time of the build is left out: the same source makes the same bytes. A development build leaves
//! out the commit too, because its source changes without one; otherwise every commit would compile the crate
//! again.
//!
//! Invariant: git is asked only about a repository whose root is this workspace, not about one around it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=SOURCE_COMMIT");
    println!("cargo::rerun-if-env-changed=SOURCE_DATE_EPOCH");
    let profile = profile();
    let source = if profile == "debug" {
        "development build".to_owned()
    } else {
        from_packager()
            .or_else(from_git)
            .unwrap_or_else(|| "built outside git, commit unknown".to_owned())
    };
    let version = variable("CARGO_PKG_VERSION").unwrap_or_default();
    let features = match features().as_slice() {
        [] => "no features".to_owned(),
        features => format!("features: {}", features.join(", ")),
    };
    println!("cargo::rustc-env=DOCENT_LONG_VERSION={version} ({source}, {profile}, {features})");
}

/// The profile's name. Cargo's own variable knows `release` and `debug` only, so it is read from the
/// directory: `target/PROFILE/build/docent-HASH/out`.
fn profile() -> String {
    let out = variable("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let directory = out.ancestors().nth(3).and_then(Path::file_name);
    let name = directory.and_then(OsStr::to_str).map(str::to_owned);
    name.or_else(|| variable("PROFILE")).unwrap_or_default()
}

/// The features that are on, by name.
fn features() -> Vec<String> {
    let mut features: Vec<String> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter_map(|name| {
            Some(
                name.strip_prefix("CARGO_FEATURE_")?
                    .to_ascii_lowercase()
                    .replace('_', "-"),
            )
        })
        .filter(|name| name != "default")
        .collect();
    features.sort_unstable();
    features
}

fn from_packager() -> Option<String> {
    let given = variable("SOURCE_COMMIT")?;
    let commit: String = given
        .chars()
        .take_while(char::is_ascii_hexdigit)
        .take(9)
        .collect();
    let seconds = variable("SOURCE_DATE_EPOCH").and_then(|seconds| seconds.parse().ok());
    let day = seconds
        .map(|seconds| format!(" {}", day_of(seconds)))
        .unwrap_or_default();
    (commit.len() >= 7).then(|| commit + &day)
}

fn from_git() -> Option<String> {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")?)
        .join("../..")
        .canonicalize()
        .ok()?;
    // Without one of its own, git would answer for a repository around the sources.
    if !root.join(".git").exists() {
        return None;
    }
    for name in ["HEAD", "logs/HEAD", "packed-refs"] {
        watch(&root, name);
    }
    if let Some(branch) = git(&root, &["symbolic-ref", "--quiet", "HEAD"]) {
        watch(&root, &branch);
    }
    let commit = git(&root, &["log", "-1", "--abbrev=9", "--format=%h %cs"])?;
    (!commit.is_empty()).then_some(commit)
}

/// Runs again when a file of the repository changes. Cargo would run always for one that does not exist.
fn watch(root: &Path, name: &str) {
    if let Some(path) = git(root, &["rev-parse", "--git-path", name])
        && root.join(&path).exists()
    {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells build scripts everything by variables"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// The day of a time in seconds since 1970, as `2026-11-19`.
fn day_of(seconds: i64) -> String {
    // Days are counted from the first of March of the year 0, so that leap days come last.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + carry)
}
