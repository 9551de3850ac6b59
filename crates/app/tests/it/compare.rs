//! `docent compare`: questions from commits, two agents, and a project that stays as it is.

use std::collections::BTreeMap;
use std::path::Path;

use docent_testkit::{JOHN, Sandbox};

use crate::sandbox;

/// Animals whose functions four commits change, after a first state with all of them.
fn zoo() -> Sandbox {
    let animals = ["narwhal", "walrus", "beluga", "octopus"];
    let text = |animal: &str, depth: u32| {
        format!(
            "def {animal}_depth(water):\n    reached_{animal} = water.depth - {depth}\n    return reached_{animal}\n\n\n\
             def {animal}_name():\n    return '{animal}'\n"
        )
    };
    let mut zoo = sandbox().file("README.md", "# Zoo\n");
    for animal in animals {
        zoo = zoo.file(&format!("sea/{animal}.py"), text(animal, 1));
    }
    let zoo = zoo.repository();
    zoo.commit("2025-10-01", JOHN, "Begin with all animals");
    for (day, animal) in (2..).zip(animals) {
        zoo.write(&format!("sea/{animal}.py"), text(animal, 2));
        zoo.commit(
            &format!("2025-10-0{day}"),
            JOHN,
            &format!("fix(sea): the {animal} dives one metre less deep (#{day})"),
        );
    }
    zoo
}

/// Every file below a directory with its content.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn both_agents_answer_questions_from_commits_at_the_state_before() {
    let zoo = zoo();
    let compared = zoo.run(&["compare", "--json"]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    let json = compared.json();
    let questions = json["questions"].as_array().unwrap();
    // Half of the history is the state before, the other half asks.
    assert_eq!(questions.len(), 2, "{json}");
    assert_eq!(questions[0]["question"], "the octopus dives one metre less deep");
    assert_eq!(questions[1]["question"], "the beluga dives one metre less deep");
    for who in ["docent", "grep"] {
        assert_eq!(json[who]["right"], 2, "{json}");
        let read: u64 = questions
            .iter()
            .map(|question| question[who]["characters"].as_u64().unwrap())
            .sum();
        assert_eq!(json[who]["characters"], read);
    }
    // A list of files is no answer, so grep needs a second call.
    assert_eq!(questions[0]["docent"]["calls"], 1);
    assert_eq!(questions[0]["grep"]["calls"], 2);

    let page = zoo.run(&["compare", "--questions", "1"]).stdout;
    assert!(
        page.starts_with("1 question from 2 commits, asked of 5 files"),
        "{page}"
    );
    assert!(
        page.contains("Both found 1, docent alone 0, grep alone 0, neither 0."),
        "{page}"
    );
    assert!(page.contains("What this cannot show"), "{page}");
}

#[test]
fn the_project_its_index_and_temporary_folders_stay_as_they_are() {
    let zoo = zoo();
    zoo.write("sea/narwhal.py", "being edited\n");
    zoo.run(&["index"]);
    // Hooks and filters of the repository must not run.
    zoo.write(".gitattributes", "* filter=spy\n");
    let hook = format!("touch {}/was-run", zoo.home().display());
    std::fs::write(zoo.root().join(".git/hooks/post-checkout"), &hook).unwrap();
    let config = zoo.root().join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        config,
        format!("{text}[filter \"spy\"]\n\tsmudge = {hook}\n\tclean = {hook}\n"),
    )
    .unwrap();
    let before = (files_below(&zoo.root()), files_below(&zoo.home()));
    let compared = zoo.run(&["compare", "--questions", "2"]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    assert_eq!((files_below(&zoo.root()), files_below(&zoo.home())), before);
    assert!(files_below(&zoo.temporary()).is_empty());
}

#[test]
fn without_questions_the_error_says_why() {
    let nothing = sandbox().file("a.py", "x = 1\n");
    let finished = nothing.run(&["compare"]);
    assert!(
        finished.code != 0 && finished.stderr.contains("the history cannot be read"),
        "{}",
        finished.stderr
    );
    let repository = nothing.repository();
    repository.commit("2025-10-01", JOHN, "Begin with a number");
    let finished = repository.run(&["compare"]);
    assert!(
        finished.code != 0 && finished.stderr.contains("there are no questions"),
        "{}",
        finished.stderr
    );
}
