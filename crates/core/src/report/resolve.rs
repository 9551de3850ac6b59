//! Places of a report as files of a project.
//!
//! A report writes paths of the reporter's machine, so a path means the file that shares the most of its last
//! parts. A path of several parts that shares its file name alone means another project's file. Paths that
//! fit several files equally well mean each of them, if they are few.
//!
//! Invariant: the places depend on the set of files, not on the order in which they are offered.

use std::collections::{BTreeSet, HashMap};

use super::{NamedPlace, PlaceSource};

/// A place in a file of the project.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPlace {
    pub path: String,
    pub line: Option<u32>,
    pub function: Option<String>,
    /// How likely the report is about it, from 0 to 1.
    pub strength: f32,
}

/// Files that one path may mean.
const MAX_FILES_OF_A_PATH: usize = 3;

/// Strengths by source. The frames of a project weigh less from the innermost out.
const PATH_STRENGTH: f32 = 0.8;
const MODULE_STRENGTH: f32 = 0.5;
const OUTER_FRAME: f32 = 0.8;
const MIN_FRAME: f32 = 0.3;

/// Finds the files that the places of a report mean.
pub struct PlaceResolver<'a> {
    places: &'a [NamedPlace],
    /// Positions of the places by the file name or, for modules, by each name that may be the file.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// For each place, the number of shared parts and the files that share so many.
    best: Vec<(usize, BTreeSet<String>)>,
}

impl<'a> PlaceResolver<'a> {
    pub fn new(places: &'a [NamedPlace]) -> Self {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, place) in places.iter().enumerate() {
            let parts: Vec<&str> = place.path.split('/').collect();
            let names = match place.source {
                PlaceSource::Module => parts.get(1..).unwrap_or_default(),
                PlaceSource::Frame | PlaceSource::Path => &parts[parts.len() - 1..],
            };
            for name in names {
                let known = by_name.entry(name).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
        Self {
            places,
            by_name,
            best: vec![(0, BTreeSet::new()); places.len()],
        }
    }

    /// Offers a file of the project.
    pub fn offer(&mut self, path: &str) {
        let (directory, file_name) = path.rsplit_once('/').unwrap_or(("", path));
        let of_name = self.by_name.get(file_name).into_iter().flatten();
        let files = of_name.filter(|at| self.places[**at].source != PlaceSource::Module);
        let files = files.map(|at| (*at, shared_parts(&self.places[*at].path, path)));
        // A package is its directory: `sea/__init__.py` is the module `sea`.
        let stem = file_name.split('.').next().unwrap_or(file_name);
        let module = match (stem, directory) {
            ("__init__" | "index" | "mod", directory) => directory.to_owned(),
            (stem, "") => stem.to_owned(),
            (stem, directory) => format!("{directory}/{stem}"),
        };
        let last = module.rsplit('/').next().unwrap_or_default();
        let of_stem = self.by_name.get(last).into_iter().flatten();
        let modules = of_stem.filter(|at| self.places[**at].source == PlaceSource::Module);
        let modules = modules.map(|at| (*at, shared_module_parts(&self.places[*at].path, &module)));
        let found: Vec<(usize, usize)> = files.chain(modules).filter(|(_, shared)| *shared > 0).collect();
        for (at, shared) in found {
            let (most, paths) = &mut self.best[at];
            if shared > *most {
                paths.clear();
                *most = shared;
            }
            if shared == *most {
                paths.insert(path.to_owned());
            }
        }
    }

    /// The places that are files of the project, in the order in which the report names them.
    pub fn finish(self) -> Vec<ResolvedPlace> {
        let mut frame_strength = 1.0;
        let mut resolved: Vec<ResolvedPlace> = Vec::new();
        for (place, (_, paths)) in self.places.iter().zip(self.best) {
            if paths.is_empty() || paths.len() > MAX_FILES_OF_A_PATH {
                continue;
            }
            let strength = match place.source {
                PlaceSource::Path => PATH_STRENGTH,
                PlaceSource::Module => MODULE_STRENGTH,
                PlaceSource::Frame => {
                    let strength = frame_strength;
                    frame_strength = (frame_strength * OUTER_FRAME).max(MIN_FRAME);
                    strength
                }
            };
            resolved.extend(paths.into_iter().map(|path| ResolvedPlace {
                path,
                line: place.line,
                function: place.function.clone(),
                strength,
            }));
        }
        resolved
    }
}

/// How many of the last parts of a written path and of a file are the same. 0 if the path means another file.
fn shared_parts(written: &str, file: &str) -> usize {
    let shared = written
        .rsplit('/')
        .zip(file.rsplit('/'))
        .take_while(|(a, b)| a == b)
        .count();
    let is_whole = |path: &str| path.split('/').filter(|part| !part.is_empty()).count() == shared;
    if shared > 1 || is_whole(written) || is_whole(file) {
        shared
    } else {
        0
    }
}

/// How many names of a dotted module, from its first, are the last parts of a file. One name alone is chance.
fn shared_module_parts(written: &str, module: &str) -> usize {
    let names: Vec<&str> = written.split('/').collect();
    let parts: Vec<&str> = module.split('/').collect();
    let most = names.len().min(parts.len());
    (2..=most)
        .rev()
        .find(|count| parts.ends_with(&names[..*count]))
        .unwrap_or(0)
}

/// How strongly the places point to a file, and to these lines or this function of it.
pub fn place_scores(places: &[ResolvedPlace], path: &str, lines: (u32, u32), name: &str) -> (f32, f32) {
    /// Lines move from release to release, the name of the function stays.
    const LINE_ALONE: f32 = 0.6;
    let mut scores = (0.0_f32, 0.0_f32);
    for place in places.iter().filter(|place| place.path == path) {
        scores.0 = scores.0.max(place.strength);
        let has_line = place.line.is_some_and(|line| (lines.0..=lines.1).contains(&line));
        let share = match &place.function {
            Some(function) if function == name => 1.0,
            _ if has_line => LINE_ALONE,
            _ => 0.0,
        };
        scores.1 = scores.1.max(place.strength * share);
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, source: PlaceSource, files: &[&str], expected: &[&str]) {
        let places = [NamedPlace {
            path: path.to_owned(),
            line: None,
            function: None,
            source,
        }];
        let mut resolver = PlaceResolver::new(&places);
        for file in files {
            resolver.offer(file);
        }
        let found: Vec<String> = resolver.finish().into_iter().map(|place| place.path).collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn a_path_means_the_file_with_most_of_its_last_parts() {
        let files = [
            "src/sea/walrus.py",
            "src/zoo/walrus.py",
            "setup.py",
            "sea/a/b/c.py",
        ];
        let path = PlaceSource::Frame;
        check(
            "/usr/lib/site-packages/sea/walrus.py",
            path,
            &files,
            &["src/sea/walrus.py"],
        );
        check(
            "walrus.py",
            path,
            &files,
            &["src/sea/walrus.py", "src/zoo/walrus.py"],
        );
        check("/home/me/other/walrus.py", path, &files, &[]);
        check("/tmp/x/setup.py", path, &files, &["setup.py"]);
        let module = PlaceSource::Module;
        check("sea/walrus/Walrus/sink", module, &files, &["src/sea/walrus.py"]);
        check("other/walrus", module, &files, &[]);
        check(
            "sea/a/b",
            module,
            &["sea/a/b/__init__.py", "sea/a.py"],
            &["sea/a/b/__init__.py"],
        );
    }

    #[test]
    fn a_frame_points_to_its_function_more_than_to_its_line() {
        let place = ResolvedPlace {
            path: "a.py".to_owned(),
            line: Some(7),
            function: Some("sink".to_owned()),
            strength: 1.0,
        };
        let scores = |lines, name| place_scores(std::slice::from_ref(&place), "a.py", lines, name);
        assert_eq!(scores((20, 30), "sink"), (1.0, 1.0));
        assert_eq!(scores((5, 9), "float"), (1.0, 0.6));
        assert_eq!(scores((20, 30), "float"), (1.0, 0.0));
        assert_eq!(place_scores(&[place], "b.py", (5, 9), "sink"), (0.0, 0.0));
    }
}
