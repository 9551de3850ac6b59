//! Java, Kotlin, Scala and Groovy: import declarations, and the files of the packages behind them.
//!
//! A package is looked for as a directory below every source root of the project. A file whose directory does
//! not match its package is not found, except that Kotlin sources may omit the common start of their
//! packages.
//!
//! Invariant: source roots are searched in at most [`MAX_VISITED_DIRECTORIES`] directories.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use crate::imports::cached_project::{CachedProject, Memo};
use crate::imports::lexer::{C_LIKE, LexicalStyle, Token, TokenKind, tokens};
use crate::imports::manifests::workspace_members::SKIPPED_DIRECTORIES;
use crate::imports::paths::{ancestors, child_path, extension, file_name, parent};
use crate::imports::{Import, MAX_FILES_PER_IMPORT, MAX_IMPORTS_PER_STATEMENT};

static STYLE: LexicalStyle = LexicalStyle {
    quotes: &['`', '"'],
    word_signs: &['$'],
    ..C_LIKE
};

/// Directories that are searched for source roots.
const MAX_VISITED_DIRECTORIES: usize = 5_000;
/// Depth of the modules of a build.
const MAX_MODULE_DEPTH: usize = 6;
/// Files that are searched for one declaration.
const MAX_READ_FILES: usize = 200;
const EXTENSIONS: &[&str] = &["java", "kt", "scala", "groovy"];
/// Directories below `src/main` and `src/test` in which packages begin.
const SOURCE_DIRECTORIES: &[&str] = &["java", "kotlin", "scala", "groovy"];
/// Keywords of top-level declarations, in languages whose files may have several.
const DECLARATION_KEYWORDS: &[&str] = &[
    "fun",
    "val",
    "var",
    "class",
    "object",
    "interface",
    "typealias",
    "def",
    "trait",
    "enum",
    "type",
    "given",
];

pub(super) fn read_statement(statement: &str, line: usize) -> Vec<Import> {
    let tokens: Vec<Token<'_>> = tokens(statement, line, &STYLE).collect();
    let mut imports = Vec::new();
    for declaration in tokens.split(|token| token.is_word("import")).skip(1) {
        read_clauses(declaration, &mut imports);
        if imports.len() >= MAX_IMPORTS_PER_STATEMENT {
            break;
        }
    }
    imports
}

/// Reads the clauses after one `import`: names with commas between them, each perhaps with a group at its
/// end.
fn read_clauses(tokens: &[Token<'_>], imports: &mut Vec<Import>) {
    let mut path: Vec<&str> = Vec::new();
    let mut group: Option<usize> = None;
    let mut line = None;
    let mut is_alias = false;
    for token in tokens {
        match token.text {
            "static" if token.kind == TokenKind::Word && path.is_empty() => {}
            // A name after `as` or `=>` is local to the importing file.
            "as" | "=" | ">" if token.kind != TokenKind::Text => is_alias = true,
            "{" => (group, line) = (Some(path.len()), None),
            "," | "}" | ";" => {
                add_import(&path, line.take(), imports);
                is_alias = false;
                if token.text == "}" {
                    group = None;
                }
                path.truncate(group.unwrap_or(0));
                if imports.len() >= MAX_IMPORTS_PER_STATEMENT {
                    return;
                }
            }
            "." => {}
            name if !is_alias && (token.kind != TokenKind::Sign || name == "*") => {
                path.push(name);
                line = line.or(Some(token.line));
            }
            _ => {}
        }
    }
    add_import(&path, line, imports);
}

fn add_import(path: &[&str], line: Option<usize>, imports: &mut Vec<Import>) {
    if let Some(line) = line {
        imports.push(Import {
            written: path.join("."),
            line,
        });
    }
}

/// The source roots of a project: directories in which packages begin.
#[derive(Default)]
pub(super) struct SourceRoots {
    roots: Memo<Vec<String>>,
    /// By directory: the start of the package that its path omits.
    omitted: Memo<Option<String>>,
}

impl SourceRoots {
    pub(super) fn resolve_import(
        &self,
        project: &CachedProject<'_>,
        from: &str,
        written: &str,
    ) -> Vec<String> {
        let names: Vec<&str> = written.split('.').take(MAX_MODULE_DEPTH * 4).collect();
        if names
            .iter()
            .any(|name| name.is_empty() || name.contains(['/', '\\']))
        {
            return Vec::new();
        }
        let found = self.find_below_roots(project, from, &names);
        if !found.is_empty() {
            return found;
        }
        let omitted = self.omitted_start(project, from);
        let start: Vec<&str> = omitted
            .as_deref()
            .into_iter()
            .flat_map(|start| start.split('.'))
            .collect();
        match names.strip_prefix(start.as_slice()) {
            Some(rest) if !start.is_empty() && !rest.is_empty() => self.find_below_roots(project, from, rest),
            _ => Vec::new(),
        }
    }

    fn find_below_roots(&self, project: &CachedProject<'_>, from: &str, names: &[&str]) -> Vec<String> {
        let all = self.all_roots(project);
        // If a project has a package twice, the nearer one is meant.
        let mut near: Vec<&str> = all.iter().map(String::as_str).collect();
        near.sort_by_key(|root| Reverse(common_depth(root, from)));
        // Directories above the file come first: they include its own source root and, for Scala, its own
        // package.
        let roots = ancestors(parent(from)).chain(near);
        // Most imports are external. Checking the first name at each root excludes them cheaply.
        let has_first_name = |root: &&str| match names {
            [first, _, ..] => project.has_directory(root, first),
            _ => true,
        };
        let roots: Vec<&str> = roots.filter(has_first_name).collect();
        match names {
            [package @ .., "*" | "_"] if !package.is_empty() => {
                let packages = roots.iter().map(|root| child_path(root, &package.join("/")));
                let packages: BTreeSet<String> = packages.collect();
                let files = packages
                    .iter()
                    .flat_map(|package| project.list_files(package, is_source));
                let files: Vec<String> = files.take(MAX_FILES_PER_IMPORT + 1).collect();
                if files.is_empty() {
                    find_class(project, &roots, package)
                } else {
                    files
                }
            }
            _ => find_class(project, &roots, names),
        }
    }

    /// Every `src/main/java` and its like.
    fn all_roots(&self, project: &CachedProject<'_>) -> Rc<Vec<String>> {
        self.roots.get_or_make("", || {
            let mut roots = vec!["src".to_owned(), "app".to_owned()];
            let mut waiting = VecDeque::from([(String::new(), 0)]);
            for _ in 0..MAX_VISITED_DIRECTORIES {
                let Some((directory, depth)) = waiting.pop_front() else {
                    break;
                };
                for child in project.list_directories(&directory) {
                    let path = child_path(&directory, &child);
                    if child == "src" || child == "test" {
                        roots.extend(find_source_roots(project, &path));
                        roots.push(path);
                    } else if depth < MAX_MODULE_DEPTH
                        && !child.starts_with('.')
                        && !SKIPPED_DIRECTORIES.contains(&child.as_str())
                    {
                        waiting.push_back((path, depth + 1));
                    }
                }
            }
            roots
        })
    }

    /// The start of a file's package that its directories omit, as the conventions of Kotlin recommend.
    fn omitted_start(&self, project: &CachedProject<'_>, from: &str) -> Rc<Option<String>> {
        self.omitted.get_or_make(parent(from), || {
            let text = project.read(from);
            let line = text
                .as_deref()?
                .lines()
                .find_map(|line| line.trim().strip_prefix("package "))?;
            let mut package: Vec<&str> = line.trim_end_matches(';').trim().split('.').collect();
            let mut directory = parent(from);
            while !package.is_empty() && package.last() == Some(&file_name(directory)) {
                package.pop();
                directory = parent(directory);
            }
            (!package.is_empty()).then(|| package.join("."))
        })
    }
}

/// Finds `main/java`, `test/kotlin` and the like below a `src`.
fn find_source_roots(project: &CachedProject<'_>, source: &str) -> Vec<String> {
    let sets = project
        .list_directories(source)
        .into_iter()
        .map(|set| child_path(source, &set));
    let languages = sets.flat_map(|set| {
        let inner = project.list_directories(&set).into_iter();
        inner
            .filter(|name| SOURCE_DIRECTORIES.contains(&name.as_str()))
            .map(move |name| child_path(&set, &name))
    });
    let mut found: Vec<String> = languages.take(MAX_FILES_PER_IMPORT).collect();
    // Main sources come before tests.
    found.sort_by_key(|root| (!root.contains("/main/") && !root.contains("Main/"), root.clone()));
    found
}

/// The file of a class, or of the class that contains it or the member; else the files that declare the name.
fn find_class(project: &CachedProject<'_>, roots: &[&str], names: &[&str]) -> Vec<String> {
    for length in (1..=names.len()).rev().take(4) {
        // A single name would match a file in any directory.
        if length == 1 && names.len() > 1 {
            break;
        }
        let relative = names[..length].join("/");
        let files = roots.iter().flat_map(|root| {
            let path = child_path(root, &relative);
            EXTENSIONS
                .iter()
                .map(move |extension| format!("{path}.{extension}"))
        });
        if let Some(file) = project.first_file(files) {
            return vec![file];
        }
    }
    // The last name, or the one before it if the last is a member.
    (1..names.len())
        .rev()
        .take(2)
        .map(|at| find_declaring_files(project, roots, &names[..at], names[at]))
        .find(|files| !files.is_empty())
        .unwrap_or_default()
}

/// The files of a package that declare a name. Java files are named after their class, so they are not read.
fn find_declaring_files(
    project: &CachedProject<'_>,
    roots: &[&str],
    package: &[&str],
    name: &str,
) -> Vec<String> {
    let relative = package.join("/");
    let packages: BTreeSet<String> = roots.iter().map(|root| child_path(root, &relative)).collect();
    let files = packages
        .iter()
        .flat_map(|package| project.list_files(package, |name| is_source(name) && extension(name) != "java"));
    let declares = |file: &String| {
        let text = project.read(file);
        text.as_deref().is_some_and(|text| declares(text, name))
    };
    files.take(MAX_READ_FILES).filter(declares).collect()
}

/// Number of leading directories that two paths share.
fn common_depth(one: &str, other: &str) -> usize {
    one.split('/')
        .zip(other.split('/'))
        .take_while(|(a, b)| a == b)
        .count()
}

fn is_source(name: &str) -> bool {
    EXTENSIONS.contains(&extension(name))
}

/// True if an unindented line of a text declares a name. Indented lines declare members.
fn declares(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.starts_with([' ', '\t', '*', '/']) && line.contains(name))
        .any(|line| declared_name(line) == Some(name))
}

/// The name that a line declares: the one after the keyword, not a later word of the line such as `internal`
/// in `class Call internal constructor(`.
fn declared_name(line: &str) -> Option<&str> {
    let mut tokens = tokens(line, 1, &STYLE).peekable();
    let mut depth = 0_usize;
    // Arguments of an annotation may have words that are keywords.
    let keyword = tokens.find(|token| {
        match token.text {
            "(" if token.kind == TokenKind::Sign => depth += 1,
            ")" if token.kind == TokenKind::Sign => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == TokenKind::Word && DECLARATION_KEYWORDS.contains(&token.text)
    })?;
    // `fun interface A` and `enum class A` have two keywords. `val type` has one and a name.
    let second = match keyword.text {
        "fun" => "interface",
        "enum" => "class",
        _ => "",
    };
    let keyword = tokens.next_if(|token| token.is_word(second)).unwrap_or(keyword);
    if matches!(keyword.text, "fun" | "val" | "var" | "def") {
        return callable_name(tokens);
    }
    let name = tokens.next()?;
    (name.kind != TokenKind::Sign).then_some(name.text)
}

/// The name of a function or property: the last one of the dotted names before its parameters or its type. In
/// `<T> Map<String, T>.second()` the others are type parameters and the receiver.
fn callable_name<'t>(tokens: impl Iterator<Item = Token<'t>>) -> Option<&'t str> {
    let mut name = None;
    let mut depth = 0_usize;
    let mut expects_name = true;
    for token in tokens {
        match (token.kind, token.text) {
            // A parenthesis before any name encloses a receiver; after a name, the parameters.
            (TokenKind::Sign, "(") if name.is_some() && depth == 0 => break,
            (TokenKind::Sign, "<" | "(") => depth += 1,
            (TokenKind::Sign, ">" | ")") => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            (TokenKind::Sign, ".") => expects_name = true,
            (TokenKind::Sign, "?" | "&") => {}
            (TokenKind::Sign, _) => break,
            (TokenKind::Word | TokenKind::Text, text) => {
                // A word without a dot before it follows the name: `by lazy`.
                if !std::mem::take(&mut expects_name) {
                    break;
                }
                name = Some(text);
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::imports::sample_project::{Sample, written};

    #[test]
    fn every_form_of_statement_is_read() {
        for (language, statement, expected) in [
            ("java", "import a.b.C;", vec!["a.b.C"]),
            ("java", "import static a.b.C.max;", vec!["a.b.C.max"]),
            ("java", "import a.b.*;", vec!["a.b.*"]),
            ("java", "import static a.b.C.*; // all", vec!["a.b.C.*"]),
            ("kotlin", "import a.b.C as D", vec!["a.b.C"]),
            (
                "kotlin",
                "import a.`object`.b\nimport c.D\n",
                vec!["a.object.b", "c.D"],
            ),
            (
                "scala",
                "import a.b.{C, D => E, F as G, _}",
                vec!["a.b.C", "a.b.D", "a.b.F", "a.b._"],
            ),
            ("scala", "import a.B, c.D", vec!["a.B", "c.D"]),
            ("scala", "import a.b.given", vec!["a.b.given"]),
            ("java", "package a.b;", vec![]),
        ] {
            assert_eq!(written(language, statement), expected, "{statement}");
        }
    }

    fn maven() -> Sample {
        Sample::of(&[
            "core/src/main/java/org/shop/Cart.java",
            "core/src/main/java/org/shop/Item.java",
            "core/src/main/java/org/shop/notes.txt",
            "core/src/test/java/org/shop/CartTest.java",
            "app/src/main/java/org/app/Main.java",
            "app/src/main/kotlin/org/app/View.kt",
        ])
    }

    #[test]
    fn a_class_is_found_in_every_module_of_the_build() {
        let shop = maven();
        let check = |from, statement, expected| shop.check("java", from, statement, expected);
        let cart = "core/src/main/java/org/shop/Cart.java";
        check(
            "core/src/test/java/org/shop/CartTest.java",
            "import org.shop.Cart;",
            cart,
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import org.shop.Cart;",
            cart,
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import org.shop.Cart.Line;",
            cart,
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import static org.shop.Cart.Line.max;",
            cart,
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import static org.shop.Cart.*;",
            cart,
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import org.app.View;",
            "app/src/main/kotlin/org/app/View.kt",
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import java.util.List;",
            "external",
        );
        check(
            "app/src/main/java/org/app/Main.java",
            "import org.shop.Absent;",
            "external",
        );
    }

    #[test]
    fn a_wildcard_resolves_to_all_files_of_the_package() {
        let shop = maven();
        let both = "core/src/main/java/org/shop/Cart.java core/src/main/java/org/shop/Item.java \
                    core/src/test/java/org/shop/CartTest.java";
        shop.check(
            "java",
            "app/src/main/java/org/app/Main.java",
            "import org.shop.*;",
            both,
        );
        shop.check(
            "java",
            "app/src/main/java/org/app/Main.java",
            "import java.util.*;",
            "external",
        );
    }

    #[test]
    fn plain_directories_are_source_roots_too() {
        let shop = Sample::of(&["src/org/shop/Cart.java", "org/shop/Item.java"]);
        shop.check(
            "java",
            "src/org/app/Main.java",
            "import org.shop.Cart;",
            "src/org/shop/Cart.java",
        );
        shop.check(
            "java",
            "org/app/Main.java",
            "import org.shop.Item;",
            "org/shop/Item.java",
        );
    }

    #[test]
    fn a_name_without_a_file_is_found_by_its_declaration() {
        let shop = Sample::of(&["src/main/kotlin/org/shop/Other.kt"]).with(
            "src/main/kotlin/org/shop/Extensions.kt",
            "package org.shop\n\nobject Kit {\n}\ninline fun <T> List<T>.second() = third()\nval limit = maximum\n",
        );
        let from = "src/main/kotlin/org/app/Main.kt";
        let file = "src/main/kotlin/org/shop/Extensions.kt";
        shop.check("kotlin", from, "import org.shop.second", file);
        shop.check("kotlin", from, "import org.shop.limit", file);
        shop.check("kotlin", from, "import org.shop.Kit.part", file);
        shop.check("kotlin", from, "import org.shop.maximum", "external");
        shop.check("kotlin", from, "import org.shop.third", "external");
    }

    #[test]
    fn a_line_declares_the_name_after_its_keyword_and_no_later_word() {
        for (line, expected) in [
            ("class Call internal constructor(val internal: Int) {", "Call"),
            ("actual object OkHttp {", "OkHttp"),
            ("internal class Cache private constructor()", "Cache"),
            ("class Headers : Iterable<Pair>, internal {", "Headers"),
            ("fun interface Dns {", "Dns"),
            ("enum class Protocol(val type: String) {", "Protocol"),
            ("val type: String = name", "type"),
            ("typealias Chain = Interceptor.Chain", "Chain"),
            ("fun plain(other: Int)", "plain"),
            ("inline fun <T : Any> List<T>.second(): T", "second"),
            ("fun Map<String, List<Int>>.flat()", "flat"),
            ("fun (() -> Unit).twice() {", "twice"),
            ("fun String?.orEmpty2() = this", "orEmpty2"),
            ("val <T> List<T>.middle: T get() = this[0]", "middle"),
            ("internal val cache by lazy { make() }", "cache"),
            ("fun `some name`() {}", "some name"),
            ("@Deprecated(\"the class Old\") class New", "New"),
            ("@JvmName(name = \"x\") fun y() {}", "y"),
            ("const val LIMIT = OTHER", "LIMIT"),
            ("case class Cart(items: List[Item]) extends Base", "Cart"),
            ("def apply[T](items: T*): Cart = new Cart", "apply"),
            ("implicit val order: Ordering[Cart] = other", "order"),
            ("opaque type Id = Int", "Id"),
            ("given cartOrder: Ordering[Cart] with", "cartOrder"),
            ("trait Shop", "Shop"),
        ] {
            assert_eq!(super::declared_name(line), Some(expected), "{line}");
        }
        for line in [
            "package okhttp3.internal",
            "import a.b",
            "}",
            "given [T]: Ord[T]",
            "fun",
        ] {
            assert_eq!(super::declared_name(line), None, "{line}");
        }
    }

    #[test]
    fn a_modifier_on_a_class_line_is_no_declaration_of_a_package() {
        let http = Sample::of(&["src/main/kotlin/okhttp3/internal/Util.kt"])
            .with(
                "src/main/kotlin/okhttp3/Call.kt",
                "package okhttp3\n\nclass Call internal constructor(\n)\n",
            )
            .with(
                "src/main/kotlin/okhttp3/Cache.kt",
                "package okhttp3\n\nclass Cache(\n) : Closeable by internal\n",
            );
        let from = "src/main/kotlin/okhttp3/OkHttp.jvm.kt";
        http.check(
            "kotlin",
            from,
            "import okhttp3.internal.CONST_VERSION",
            "external",
        );
    }

    #[test]
    fn kotlin_may_omit_the_common_start_of_packages() {
        let shop = Sample::of(&["src/main/kotlin/cart/Cart.kt"])
            .with("src/main/kotlin/app/Main.kt", "package org.shop.app\n");
        shop.check(
            "kotlin",
            "src/main/kotlin/app/Main.kt",
            "import org.shop.cart.Cart",
            "src/main/kotlin/cart/Cart.kt",
        );
        shop.check(
            "kotlin",
            "src/main/kotlin/app/Main.kt",
            "import org.other.cart.Cart",
            "external",
        );
    }

    #[test]
    fn scala_resolves_from_its_own_package_too() {
        let shop = Sample::of(&["src/main/scala/org/shop/cart/Cart.scala"]);
        let from = "src/main/scala/org/shop/Main.scala";
        shop.check(
            "scala",
            from,
            "import cart.Cart",
            "src/main/scala/org/shop/cart/Cart.scala",
        );
        shop.check(
            "scala",
            from,
            "import org.shop.cart._",
            "src/main/scala/org/shop/cart/Cart.scala",
        );
    }
}
