//! No module depends on one that depends on it: in `app`, and inside the index.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::all_sources;

#[test]
fn app_has_no_module_cycle() {
    let sources: Vec<(String, String)> = all_sources()
        .into_iter()
        .filter_map(|(name, text)| Some((name.strip_prefix("crates/app/src/")?.to_owned(), text)))
        .collect();
    for parent in ["", "cli", "mcp", "tools"] {
        let graph = module_graph(&sources, parent);
        assert!(graph.len() > 5, "the modules of app/{parent} are where they were");
        if let Some(cycle) = find_cycle(&graph) {
            panic!(
                "modules of app/{parent} depend on each other: {}",
                cycle.join(" → ")
            );
        }
    }
}

#[test]
fn the_index_has_no_module_cycle() {
    let sources: Vec<(String, String)> = all_sources()
        .into_iter()
        .filter_map(|(name, text)| Some((name.strip_prefix("crates/engine/src/")?.to_owned(), text)))
        .collect();
    for parent in [
        "index",
        "index/disk",
        "index/extract",
        "index/scan",
        "index/worker",
    ] {
        let graph = module_graph(&sources, parent);
        assert!(
            graph.len() > 3,
            "the modules of engine/{parent} are where they were"
        );
        if let Some(cycle) = find_cycle(&graph) {
            panic!(
                "modules of engine/{parent} depend on each other: {}",
                cycle.join(" → ")
            );
        }
    }
}

/// Long because it is a table of cases.
#[test]
fn a_module_cycle_is_found_and_named() {
    let check = |files: &[(&str, &str)], parent: &str, expected: Option<&str>| {
        let sources: Vec<(String, String)> = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        let cycle = find_cycle(&module_graph(&sources, parent));
        assert_eq!(
            cycle.map(|cycle| cycle.join(" → ")).as_deref(),
            expected,
            "{files:?}"
        );
    };
    let main = ("main.rs", "mod a;\nmod b;\nmod c;\nfn main() { a::run() }");
    let straight = [
        main,
        ("a.rs", "use crate::b::B;"),
        ("b/mod.rs", "use crate::c;"),
        ("c.rs", ""),
    ];
    check(&straight, "", None);
    // By a nested import, by a path in code, and by `super` from a file inside.
    for (name, text) in [
        ("c.rs", "use crate::{\n    b::{self, B},\n    a::run,\n};"),
        ("c.rs", "fn c() { crate::a::run() }"),
        ("c/inner.rs", "use super::super::a;"),
    ] {
        check(
            &[main, straight[1], straight[2], (name, text)],
            "",
            Some("a → b → c → a"),
        );
    }
    check(
        &[main, ("a.rs", "use crate::main_item;")],
        "",
        Some("a → main → a"),
    );
    // Comments and tests do not count.
    check(
        &[
            main,
            ("a.rs", "use crate::b;"),
            ("b/mod.rs", "// crate::a\n#[cfg(test)]\nuse crate::a;"),
        ],
        "",
        None,
    );
    check(
        &[
            main,
            ("a.rs", "use crate::b;"),
            ("b/mod.rs", ""),
            ("b/tests.rs", "use crate::a;"),
        ],
        "",
        None,
    );
    // Inside a folder, its `mod.rs` is a module like the others.
    let table = ("b/mod.rs", "mod x;\nmod y;\nfn all() { x::one() }");
    check(
        &[main, table, ("b/x.rs", "use super::y::Y;"), ("b/y.rs", "")],
        "b",
        None,
    );
    check(
        &[main, table, ("b/x.rs", "use crate::b::Item;")],
        "b",
        Some("b → x → b"),
    );
    check(
        &[
            main,
            table,
            ("b/x.rs", "use super::y::Y;"),
            ("b/y.rs", "use crate::b::x;"),
        ],
        "b",
        Some("x → y → x"),
    );
}

/// Which module uses which, among the modules of one folder. The folder's own file has the folder's name, and
/// `main.rs` is `main`.
type ModuleGraph = BTreeMap<String, BTreeSet<String>>;

fn module_graph(sources: &[(String, String)], parent: &str) -> ModuleGraph {
    let parent: Vec<String> = parent
        .split('/')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let own_name = parent.last().cloned().unwrap_or_else(|| "main".to_owned());
    let files: Vec<(Vec<String>, String)> = sources
        .iter()
        .filter(|(name, _)| !name.ends_with("tests.rs"))
        .map(|(name, text)| (module_path(name), without_comments_and_tests(text)))
        .collect();
    let children: BTreeSet<&String> = files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(parent.as_slice())?.first())
        .collect();
    let mut graph = ModuleGraph::new();
    for (path, text) in &files {
        let Some(inside) = path.strip_prefix(parent.as_slice()) else {
            continue;
        };
        let user = inside.first().unwrap_or(&own_name);
        let used = graph.entry(user.clone()).or_default();
        for target in used_paths(path, text) {
            let Some(target) = target.strip_prefix(parent.as_slice()) else {
                continue;
            };
            match target.first() {
                Some(name) if children.contains(name) => drop(used.insert(name.clone())),
                // The folder's own file uses its items without a path.
                _ if inside.is_empty() => {}
                _ => drop(used.insert(own_name.clone())),
            }
        }
        used.remove(user);
    }
    graph
}

/// The path of a file's module: `tools/docs/mod.rs` is `tools::docs`.
fn module_path(file: &str) -> Vec<String> {
    let mut path: Vec<String> = file
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    if path.last().is_some_and(|name| name == "mod" || name == "main") {
        path.pop();
    }
    path
}

fn without_comments_and_tests(text: &str) -> String {
    text.lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
        // A visibility names a module and does not use it.
        .map(|line| line.replace("pub(in crate::index)", "pub"))
        .flat_map(|line| [line, "\n".to_owned()])
        .collect()
}

/// Every path in the code of `module` that leads to a module, written from the root of the crate.
fn used_paths(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    for (at, _) in code.match_indices("::") {
        let start = code[..at].rfind(|c| !is_name(c)).map_or(0, |end| end + 1);
        // In the middle of a path, whose beginning was handled before.
        if start == at || code[..start].ends_with("::") {
            continue;
        }
        let mut tails = Vec::new();
        expand(&code[start..], &[], &mut tails);
        for tail in tails {
            let supers = tail.iter().take_while(|name| *name == "super").count();
            let (base, rest) = match tail[0].as_str() {
                "crate" => (&module[..0], &tail[1..]),
                "super" => (&module[..module.len().saturating_sub(supers)], &tail[supers..]),
                "self" => (module, &tail[1..]),
                _ => (module, &tail[..]),
            };
            // A bare name means a module only in the file that declares it.
            let is_bare = !["crate", "super", "self"].contains(&tail[0].as_str());
            if !is_bare || is_declared(code, &tail[0]) {
                paths.push([base, rest].concat());
            }
        }
    }
    paths
}

fn is_declared(code: &str, module: &str) -> bool {
    code.lines()
        .any(|line| line.trim_end_matches(';').ends_with(&format!("mod {module}")))
}

/// The paths that a text begins with: `a::{b, c::d}` is `a::b` and `a::c::d`. Returns what follows them.
fn expand<'a>(text: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*')
        .unwrap_or(text.len());
    let (name, mut rest) = text.split_at(end);
    let path = [before, &[name.to_owned()]].concat();
    let Some(after) = rest.strip_prefix("::") else {
        paths.push(path);
        return rest;
    };
    if !after.starts_with('{') {
        return expand(after, &path, paths);
    }
    rest = &after[1..];
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return rest;
        }
        if let Some(after) = rest.strip_prefix('}') {
            return after;
        }
        let next = expand(rest, &path, paths);
        // Skip `as` and everything else that is not a path.
        rest = if next.len() < rest.len() {
            next
        } else {
            &rest[rest.chars().next().map_or(0, char::len_utf8)..]
        };
    }
}

/// The modules of a cycle in order, the first one again at the end.
fn find_cycle(graph: &ModuleGraph) -> Option<Vec<String>> {
    fn visit(graph: &ModuleGraph, name: &str, trail: &mut Vec<String>, done: &mut BTreeSet<String>) -> bool {
        if let Some(at) = trail.iter().position(|other| other == name) {
            trail.drain(..at);
            trail.push(name.to_owned());
            return true;
        }
        if done.contains(name) {
            return false;
        }
        trail.push(name.to_owned());
        for used in graph.get(name).into_iter().flatten() {
            if visit(graph, used, trail, done) {
                return true;
            }
        }
        trail.pop();
        done.insert(name.to_owned());
        false
    }
    let (mut trail, mut done) = (Vec::new(), BTreeSet::new());
    graph
        .keys()
        .any(|name| visit(graph, name, &mut trail, &mut done))
        .then_some(trail)
}
