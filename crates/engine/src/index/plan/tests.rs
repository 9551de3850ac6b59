//! Rules of planning, and properties that hold for every project and every index.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

use super::*;

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).unwrap()
}

fn stamp(changed: i64) -> Stamp {
    Stamp {
        changed,
        ..Stamp::default()
    }
}

fn row(changed: i64, rules: u64) -> IndexedFile {
    IndexedFile {
        stamp: stamp(changed),
        rules,
        ..IndexedFile::default()
    }
}

fn with_hash(hash: u64) -> IndexedFile {
    IndexedFile {
        hash,
        ..IndexedFile::default()
    }
}

/// Plans for files given as name and stamp, on disk and in the index, and shows the actions.
fn check(present: &[(&str, i64)], indexed: &[(&str, i64)], expected: &str) {
    let present = present
        .iter()
        .map(|(name, at)| (path(name), stamp(*at)))
        .collect();
    let indexed = indexed
        .iter()
        .map(|(name, at)| (path(name), row(*at, 0)))
        .collect();
    let actions: Vec<String> = code_actions(&present, &indexed)
        .iter()
        .map(|action| match action {
            Action::Update(path) => format!("+{path}"),
            Action::Remove(path) => format!("-{path}"),
        })
        .collect();
    assert_eq!(actions.join(" "), expected);
}

#[test]
fn a_new_file_is_indexed() {
    check(&[("a", 1), ("b", 1)], &[("a", 1)], "+b");
}

#[test]
fn a_changed_file_is_indexed() {
    check(&[("a", 2), ("b", 1)], &[("a", 1), ("b", 1)], "+a");
}

#[test]
fn a_missing_file_is_removed() {
    check(&[("b", 1)], &[("a", 1), ("b", 1), ("c", 1)], "-a -c");
}

#[test]
fn an_unchanged_project_needs_nothing() {
    check(&[("a", 1), ("b", 1)], &[("a", 1), ("b", 1)], "");
    check(&[], &[], "");
}

#[test]
fn a_renamed_file_is_a_removal_and_an_update() {
    check(&[("b", 1)], &[("a", 1)], "-a +b");
}

#[test]
fn a_page_is_indexed_again_when_its_rules_change() {
    let pages = BTreeMap::from([(path("a.md"), (stamp(1), 7))]);
    let actions = |rules| docs_actions(&pages, &BTreeMap::from([(path("a.md"), row(1, rules))]));
    assert_eq!(actions(7), []);
    assert_eq!(actions(8), [Action::Update(path("a.md"))]);
}

#[test]
fn a_commit_that_is_no_longer_in_the_history_is_removed() {
    let ids = |ids: &[&str]| ids.iter().filter_map(|id| CommitId::parse(id)).collect();
    let actions = commit_actions(&ids(&["aa", "cc"]), &ids(&["aa", "bb"]));
    let expected = [
        Action::Remove(CommitId::parse("bb").unwrap()),
        Action::Update(CommitId::parse("cc").unwrap()),
    ];
    assert_eq!(actions, expected);
}

#[test]
fn a_plan_with_a_removal_says_so() {
    let update = Plan {
        docs: vec![Action::Update(path("a.md"))],
        code: vec![Action::Update(path("a.md"))],
    };
    assert!(!update.removes_files() && !update.is_empty());
    let remove = Plan {
        docs: vec![Action::Remove(path("a.md"))],
        ..update
    };
    assert!(remove.removes_files());
    assert!(Plan::default().is_empty());
}

#[test]
fn the_first_batch_of_code_is_small_and_later_ones_grow() {
    let mut schedule = BatchSchedule::new(Corpus::Code);
    let sizes: Vec<usize> = (0..5).map(|_| schedule.next_batch(vec![1; 1_000])).collect();
    assert_eq!(sizes, [40, 80, 160, 300, 300]);
}

#[test]
fn a_batch_ends_with_the_file_that_fills_it() {
    let mut schedule = BatchSchedule::new(Corpus::Docs);
    assert_eq!(schedule.next_batch([1 << 20, 1 << 20, 1, 1]), 2);
    // One file larger than a batch is a batch of its own.
    assert_eq!(schedule.next_batch([64 << 20, 1]), 1);
}

#[test]
fn commits_become_rarer_during_a_long_build_up_to_a_limit() {
    let mut schedule = BatchSchedule::new(Corpus::Code);
    let mut intervals = vec![schedule.commit_interval.as_millis()];
    for _ in 0..8 {
        schedule.after_commit();
        intervals.push(schedule.commit_interval.as_millis());
    }
    assert_eq!(
        intervals,
        [300, 600, 1_200, 2_400, 4_800, 9_600, 19_200, 20_000, 20_000]
    );
}

#[test]
fn a_file_with_the_content_of_a_removed_one_is_a_rename() {
    let indexed = BTreeMap::from([(path("old.rs"), with_hash(5))]);
    let changes = [
        TableChange::Indexed(DocKey::File(path("new.rs")), with_hash(5)),
        TableChange::Removed(DocKey::File(path("old.rs"))),
    ];
    assert_eq!(
        find_renames(&changes, &indexed),
        [(&path("old.rs"), &path("new.rs"))]
    );
}

#[test]
fn a_copy_and_a_file_without_content_are_no_renames() {
    let indexed = BTreeMap::from([(path("a.rs"), with_hash(5)), (path("b.bin"), with_hash(0))]);
    // A copy: the original stays.
    let copied = [TableChange::Indexed(DocKey::File(path("copy.rs")), with_hash(5))];
    assert_eq!(find_renames(&copied, &indexed), []);
    // Skipped files all have the hash 0.
    let skipped = [
        TableChange::Removed(DocKey::File(path("b.bin"))),
        TableChange::Indexed(DocKey::File(path("c.bin")), with_hash(0)),
    ];
    assert_eq!(find_renames(&skipped, &indexed), []);
    // The content moved into a file that was there before.
    let overwritten = [
        TableChange::Removed(DocKey::File(path("a.rs"))),
        TableChange::Indexed(DocKey::File(path("b.bin")), with_hash(5)),
    ];
    assert_eq!(find_renames(&overwritten, &indexed), []);
}

#[test]
fn the_worker_tries_again_unless_all_is_done() {
    assert_eq!(SyncOutcome::Done.retry_delay(), None);
    assert_eq!(SyncOutcome::MoreToDo.retry_delay(), Some(Duration::ZERO));
    assert!(SyncOutcome::LockedByOther.retry_delay() < SyncOutcome::CannotWrite.retry_delay());
}

#[test]
fn damage_is_verified_once_and_then_given_up() {
    let damaged = || StoreError::Damaged("torn".into());
    assert!(matches!(respond_to(damaged(), false), ErrorResponse::Verify(what) if what == "torn"));
    assert!(matches!(respond_to(damaged(), true), ErrorResponse::GiveUp(_)));
}

#[test]
fn a_full_disk_and_a_busy_lock_are_no_damage() {
    let full = || StoreError::Io(std::io::ErrorKind::StorageFull.into());
    for was_damaged in [false, true] {
        assert!(matches!(
            respond_to(full(), was_damaged),
            ErrorResponse::Recover(_)
        ));
        assert!(matches!(
            respond_to(StoreError::Busy, was_damaged),
            ErrorResponse::WaitForLock
        ));
    }
}

fn names() -> impl Strategy<Value = RepoPath> {
    "[a-d]{1,2}(/[a-d]{1,2})?".prop_map(|name| path(&name))
}

/// Files on disk: a stamp and rules each, of few values so that many are the same as in the index.
fn present() -> impl Strategy<Value = BTreeMap<RepoPath, (Stamp, u64)>> {
    btree_map(
        names(),
        (0_i64..3, 0_u64..2).prop_map(|(at, rules)| (stamp(at), rules)),
        0..30,
    )
}

fn indexed() -> impl Strategy<Value = BTreeMap<RepoPath, IndexedFile>> {
    btree_map(
        names(),
        (0_i64..3, 0_u64..2).prop_map(|(at, rules)| row(at, rules)),
        0..30,
    )
}

/// The indexed files after the actions were carried out.
fn carry_out(
    actions: &[Action<RepoPath>],
    present: &BTreeMap<RepoPath, (Stamp, u64)>,
    indexed: &BTreeMap<RepoPath, IndexedFile>,
) -> BTreeMap<RepoPath, IndexedFile> {
    let mut after = indexed.clone();
    for action in actions {
        match action {
            Action::Remove(path) => drop(after.remove(path)),
            Action::Update(path) => {
                let (stamp, rules) = present[path];
                after.insert(path.clone(), row(stamp.changed, rules));
            }
        }
    }
    after
}

proptest! {
    #[test]
    fn after_a_plan_was_carried_out_the_next_is_empty(present in present(), indexed in indexed()) {
        let actions = docs_actions(&present, &indexed);
        let after = carry_out(&actions, &present, &indexed);
        prop_assert_eq!(docs_actions(&present, &after), []);
        prop_assert!(after.keys().eq(present.keys()));
    }

    #[test]
    fn a_plan_names_each_file_once_and_in_order(present in present(), indexed in indexed()) {
        let actions = docs_actions(&present, &indexed);
        let keys: Vec<&RepoPath> = actions.iter().map(Action::key).collect();
        prop_assert!(keys.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_plan_removes_exactly_what_is_gone(present in present(), indexed in indexed()) {
        for action in docs_actions(&present, &indexed) {
            match action {
                Action::Remove(path) => {
                    prop_assert!(indexed.contains_key(&path) && !present.contains_key(&path));
                }
                Action::Update(path) => prop_assert!(present.contains_key(&path)),
            }
        }
    }

    #[test]
    fn a_plan_leaves_unchanged_files_alone(present in present(), indexed in indexed()) {
        let actions = docs_actions(&present, &indexed);
        for (path, (stamp, rules)) in &present {
            let is_same = indexed.get(path).is_some_and(|row| (row.stamp, row.rules) == (*stamp, *rules));
            let is_planned = actions.iter().any(|action| action.key() == path);
            prop_assert_eq!(is_planned, !is_same);
        }
    }

    #[test]
    fn commits_are_planned_like_sets(listed in btree_set("[0-9a-f]{2}", 0..20), indexed in btree_set("[0-9a-f]{2}", 0..20)) {
        let ids = |ids: &BTreeSet<String>| -> BTreeSet<CommitId> {
            ids.iter().filter_map(|id| CommitId::parse(id)).collect()
        };
        let (listed, indexed) = (ids(&listed), ids(&indexed));
        let mut after = indexed.clone();
        for action in commit_actions(&listed, &indexed) {
            match action {
                Action::Update(id) => prop_assert!(after.insert(id)),
                Action::Remove(id) => prop_assert!(after.remove(&id)),
            }
        }
        prop_assert_eq!(after, listed);
    }

    #[test]
    fn batches_cover_the_plan_and_none_is_empty(sizes in vec(0_u64..4 << 20, 0..800)) {
        let mut schedule = BatchSchedule::new(Corpus::Code);
        let mut rest = sizes.as_slice();
        while !rest.is_empty() {
            let files = schedule.next_batch(rest.iter().copied());
            prop_assert!((1..=MAX_BATCH_FILES).contains(&files));
            let bytes: u64 = rest[..files - 1].iter().sum();
            prop_assert!(bytes < MAX_BATCH_BYTES);
            rest = &rest[files..];
        }
    }

    #[test]
    fn a_rename_joins_a_removed_file_and_a_new_one_of_the_same_content(
        hashes in btree_map("[a-e]", 0_u64..4, 0..5),
        after in btree_map("[a-g]", 0_u64..4, 0..6),
    ) {
        let indexed: BTreeMap<RepoPath, IndexedFile> =
            hashes.iter().map(|(name, hash)| (path(name), with_hash(*hash))).collect();
        let removed = hashes.keys().filter(|name| !after.contains_key(*name));
        let mut changes: Vec<TableChange> =
            removed.map(|name| TableChange::Removed(DocKey::File(path(name)))).collect();
        changes.extend(
            after.iter().map(|(name, hash)| TableChange::Indexed(DocKey::File(path(name)), with_hash(*hash))),
        );
        for (old, new) in find_renames(&changes, &indexed) {
            prop_assert!(!after.contains_key(old.as_str()) && !hashes.contains_key(new.as_str()));
            prop_assert_eq!(hashes[old.as_str()], after[new.as_str()]);
            prop_assert_ne!(after[new.as_str()], 0);
        }
    }
}
