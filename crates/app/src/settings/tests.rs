//! Tests of which source wins, and of what a project's file may not set.

use std::collections::BTreeMap;
use std::fs;

use super::*;

struct Bench {
    directory: tempfile::TempDir,
    variables: BTreeMap<String, String>,
    flags: Flags,
}

fn bench() -> Bench {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("project/.context")).unwrap();
    fs::create_dir_all(directory.path().join("user/docent")).unwrap();
    let variables = BTreeMap::from([(
        "XDG_CONFIG_HOME".to_owned(),
        directory.path().join("user").display().to_string(),
    )]);
    let flags = Flags {
        root: Some(directory.path().join("project")),
        set: Vec::new(),
    };
    Bench {
        directory,
        variables,
        flags,
    }
}

impl Bench {
    fn project(self, text: &str) -> Self {
        fs::write(self.directory.path().join("project/.context/config.toml"), text).unwrap();
        self
    }

    fn user(self, text: &str) -> Self {
        fs::write(self.directory.path().join("user/docent/config.toml"), text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.flags.set.push((name.into(), value.into()));
        self
    }

    fn resolve(&self) -> anyhow::Result<Settings> {
        Settings::resolve(
            &self.flags,
            &|name| self.variables.get(name).map(Into::into),
            &[DefaultLimit {
                tool: "hello",
                per_minute: 100,
                per_minute_paid: None,
            }],
        )
    }

    fn error(&self) -> String {
        format!("{:#}", self.resolve().err().expect("an error"))
    }
}

/// The value of `answer.max_chars` and where it came from.
fn answer(bench: &Bench) -> (usize, ValueOrigin) {
    let settings = bench.resolve().unwrap();
    let entry = settings
        .entries
        .iter()
        .find(|entry| entry.key.name == "answer.max_chars")
        .unwrap();
    (settings.limits.answer_chars, entry.origin.clone())
}

#[test]
fn flags_beat_variables_beat_the_project_beat_the_user_beat_defaults() {
    let bench = bench();
    assert_eq!(answer(&bench), (20_000, ValueOrigin::Default));
    let bench = bench.user("[answer]\nmax_chars = 2001");
    assert_eq!(
        answer(&bench),
        (
            2001,
            ValueOrigin::File(bench.directory.path().join("user/docent/config.toml"))
        )
    );
    let bench = bench.project("answer.max_chars = 2002");
    let file = bench
        .directory
        .path()
        .canonicalize()
        .unwrap()
        .join("project/.context/config.toml");
    assert_eq!(answer(&bench), (2002, ValueOrigin::File(file)));
    let bench = bench.variable("DOCENT_ANSWER_MAX_CHARS", "2003");
    assert_eq!(
        answer(&bench),
        (2003, ValueOrigin::Variable("DOCENT_ANSWER_MAX_CHARS".into()))
    );
    let bench = bench.set("answer.max_chars", "2004");
    assert_eq!(answer(&bench), (2004, ValueOrigin::Flag("--set")));
}

#[test]
fn a_project_cannot_reach_beyond_itself() {
    let bench = bench()
        .project("http.token = \"\"\nlog.file = \"/tmp/x\"\nanswer.max_chars = 2005")
        .user("http.token = \"mine\"");
    let settings = bench.resolve().unwrap();
    assert_eq!(settings.http.token.as_deref(), Some("mine"));
    assert_eq!(settings.log.file, None);
    assert_eq!(settings.limits.answer_chars, 2005);
    assert_eq!(settings.warnings.len(), 2, "{:?}", settings.warnings);
}

#[test]
fn directories_for_git_are_absolute_and_the_users() {
    let directories = |bench: Bench| {
        let settings = bench.resolve().unwrap();
        (settings.surroundings.allowed_directories, settings.warnings)
    };
    let (allowed, warnings) = directories(bench().project("git.allowed_directories = [\"/\"]"));
    assert!(
        allowed.is_empty() && warnings[0].contains("is not taken from a project"),
        "{warnings:?}"
    );
    let (allowed, warnings) = directories(bench().user("git.allowed_directories = [\"../x\", \"/srv/git\"]"));
    assert_eq!(allowed, [PathBuf::from("/srv/git")]);
    assert_eq!(
        warnings,
        ["git.allowed_directories names ../x, which is not an absolute path"]
    );
    let (allowed, _) = directories(bench().variable("DOCENT_GIT_ALLOWED_DIRECTORIES", "/a, /b"));
    assert_eq!(allowed, [PathBuf::from("/a"), PathBuf::from("/b")]);
}

#[test]
fn blocked_paths_add_up_so_that_a_project_cannot_take_any_away() {
    let blocked = |project: &str| {
        let settings = bench()
            .project(project)
            .user("access.blocked = [\"*.mine\"]")
            .resolve()
            .unwrap();
        ["a.sqlite", "a.mine", ".env", "a.rs"]
            .map(|path| !settings.root.access().allows(&RepoPath::parse(path).unwrap()))
    };
    assert_eq!(
        blocked("access.blocked = [\"*.sqlite\"]"),
        [true, true, true, false]
    );
    assert_eq!(blocked("access.blocked = []"), [false, true, true, false]);
}

#[test]
fn unknown_names_are_a_warning_in_files_and_an_error_in_flags() {
    let settings = bench().user("answer.max_char = 1").resolve().unwrap();
    assert!(
        settings.warnings[0].ends_with("there is no setting answer.max_char"),
        "{:?}",
        settings.warnings
    );
    assert!(
        bench()
            .set("nope", "1")
            .error()
            .starts_with("there is no setting nope")
    );
}

#[test]
fn values_of_the_wrong_kind_name_the_place_and_what_is_wanted() {
    assert_eq!(
        bench().variable("DOCENT_ANSWER_MAX_CHARS", "many").error(),
        "DOCENT_ANSWER_MAX_CHARS: answer.max_chars must be a whole number"
    );
    assert!(
        bench()
            .user("log.level = \"loud\"")
            .error()
            .ends_with("log.level must be one of off, error, warn, info, debug, trace")
    );
    assert!(
        bench()
            .user("access.blocked = \"x\"")
            .error()
            .ends_with("access.blocked must be a list of strings")
    );
    assert!(
        bench()
            .user("limit.hello = -1")
            .error()
            .ends_with("limit.hello must be a whole number, 0 or more")
    );
    assert!(
        bench()
            .set("access.blocked", "{a")
            .error()
            .contains("`{a` is not a pattern")
    );
}

#[test]
fn a_wrong_value_of_a_project_is_a_warning_and_the_next_source_counts() {
    let bench = bench()
        .project("answer.max_chars = 3\ncall.timeout_seconds = 0")
        .user("answer.max_chars = 2001");
    let settings = bench.resolve().unwrap();
    assert_eq!(settings.limits.answer_chars, 2001);
    assert_eq!(settings.limits.call_time, Duration::from_secs(30));
    assert!(settings.has_project_warnings);
    let warnings = settings.warnings.join("\n");
    assert!(
        warnings
            .contains("answer.max_chars must be a whole number from 2000 to 10000000; the value is ignored")
            && warnings.contains("call.timeout_seconds must be a whole number from 1 to 86400"),
        "{warnings}"
    );
    for text in ["= 1", "answer.max_chars", "\"\\q\" = 1"] {
        let settings = bench_with_project(text).resolve().unwrap();
        assert_eq!(settings.limits.answer_chars, 20_000);
        assert!(
            settings.warnings[0].contains(".context/config.toml: the file is ignored: line 1: "),
            "{:?}",
            settings.warnings
        );
    }
}

fn bench_with_project(text: &str) -> Bench {
    bench().project(text)
}

#[test]
fn of_a_projects_list_only_the_wrong_items_are_ignored() {
    let settings = bench()
        .project("access.blocked = [\"*.sqlite\", \"{a\", 3]\ndocs.directories = [\"../x\", \"docs\"]")
        .resolve()
        .unwrap();
    let blocks = |path: &str| !settings.root.access().allows(&RepoPath::parse(path).unwrap());
    assert!(blocks("a.sqlite") && !blocks("{a"));
    let pages: Vec<&str> = settings.index.pages.iter().map(RepoPath::as_str).collect();
    assert_eq!(pages, ["docs"]);
    let ignored = settings
        .warnings
        .iter()
        .filter(|warning| warning.ends_with("the item is ignored"));
    assert_eq!(ignored.count(), 3, "{:?}", settings.warnings);
}

#[test]
fn very_many_mistakes_of_a_project_are_counted() {
    let lines: Vec<String> = (0..2_000).map(|at| format!("unknown{at} = 1")).collect();
    let settings = bench().project(&lines.join("\n")).resolve().unwrap();
    assert_eq!(settings.warnings.len(), 11);
    assert!(settings.warnings[10].ends_with("1990 more like these"));
}

#[test]
fn the_root_is_the_one_named_or_the_clients() {
    let mut bench = bench();
    assert_eq!(bench.resolve().unwrap().root_origin, ValueOrigin::Flag("--root"));
    let project = bench.flags.root.take().unwrap();
    let bench = bench.variable("CLAUDE_PROJECT_DIR", project.to_str().unwrap());
    assert_eq!(
        bench.resolve().unwrap().root_origin,
        ValueOrigin::Variable("CLAUDE_PROJECT_DIR".into())
    );
    let bench = bench.variable("DOCENT_ROOT", "/does/not/exist");
    assert_eq!(
        bench.error(),
        "there is no directory /does/not/exist; check DOCENT_ROOT, which names the project's directory"
    );
}
