//! Prints every discovery of a project as a line of JSON, so that a sample can be judged by hand
//! (`eval/discoveries`). It extracts them as the index does, without a search: `search.rs` measures those.
//!
//!     cargo run --release -p docent-engine --example discoveries -- DIR [COMMITS]

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for measuring, not part of docent"
)]

use std::path::Path;

use docent_core::access::Access;
use docent_core::discovery::{
    Discovery, Origins, drop_near_duplicates, extract_from_commit, extract_from_file,
};
use docent_core::language::Language;
use docent_engine::clock::Clock;
use docent_engine::deadline::Deadline;
use docent_engine::files::Root;
use docent_engine::git::{Git, GitEnvironment};
use docent_engine::walk::{self, VisitOutcome};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().expect("a directory");
    let commits: usize = arguments
        .next()
        .map_or(10_000, |count| count.parse().expect("a number"));
    let root = Root::open(Path::new(&directory), Access::new([]).expect("no rules")).expect("a directory");
    let deadline = Deadline::default();

    let mut found: Vec<(String, Discovery)> = Vec::new();
    let (sender, receiver) = std::sync::mpsc::channel();
    walk::visit_files(&root, &[], &deadline, || {
        let (sender, root) = (sender.clone(), root.clone());
        move |listed| {
            let path = listed.path();
            if let Ok(content) = root.read(path, 4 << 20)
                && let Ok(text) = String::from_utf8(content.bytes)
            {
                for one in extract_from_file(path, Language::of_file(path, &text), &text, &Origins::default())
                {
                    sender
                        .send((path.to_string(), one))
                        .expect("the receiver is there");
                }
            }
            VisitOutcome::Continue
        }
    });
    drop(sender);
    found.extend(receiver);
    found.sort_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| {
            a.1.lines
                .as_ref()
                .map(|l| *l.start())
                .cmp(&b.1.lines.as_ref().map(|l| *l.start()))
        })
    });

    let surroundings = GitEnvironment {
        search: std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
        temporary: std::env::temp_dir(),
        ..GitEnvironment::default()
    };
    let git = Git::new(root, surroundings, Clock::System, None);
    let ids = git.recent(commits, &deadline).unwrap_or_default();
    for batch in ids.chunks(500) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        for message in git
            .messages(&batch, &deadline)
            .expect("the repository can be read")
        {
            found.extend(extract_from_commit(&message).map(|one| (format!("commit {}", message.id), one)));
        }
    }
    let mut merged: Vec<Discovery> = found.iter().map(|(_, one)| one.clone()).collect();
    let before = merged.len();
    drop_near_duplicates(&mut merged);
    eprintln!("{before} discoveries, {} after merging", merged.len());
    for (place, one) in found {
        if let Some(at) = merged.iter().position(|kept| *kept == one) {
            merged.swap_remove(at);
            let mut line = serde_json::to_value(&one).expect("plain data");
            line["place"] = place.into();
            println!("{line}");
        }
    }
}
