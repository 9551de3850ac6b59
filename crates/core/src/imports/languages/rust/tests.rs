//! Imports of Rust, by example.

use super::*;
use crate::imports::sample_project::{Sample, written};

const PACKAGE: &str = "[package]\nname = \"shop\"\nedition = \"2024\"\n";

#[test]
fn every_form_of_statement_is_read() {
    for (statement, expected) in [
        ("use crate::{a::B, c};", vec!["crate::a::B", "crate::c"]),
        ("pub(crate) use super::x as y;", vec!["super::x"]),
        (
            "use a::{self, b::{C, D as E, *}, f};",
            vec!["a", "a::b::C", "a::b::D", "a::b::*", "a::f"],
        ),
        ("use ::a::b;", vec!["::a::b"]),
        ("use {a, b::c};", vec!["a", "b::c"]),
        (
            "use std::fmt::{\n    Display, // shown\n};",
            vec!["std::fmt::Display"],
        ),
        ("use self::a;", vec!["self::a"]),
        ("use crate::r#type::X;", vec!["crate::type::X"]),
        ("#[cfg(test)]\npub mod store;", vec!["mod store"]),
        ("mod tests { use super::*; }", vec![]),
        ("extern crate alloc as a;", vec!["alloc"]),
        ("use a::{}", vec![]),
        ("use a", vec!["a"]),
        ("fn f() { use a; }", vec![]),
    ] {
        assert_eq!(written("rust", statement), expected, "{statement}");
    }
    assert_eq!(read_statement("use a::{\n    b,\n    c,\n};", 4)[1].line, 6);
}

fn shop() -> Sample {
    Sample::of(&[
        "src/lib.rs",
        "src/a.rs",
        "src/a/b.rs",
        "src/a/b/c/mod.rs",
        "src/d/mod.rs",
        "src/d/e.rs",
        "src/f.rs",
    ])
    .with("Cargo.toml", PACKAGE)
}

#[test]
fn a_path_resolves_to_the_deepest_module_with_a_file() {
    let shop = shop();
    let check = |statement, expected| shop.check("rust", "src/f.rs", statement, expected);
    check("use crate::a::b::c::D;", "src/a/b/c/mod.rs");
    check("use crate::a::b::D;", "src/a/b.rs");
    check("use crate::a::B;", "src/a.rs");
    check("use crate::d::e;", "src/d/e.rs");
    check("use crate::d::*;", "src/d/mod.rs");
    check("use crate::Thing;", "src/lib.rs");
    check("use crate::*;", "src/lib.rs");
    check("use std::a::b;", "external");
    check("use serde::Serialize;", "external");
}

#[test]
fn a_declared_module_lies_beside_roots_and_below_files() {
    let shop = shop();
    shop.check("rust", "src/lib.rs", "mod a;", "src/a.rs");
    shop.check("rust", "src/lib.rs", "mod d;", "src/d/mod.rs");
    shop.check("rust", "src/a.rs", "mod b;", "src/a/b.rs");
    shop.check("rust", "src/a/b.rs", "mod c;", "src/a/b/c/mod.rs");
    shop.check("rust", "src/d/mod.rs", "mod e;", "src/d/e.rs");
    shop.check("rust", "src/a.rs", "mod f;", "external");
}

#[test]
fn self_and_super_resolve_from_the_module_of_the_file() {
    let shop = shop();
    shop.check("rust", "src/a/b.rs", "use super::X;", "src/a.rs");
    shop.check("rust", "src/a/b.rs", "use super::super::f::X;", "src/f.rs");
    shop.check("rust", "src/a/b.rs", "use super::super::super::x;", "external");
    shop.check("rust", "src/a/b/c/mod.rs", "use super::X;", "src/a/b.rs");
    shop.check("rust", "src/d/e.rs", "use super::X;", "src/d/mod.rs");
    shop.check("rust", "src/f.rs", "use super::X;", "src/lib.rs");
    shop.check("rust", "src/a.rs", "use self::b::X;", "src/a/b.rs");
    shop.check("rust", "src/a.rs", "use b::X;", "src/a/b.rs");
    shop.check("rust", "src/a.rs", "use ::b::X;", "external");
    shop.check("rust", "src/a.rs", "use f::X;", "external");
}

#[test]
fn inline_modules_have_no_file() {
    let text = "const A: char = '{';\nconst B: &str = r#\"mod x {\"#;\nmod tests {\n    use super::*;\n    mod deep {\n\
                        use super::super::super::f;\n    }\n}\nuse super::f;\n";
    let shop = shop().with("src/a.rs", text);
    let resolver = crate::imports::Resolver::new(&shop);
    let resolve = |written: &str, line| {
        let import = Import {
            written: written.to_owned(),
            line,
        };
        resolver.resolve(crate::language::Language::Rust, "src/a.rs", &import)
    };
    assert_eq!(
        resolve("super::*", 4),
        crate::imports::ImportTarget::Itself,
        "the file itself"
    );
    let f = crate::imports::ImportTarget::Files(vec!["src/f.rs".to_owned()]);
    assert_eq!(resolve("super::super::super::f", 6), f);
    assert_eq!(resolve("super::f", 9), f);
}

#[test]
fn paths_of_edition_2015_start_at_the_crate_root() {
    let shop = shop().with("Cargo.toml", "[package]\nname = \"shop\"");
    shop.check("rust", "src/a.rs", "use f::X;", "src/f.rs");
    shop.check("rust", "src/a.rs", "use g::X;", "external");
}

#[test]
fn tests_examples_and_programs_are_crates_of_their_own() {
    let shop = Sample::of(&[
        "src/lib.rs",
        "src/a.rs",
        "src/bin/tool.rs",
        "src/bin/big/main.rs",
        "src/bin/big/part.rs",
        "tests/one.rs",
        "tests/common/mod.rs",
        "tests/common/kit.rs",
        "tests/it/main.rs",
        "tests/it/case.rs",
        "examples/show.rs",
        "build.rs",
    ])
    .with("Cargo.toml", PACKAGE);
    let check = |from, statement, expected| shop.check("rust", from, statement, expected);
    check("tests/one.rs", "mod common;", "tests/common/mod.rs");
    check("tests/one.rs", "use shop::a::X;", "src/a.rs");
    check("tests/one.rs", "use crate::a::X;", "itself");
    check("tests/one.rs", "use crate::common::X;", "tests/common/mod.rs");
    check("tests/common/mod.rs", "mod kit;", "tests/common/kit.rs");
    check("tests/common/kit.rs", "use super::X;", "tests/common/mod.rs");
    check("tests/common/kit.rs", "use crate::X;", "external");
    check("tests/it/main.rs", "mod case;", "tests/it/case.rs");
    check("tests/it/case.rs", "use crate::X;", "tests/it/main.rs");
    check("examples/show.rs", "use shop::X;", "src/lib.rs");
    check("examples/show.rs", "use crate::X;", "itself");
    check("src/bin/tool.rs", "use shop::a;", "src/a.rs");
    check("src/bin/big/main.rs", "mod part;", "src/bin/big/part.rs");
    check("src/bin/big/part.rs", "use crate::X;", "src/bin/big/main.rs");
    check("build.rs", "use crate::X;", "itself");
}

#[test]
fn a_module_belongs_to_the_root_that_declares_it() {
    let shop = Sample::of(&["src/cli.rs", "src/a.rs"])
        .with("Cargo.toml", PACKAGE)
        .with("src/lib.rs", "pub mod a;")
        .with("src/main.rs", "mod cli;");
    shop.check("rust", "src/cli.rs", "use crate::X;", "src/main.rs");
    shop.check("rust", "src/a.rs", "use crate::X;", "src/lib.rs");
    shop.check("rust", "src/main.rs", "use shop::X;", "src/lib.rs");
    shop.check("rust", "src/main.rs", "use crate::cli::X;", "src/cli.rs");
}

#[test]
fn other_crates_of_the_workspace_are_found_by_name() {
    let shop = Sample::of(&[
        "crates/my-store/src/lib.rs", "crates/my-store/src/table.rs", "crates/renamed/src/lib.rs", "other/code/root.rs",
        "other/code/x.rs", "crates/app/src/main.rs", "crates/program/src/main.rs",
    ])
    .with("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]")
    .with("crates/my-store/Cargo.toml", "[package]\nname = \"my-store\"")
    .with("crates/renamed/Cargo.toml", "[package]\nname = \"renamed\"\n[lib]\nname = \"called\"")
    .with("crates/program/Cargo.toml", "[package]\nname = \"program\"")
    .with("other/Cargo.toml", "[package]\nname = \"other\"\n[lib]\npath = \"code/root.rs\"")
    .with(
        "crates/app/Cargo.toml",
        "[package]\nname = \"app\"\nedition = \"2024\"\n[dependencies]\nfar = { path = \"../../other\", package = \"other\" }",
    );
    let check = |statement, expected| shop.check("rust", "crates/app/src/main.rs", statement, expected);
    check("use my_store::table::Table;", "crates/my-store/src/table.rs");
    check("use my_store::Table;", "crates/my-store/src/lib.rs");
    check("extern crate my_store;", "crates/my-store/src/lib.rs");
    check("use ::my_store::table;", "crates/my-store/src/table.rs");
    check("use called::X;", "crates/renamed/src/lib.rs");
    check("use renamed::X;", "external");
    check("use far::x::Y;", "other/code/x.rs");
    check("use program::X;", "external");
    shop.check("rust", "other/code/x.rs", "use crate::Y;", "other/code/root.rs");
}

#[test]
fn without_a_manifest_the_nearest_root_file_decides() {
    let loose = Sample::of(&["code/main.rs", "code/a.rs", "code/b/c.rs", "code/b.rs"]);
    loose.check("rust", "code/b/c.rs", "use crate::a::X;", "code/a.rs");
    loose.check("rust", "code/b/c.rs", "use super::X;", "code/b.rs");
    loose.check("rust", "code/main.rs", "mod a;", "code/a.rs");
}

#[test]
fn items_inside_a_macro_are_read() {
    let read_items = |statement: &str| -> Vec<(String, usize)> {
        let imports = super::read_statement(statement, 10).into_iter();
        imports.map(|import| (import.written, import.line)).collect()
    };
    let items = "cfg_fs! {\n    #[doc(hidden)]\n    pub(crate) mod fs;\n\n    use crate::a::{B, C};\n    pub fn f() { 1; }\n}";
    assert_eq!(
        read_items(items),
        [
            ("mod fs".to_owned(), 12),
            ("crate::a::B".to_owned(), 14),
            ("crate::a::C".to_owned(), 14)
        ]
    );
    assert_eq!(read_items("println!(\"use x;\")"), []);
    assert_eq!(read_items("vec![crate::a]"), []);
}
