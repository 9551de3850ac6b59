//! Rust: `use`, `mod` and `extern crate`, and the module files behind them.
//!
//! A path resolves to the deepest module that has a file; the items in it are not looked for. `#[path]`,
//! macro expansion and re-exports are left out.
//!
//! Invariant: the modules of a crate are looked for only below the directory of its root.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::manifests::cargo::CargoManifest;
use crate::imports::manifests::workspace_members::find_members;
use crate::imports::paths::{ancestors, child_path, file_name, join, parent, stem, strip_directory};
use crate::imports::{Import, MAX_IMPORTS_PER_STATEMENT};

static STYLE: LexicalStyle = LexicalStyle {
    quotes: &['"'],
    long_quotes: &['"'],
    rust: true,
    ..C_LIKE
};

/// Depth of nested modules.
const MAX_MODULE_DEPTH: usize = 32;

/// Directories of a package in which every file, and every directory with a `main.rs`, is a separate crate.
const CRATE_DIRECTORIES: &[&str] = &["src/bin", "tests", "examples", "benches"];

/// Crates of the standard library.
const STANDARD_CRATES: &[&str] = &["std", "core", "alloc", "proc_macro"];

/// The `mod` and `use` items inside the braces of a macro call: `cfg_fs! { pub mod fs; }`. Parentheses hold
/// no items.
fn macro_items(statement: &str) -> Option<impl Iterator<Item = (usize, &str)>> {
    let open = statement.find(['(', '[', '{'])?;
    statement[..open].trim_end().strip_suffix('!')?;
    let body = if statement[open..].starts_with('{') {
        &statement[open + 1..]
    } else {
        ""
    };
    let mut at = open + 1;
    Some(
        body.split_inclusive(';')
            .take(MAX_IMPORTS_PER_STATEMENT)
            .filter_map(move |part| {
                let start = at;
                at += part.len();
                // Lines before the last one are attributes, comments or the end of another item.
                let item = part.trim_end().lines().next_back()?.trim_start();
                let bare = item.strip_prefix("pub").map_or(item, |rest| {
                    let rest = rest.trim_start();
                    rest.strip_prefix('(')
                        .and_then(|inner| inner.split_once(')'))
                        .map_or(rest, |(_, rest)| rest)
                        .trim_start()
                });
                let line = statement[..start + part.trim_end().len()].matches('\n').count();
                (bare.starts_with("mod ") || bare.starts_with("use ")).then_some((line, item))
            }),
    )
}

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    if let Some(items) = macro_items(statement) {
        return items
            .flat_map(|(below, item)| read_statement(item, line + below))
            .collect();
    }
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    for (at, token) in tokens.iter().enumerate() {
        match (token.text, &tokens[at + 1..]) {
            _ if token.kind != TokenKind::Word => {}
            ("use", path) => return expand_use(path),
            ("crate", [name, ..]) if name.kind == TokenKind::Word => {
                return vec![Import {
                    written: name.text.to_owned(),
                    line: name.line,
                }];
            }
            ("mod", [name, end, ..]) if name.kind == TokenKind::Word && end.is_sign(";") => {
                return vec![Import {
                    written: format!("mod {}", name.text),
                    line: name.line,
                }];
            }
            // An item with a body declares something. Words inside its body are no imports.
            ("mod" | "fn" | "impl" | "struct" | "enum", _) => break,
            _ => {}
        }
    }
    Vec::new()
}

/// Reads every path of a `use`, with its groups expanded.
fn expand_use(tokens: &[Token<'_>]) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    // Length of the path before each open group.
    let mut groups: Vec<usize> = Vec::new();
    let mut leaf: Option<usize> = None;
    let mut tokens = tokens.iter();
    while let Some(token) = tokens.next() {
        match token.text {
            "as" if token.kind == TokenKind::Word => drop(tokens.next()),
            ":" if path.is_empty() => path.push(""),
            "{" if groups.len() == MAX_MODULE_DEPTH => break,
            "{" => {
                leaf = None;
                groups.push(path.len());
            }
            "," | "}" | ";" => {
                if let Some(line) = leaf.take() {
                    // `self` in a group means the module before it.
                    let is_module = path.len() > 1 && path.last() == Some(&"self");
                    let end = path.len() - usize::from(is_module);
                    imports.push(Import {
                        written: path[..end].join("::"),
                        line,
                    });
                }
                if token.text == "}" {
                    groups.pop();
                }
                path.truncate(groups.last().copied().unwrap_or(0));
                if token.text == ";" || imports.len() == MAX_IMPORTS_PER_STATEMENT {
                    return imports;
                }
            }
            name if (token.kind == TokenKind::Word || name == "*") && path.len() < MAX_MODULE_DEPTH => {
                leaf = Some(token.line);
                path.push(name);
            }
            _ => {}
        }
    }
    if let Some(line) = leaf {
        imports.push(Import {
            written: path.join("::"),
            line,
        });
    }
    imports
}

/// Cached manifests, libraries and inline modules.
#[derive(Default)]
pub(super) struct Crates {
    manifests: Memo<CargoManifest>,
    libraries: Memo<BTreeMap<String, Crate>>,
    inline: Memo<Vec<InlineModule>>,
}

/// A crate: its root file and the directory of its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Crate {
    directory: String,
    /// `None` for files that several crates share, such as helpers of tests.
    root: Option<String>,
}

/// A module with its body in the same file, by its lines.
struct InlineModule {
    name: String,
    first: usize,
    last: usize,
}

impl Crates {
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        from: &str,
        import: &Import,
    ) -> Vec<String> {
        let home = ancestors(parent(from)).find(|above| self.manifest(project, above).package.is_some());
        let own = self.find_crate(project, home, from);
        let mut module = own.module_path(from);
        module.extend(self.inline_modules_at(project, from, import.line));
        let found = match import.written.strip_prefix("mod ") {
            Some(name) => {
                module.push(name.to_owned());
                own.module_file(project, &module)
            }
            None => self.resolve_path(project, home, &own, module, &import.written),
        };
        found.into_iter().collect()
    }

    fn resolve_path(
        &self,
        project: &CachedProject<'_>,
        home: Option<&str>,
        own: &Crate,
        mut module: Vec<String>,
        written: &str,
    ) -> Option<String> {
        let names: Vec<&str> = written
            .split("::")
            .filter(|name| *name != "*")
            .take(MAX_MODULE_DEPTH)
            .collect();
        let (first, mut rest) = names.split_first()?;
        let extended = |module: &[String], rest: &[&str]| {
            let rest = rest.iter().map(|name| (*name).to_owned());
            module.iter().cloned().chain(rest).collect::<Vec<_>>()
        };
        match *first {
            "crate" => return own.deepest_module_file(project, &extended(&[], rest)),
            "self" | "super" => {
                let mut up = usize::from(*first == "super");
                while let ["super", after @ ..] = rest {
                    (up, rest) = (up + 1, after);
                }
                module.truncate(module.len().checked_sub(up)?);
                return own.deepest_module_file(project, &extended(&module, rest));
            }
            _ => {}
        }
        let (is_global, names) = if first.is_empty() {
            (true, rest)
        } else {
            (false, names.as_slice())
        };
        let (first, rest) = names.split_first()?;
        let child = extended(&module, &[first]);
        if !is_global && own.module_file(project, &child).is_some() {
            return own.deepest_module_file(project, &extended(&module, names));
        }
        if STANDARD_CRATES.contains(first) {
            return None;
        }
        if let Some(library) = self.libraries(project, home?).get(*first) {
            return library.deepest_module_file(project, &extended(&[], rest));
        }
        let at_root = self.manifest(project, home?).paths_from_root
            && own.module_file(project, &extended(&[], &[first])).is_some();
        at_root
            .then(|| own.deepest_module_file(project, &extended(&[], names)))
            .flatten()
    }

    fn manifest(&self, project: &CachedProject<'_>, directory: &str) -> Rc<CargoManifest> {
        self.manifests.get_or_make(directory, || {
            let text = project.read(&child_path(directory, "Cargo.toml"));
            text.as_deref().map(CargoManifest::read).unwrap_or_default()
        })
    }

    /// The crate a file belongs to.
    fn find_crate(&self, project: &CachedProject<'_>, home: Option<&str>, from: &str) -> Crate {
        let alone = || Crate {
            directory: parent(from).to_owned(),
            root: Some(from.to_owned()),
        };
        let rooted = |root: String| Crate {
            directory: parent(&root).to_owned(),
            root: Some(root),
        };
        let Some(home) = home else {
            let roots = ancestors(parent(from))
                .flat_map(|above| ["lib.rs", "main.rs"].map(|name| child_path(above, name)));
            return project.first_file(roots).map_or_else(alone, rooted);
        };
        let manifest = self.manifest(project, home);
        let declared = manifest
            .library_path
            .iter()
            .chain(&manifest.targets)
            .filter_map(|path| join(home, path));
        let declared: Vec<String> = declared.collect();
        if declared.iter().any(|root| root == from) || from == child_path(home, "build.rs") {
            return alone();
        }
        for directory in CRATE_DIRECTORIES.iter().map(|name| child_path(home, name)) {
            match strip_directory(from, &directory).map(|rest| rest.split_once('/')) {
                Some(None) => return alone(),
                Some(Some((name, _))) => {
                    let root = child_path(&child_path(&directory, name), "main.rs");
                    let is_shared = !project.is_file(&root)
                        && !declared
                            .iter()
                            .any(|root| strip_directory(root, &directory).is_some());
                    if is_shared {
                        return Crate {
                            directory,
                            root: None,
                        };
                    }
                    if project.is_file(&root) {
                        return rooted(root);
                    }
                }
                None => {}
            }
        }
        let source = child_path(home, "src");
        let usual = ["lib.rs", "main.rs"].map(|name| child_path(&source, name));
        if usual.iter().any(|root| root == from) {
            return alone();
        }
        let roots = declared
            .into_iter()
            .chain(usual)
            .filter(|root| project.is_file(root));
        let roots: Vec<String> = roots
            .filter(|root| strip_directory(from, parent(root)).is_some())
            .collect();
        let nearest = roots.iter().map(|root| parent(root).len()).max();
        let nearest: Vec<&String> = roots
            .iter()
            .filter(|root| Some(parent(root).len()) == nearest)
            .collect();
        // If a library and a program share a directory, the one that declares the module owns it.
        let declares = |root: &&&String| {
            let rest = strip_directory(from, parent(root)).unwrap_or_default();
            let module = rest.split('/').next().map(stem).unwrap_or_default();
            project
                .read(root)
                .as_deref()
                .is_some_and(|text| text.contains(&format!("mod {module};")))
        };
        let root = nearest.iter().find(declares).or(nearest.first());
        root.map_or_else(alone, |root| rooted((*root).clone()))
    }

    /// The libraries that code of a package may name: its own, those of its workspace, and its path
    /// dependencies.
    fn libraries(&self, project: &CachedProject<'_>, home: &str) -> Rc<BTreeMap<String, Crate>> {
        self.libraries.get_or_make(home, || {
            let workspace = ancestors(home).find(|above| self.manifest(project, above).is_workspace);
            let mut packages = workspace.map_or_else(Default::default, |workspace| {
                find_members(
                    project,
                    workspace,
                    &self.manifest(project, workspace).members,
                    "Cargo.toml",
                )
            });
            packages.extend(workspace.map(str::to_owned));
            packages.insert(home.to_owned());
            let mut libraries = BTreeMap::new();
            for package in packages {
                let name = self.manifest(project, &package).crate_name();
                libraries.extend(name.zip(self.library_of(project, &package)));
            }
            // A path dependency may be renamed, and need not be a member of the workspace.
            for manifest in [workspace, Some(home)].into_iter().flatten() {
                for (name, path) in &self.manifest(project, manifest).dependencies {
                    let library = join(manifest, path).and_then(|package| self.library_of(project, &package));
                    let named = self
                        .manifest(project, &join(manifest, path).unwrap_or_default())
                        .library_name
                        .clone();
                    libraries
                        .extend(library.map(|library| (named.unwrap_or(name.replace('-', "_")), library)));
                }
            }
            libraries
        })
    }

    fn library_of(&self, project: &CachedProject<'_>, package: &str) -> Option<Crate> {
        let manifest = self.manifest(project, package);
        let path = manifest.library_path.as_deref().unwrap_or("src/lib.rs");
        let root = join(package, path).filter(|root| project.is_file(root))?;
        Some(Crate {
            directory: parent(&root).to_owned(),
            root: Some(root),
        })
    }

    /// The inline modules around a line, outermost first.
    fn inline_modules_at(&self, project: &CachedProject<'_>, file: &str, line: usize) -> Vec<String> {
        let all = self.inline.get_or_make(file, || {
            let text = project.read(file);
            text.as_deref().map(find_inline_modules).unwrap_or_default()
        });
        let around = all
            .iter()
            .filter(|module| (module.first..=module.last).contains(&line));
        around
            .map(|module| module.name.clone())
            .take(MAX_MODULE_DEPTH)
            .collect()
    }
}

impl Crate {
    /// The module path of a file, as a list of names.
    fn module_path(&self, file: &str) -> Vec<String> {
        let is_directory =
            self.root.as_deref() == Some(file) || matches!(file_name(file), "mod.rs" | "lib.rs" | "main.rs");
        let path = if is_directory {
            parent(file).to_owned()
        } else {
            child_path(parent(file), stem(file))
        };
        let names = strip_directory(&path, &self.directory)
            .unwrap_or_default()
            .split('/');
        names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// The file of a module, if it has one.
    fn module_file(&self, project: &CachedProject<'_>, module: &[String]) -> Option<String> {
        if module.is_empty() {
            return self.root.clone();
        }
        let path = join(&self.directory, &module.join("/"))?;
        project.first_file([format!("{path}.rs"), child_path(&path, "mod.rs")])
    }

    /// The file of the deepest module on a path.
    fn deepest_module_file(&self, project: &CachedProject<'_>, path: &[String]) -> Option<String> {
        let path = &path[..path.len().min(2 * MAX_MODULE_DEPTH)];
        (0..=path.len())
            .rev()
            .find_map(|length| self.module_file(project, &path[..length]))
    }
}

/// Finds the modules of a source that have their body in it.
fn find_inline_modules(text: &str) -> Vec<InlineModule> {
    let mut modules: Vec<InlineModule> = Vec::new();
    // The module that each open brace belongs to, if any.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut last = [None::<Token<'_>>; 2];
    for token in tokens(text, 1, &STYLE) {
        if token.is_sign("{") {
            let module = match last {
                [Some(word), Some(name)] if word.is_word("mod") && name.kind == TokenKind::Word => {
                    modules.push(InlineModule {
                        name: name.text.to_owned(),
                        first: word.line,
                        last: usize::MAX,
                    });
                    Some(modules.len() - 1)
                }
                _ => None,
            };
            open.push(module);
        } else if token.is_sign("}")
            && let Some(Some(module)) = open.pop()
        {
            modules[module].last = token.line;
        }
        last = [last[1], Some(token)];
    }
    modules
}

#[cfg(test)]
mod tests;
