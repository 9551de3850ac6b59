//! Prints the symbols of files: definitions, uses and imports, as they are stored.
//!
//! `cargo run -p docent-core --example symbols -- FILE…`

#![expect(
    clippy::disallowed_methods,
    reason = "reads the files that it is given, outside of any project"
)]

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::symbols::{Expression, ExpressionId, FileSymbols, Target, chunk_with_symbols};

#[expect(clippy::print_stdout, reason = "an example prints")]
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let name = path.rsplit('/').next().unwrap_or_default();
        let language = Language::of_file(&RepoPath::parse(name).expect("a file name"), &text);
        let Some(symbols) = chunk_with_symbols(language, &text).1 else {
            println!("{path}: not parsed");
            continue;
        };
        println!("{path} package {:?}", symbols.package);
        for definition in &symbols.definitions {
            let shown = |id: &ExpressionId| show(&symbols, *id);
            println!(
                "def {}:{} {} {}.{} -> {:?} bases {:?} lines {}-{}",
                definition.name_at.line,
                definition.name_at.column,
                definition.kind.name(),
                symbols.name(definition.scope),
                symbols.name(definition.name),
                definition.result.as_ref().map(shown),
                definition.bases.iter().map(shown).collect::<Vec<_>>(),
                definition.first_line,
                definition.last_line,
            );
        }
        for import in &symbols.imports {
            println!(
                "import {} = {:?} of {:?}",
                symbols.name(import.local),
                import.imported,
                symbols.name(import.written)
            );
        }
        for reference in &symbols.references {
            let target = match reference.target {
                Target::Member(of) => show(&symbols, of),
                other => format!("{other:?}"),
            };
            println!(
                "use {}:{} {} {} <- {target}",
                reference.at.line,
                reference.at.column,
                reference.role.name(),
                symbols.name(reference.name)
            );
        }
    }
}

fn show(symbols: &FileSymbols, id: ExpressionId) -> String {
    let definition = |id: docent_core::symbols::DefinitionId| {
        symbols
            .definitions
            .get(id.0 as usize)
            .map_or("?", |definition| symbols.name(definition.name))
    };
    match symbols.expressions[id.0 as usize] {
        Expression::Name(name) => symbols.name(name).to_owned(),
        Expression::Definition(id) => format!("def({})", definition(id)),
        Expression::Member(of, name) => format!("{}.{}", show(symbols, of), symbols.name(name)),
        Expression::Call(of) => format!("{}()", show(symbols, of)),
        Expression::Instance(of) => format!("<{}>", show(symbols, of)),
        Expression::This(id) => format!("this({})", definition(id)),
        Expression::Super(id) => format!("super({})", definition(id)),
        Expression::Collection(of) => format!("[{}]", show(symbols, of)),
        Expression::Element(of) => format!("{}[]", show(symbols, of)),
        Expression::Builtin => "builtin".to_owned(),
    }
}
