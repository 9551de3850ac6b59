//! The commit graph in memory, and the walk of `git log` over it.
//!
//! The walk follows git's rules: newest first by commit time, and with a path, git's history simplification.
//! A merge whose path equals that of one parent leads to that parent only, because the other side did not
//! change the path.
//!
//! Invariant: a commit's number is higher than those of its parents.

use std::collections::BinaryHeap;

use super::GitError;
use crate::deadline::Deadline;

/// For each commit its time, its author and its parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    times: Vec<i64>,
    authors: Vec<u32>,
    /// The parents of all commits, one after the other, and for each commit the end of its own.
    parents: Vec<u32>,
    ends: Vec<u32>,
}

/// The start and the filters of a walk.
pub(super) struct GraphWalk<'a> {
    pub(super) start: u32,
    /// A commit that is left out with all its ancestors.
    pub(super) without: Option<u32>,
    /// Seconds since 1970, inclusive.
    pub(super) after: Option<i64>,
    pub(super) before: Option<i64>,
    /// By author number, whether the author's commits are listed. `None` for all.
    pub(super) authors: Option<&'a [bool]>,
    /// By commit number, whether the path differs from that in the first parent. `None` without a path.
    pub(super) touched: Option<&'a [bool]>,
    pub(super) skip: usize,
    pub(super) count: usize,
}

/// Stands for no commit.
pub(super) const NONE: u32 = u32::MAX;

impl Graph {
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Adds a commit, after its parents.
    pub(super) fn push(&mut self, time: i64, author: u32, parents: &[u32]) {
        self.times.push(time);
        self.authors.push(author);
        self.parents.extend(parents);
        self.ends.push(number(self.parents.len()));
    }

    pub(super) fn parents(&self, commit: u32) -> &[u32] {
        let start = (commit as usize)
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.parents[start as usize..self.ends[commit as usize] as usize]
    }

    /// Commits that are not a parent of another one.
    pub(super) fn tips(&self) -> Vec<u32> {
        let mut is_parent = vec![false; self.len()];
        for commit in 0..self.len() {
            for parent in self.parents(number(commit)) {
                is_parent[*parent as usize] = true;
            }
        }
        (0..self.len())
            .filter(|commit| !is_parent[*commit])
            .map(number)
            .collect()
    }

    /// The commits of a walk, in git's order. `same` compares the path in a merge with that in the commit
    /// that last changed it, which is [`NONE`] if no commit did.
    pub(super) fn walk<E: From<GitError>>(
        &self,
        walk: &GraphWalk<'_>,
        deadline: &Deadline,
        mut same: impl FnMut(u32, u32) -> Result<bool, E>,
    ) -> Result<Vec<u32>, E> {
        let excluded = walk.without.map(|commit| self.ancestors(commit));
        let is_excluded = |commit: u32| {
            excluded
                .as_ref()
                .is_some_and(|excluded| excluded[commit as usize])
        };
        let versions = walk.touched.map(|touched| self.versions(touched));
        let mut commits = Vec::new();
        let mut skip = walk.skip;
        let mut queue = Queue::default();
        let mut seen = vec![false; self.len()];
        if !is_excluded(walk.start) {
            seen[walk.start as usize] = true;
            queue.push(self.times[walk.start as usize], walk.start);
        }
        let mut steps = 0_u32;
        while let Some(commit) = queue.pop() {
            steps += 1;
            if steps.is_multiple_of(4_096) {
                deadline.check().map_err(GitError::from)?;
            }
            let time = self.times[commit as usize];
            if walk.after.is_some_and(|after| time < after) {
                continue;
            }
            let parents = self.parents(commit);
            let mut is_interesting = walk.touched.is_none_or(|touched| touched[commit as usize]);
            let mut follow = parents;
            if let (Some(versions), [first, others @ ..]) = (&versions, parents)
                && !others.is_empty()
            {
                if is_interesting {
                    for (at, parent) in others.iter().enumerate() {
                        if same(commit, versions[*parent as usize])? {
                            (is_interesting, follow) = (false, &others[at..=at]);
                            break;
                        }
                    }
                } else {
                    follow = std::slice::from_ref(first);
                }
            }
            for parent in follow {
                if !seen[*parent as usize] && !is_excluded(*parent) {
                    seen[*parent as usize] = true;
                    queue.push(self.times[*parent as usize], *parent);
                }
            }
            let is_listed = is_interesting
                && walk.before.is_none_or(|before| time <= before)
                && walk
                    .authors
                    .is_none_or(|authors| authors.get(self.authors[commit as usize] as usize) == Some(&true));
            if is_listed && skip > 0 {
                skip -= 1;
            } else if is_listed {
                commits.push(commit);
                if commits.len() == walk.count {
                    break;
                }
            }
        }
        Ok(commits)
    }

    /// By number, whether a commit is `commit` or one of its ancestors.
    fn ancestors(&self, commit: u32) -> Vec<bool> {
        let mut is_ancestor = vec![false; self.len()];
        is_ancestor[commit as usize] = true;
        // Parents have lower numbers, so one pass is enough.
        for at in (0..=commit as usize).rev() {
            if is_ancestor[at] {
                for parent in self.parents(number(at)) {
                    is_ancestor[*parent as usize] = true;
                }
            }
        }
        is_ancestor
    }

    /// For each commit the one that last changed the path along first parents. Commits with the same number
    /// here have the same content at the path.
    fn versions(&self, touched: &[bool]) -> Vec<u32> {
        let mut versions = vec![NONE; self.len()];
        for commit in 0..self.len() {
            versions[commit] = match self.parents(number(commit)).first() {
                _ if touched[commit] => number(commit),
                Some(parent) => versions[*parent as usize],
                None => NONE,
            };
        }
        versions
    }
}

/// The number of the commit at this index.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer commits than that")
}

/// Commits by time, the newest first; at the same time the one that was added first.
#[derive(Default)]
struct Queue {
    heap: BinaryHeap<(i64, std::cmp::Reverse<u32>, u32)>,
    added: u32,
}

impl Queue {
    fn push(&mut self, time: i64, commit: u32) {
        self.heap.push((time, std::cmp::Reverse(self.added), commit));
        self.added += 1;
    }

    fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|(_, _, commit)| commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 ─ 1 ─ 3 ─ 4, and 2 beside 1: 3 merges them.
    fn diamond() -> Graph {
        let mut graph = Graph::default();
        graph.push(10, 0, &[]);
        graph.push(20, 1, &[0]);
        graph.push(30, 0, &[0]);
        graph.push(40, 1, &[1, 2]);
        graph.push(50, 0, &[3]);
        graph
    }

    fn everything(start: u32) -> GraphWalk<'static> {
        GraphWalk {
            start,
            without: None,
            after: None,
            before: None,
            authors: None,
            touched: None,
            skip: 0,
            count: usize::MAX,
        }
    }

    fn check(walk: &GraphWalk<'_>, same: &[(u32, u32)], expected: &[u32]) {
        let commits = diamond().walk(walk, &Deadline::default(), |merge, version| {
            Ok::<_, GitError>(same.contains(&(merge, version)))
        });
        assert_eq!(commits.unwrap(), expected);
    }

    #[test]
    fn commits_are_listed_by_time() {
        check(&everything(4), &[], &[4, 3, 2, 1, 0]);
        check(&everything(1), &[], &[1, 0]);
        check(
            &GraphWalk {
                skip: 1,
                count: 2,
                ..everything(4)
            },
            &[],
            &[3, 2],
        );
    }

    #[test]
    fn filters_are_applied() {
        check(
            &GraphWalk {
                without: Some(1),
                ..everything(4)
            },
            &[],
            &[4, 3, 2],
        );
        check(
            &GraphWalk {
                after: Some(30),
                ..everything(4)
            },
            &[],
            &[4, 3, 2],
        );
        check(
            &GraphWalk {
                before: Some(30),
                ..everything(4)
            },
            &[],
            &[2, 1, 0],
        );
        check(
            &GraphWalk {
                authors: Some(&[false, true]),
                ..everything(4)
            },
            &[],
            &[3, 1],
        );
    }

    #[test]
    fn a_merge_that_equals_one_parent_leads_to_it_only() {
        let check = |touched: &[bool], same: &[(u32, u32)], expected: &[u32]| {
            let walk = GraphWalk {
                touched: Some(touched),
                ..everything(4)
            };
            check(&walk, same, expected);
        };
        // 1 and 2 both changed the path. The merge took the content of 2, of 1, or new content.
        check(&[true, true, true, true, false], &[(3, 2)], &[2, 0]);
        check(&[true, true, true, false, false], &[], &[1, 0]);
        check(&[true, true, true, true, false], &[], &[3, 2, 1, 0]);
        // Neither changed it: the walk follows the first parent.
        check(&[true, false, false, false, true], &[], &[4, 0]);
    }

    #[test]
    fn tips_have_no_children() {
        assert_eq!(diamond().tips(), [4]);
        assert_eq!(diamond().parents(3), [1, 2]);
        assert_eq!(diamond().parents(0), [] as [u32; 0]);
    }
}
