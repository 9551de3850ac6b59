//! Symbols are read as they were written, and damaged bytes are refused.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::language::Language;
use crate::symbols::{ByteRange, chunk_with_symbols};

/// Names with common prefixes: longer than a front-coded prefix may be, and ending inside a character.
fn names() -> impl Strategy<Value = Vec<String>> {
    let long = "a".repeat(MAX_SHARED_BYTES - 1);
    let name = prop_oneof![
        "[a-c]{0,4}",
        "[a-z]{1,12}(\\.[A-Z][a-z]{1,6})?",
        "\\PC{0,5}",
        "[éèê]{0,4}",
        "[a-c]{0,4}".prop_map(move |end| format!("{long}{end}")),
    ];
    vec(name, 1..40)
}

fn position() -> impl Strategy<Value = SourcePosition> {
    let number = || prop_oneof![4 => 0..200_u32, 1 => any::<u32>()];
    (number(), number()).prop_map(|(line, column)| SourcePosition { line, column })
}

fn range() -> impl Strategy<Value = ByteRange> {
    prop_oneof![
        Just(ByteRange::default()),
        (0..5_000_u32, 0..500_u32).prop_map(|(start, length)| ByteRange {
            start,
            end: start + length
        }),
        (any::<u32>(), any::<u32>()).prop_map(|(start, end)| ByteRange { start, end }),
    ]
}

fn definition(counts: Counts) -> impl Strategy<Value = SymbolDefinition> {
    let name = move || (0..counts.names).prop_map(NameId);
    (
        (name(), select(&SymbolKind::ALL), name(), counts.definition()),
        (any::<u32>(), 0..900_u32, position()),
        (range(), range(), any::<(bool, bool)>()),
        (counts.expression(), vec(counts.expression(), 0..3)),
    )
        .prop_map(|(of, lines, text, types)| SymbolDefinition {
            name: of.0,
            kind: of.1,
            scope: of.2,
            parent: of.3,
            first_line: lines.0 % 3_000,
            last_line: lines.1,
            name_at: lines.2,
            signature: text.0,
            doc: text.1,
            has_body: text.2.0,
            is_file_local: text.2.1,
            result: types.0,
            bases: types.1.into_iter().flatten().collect(),
        })
}

fn reference(counts: Counts) -> impl Strategy<Value = Reference> {
    let name = (0..counts.names).prop_map(NameId);
    let role = select(&ReferenceRole::ALL);
    let target = (0..4, counts.definition(), counts.expression());
    (name, role, position(), counts.definition(), target).prop_map(|(name, role, at, within, target)| {
        Reference {
            name,
            role,
            at,
            within,
            target: match target {
                (1, Some(id), _) => Target::Definition(id),
                (2, _, Some(id)) => Target::Member(id),
                (3, ..) => Target::UnknownMember,
                _ => Target::Scope,
            },
        }
    })
}

fn import(counts: Counts) -> impl Strategy<Value = ImportBinding> {
    let name = move || (0..counts.names).prop_map(NameId);
    let imported = prop_oneof![
        name().prop_map(ImportedName::Name),
        Just(ImportedName::Default),
        Just(ImportedName::Module),
        Just(ImportedName::Wildcard),
    ];
    (name(), name(), imported, any::<bool>(), any::<u32>()).prop_map(
        |(local, written, imported, is_reexport, line)| ImportBinding {
            local,
            written,
            imported,
            is_reexport,
            line,
        },
    )
}

fn expressions(counts: Counts) -> impl Strategy<Value = Vec<Expression>> {
    let parts = (0..10, any::<u32>(), 0..counts.names, counts.definition());
    vec(parts, counts.expressions as usize).prop_map(|all| {
        let expression = |(at, (tag, of, name, definition)): (usize, (i32, u32, u32, _))| {
            let before = (at > 0).then(|| ExpressionId(of % to_u32(at)));
            let name = NameId(name);
            match (tag, before, definition) {
                (1, _, Some(id)) => Expression::Definition(id),
                (2, Some(of), _) => Expression::Member(of, name),
                (3, Some(of), _) => Expression::Call(of),
                (4, Some(of), _) => Expression::Instance(of),
                (5, _, Some(id)) => Expression::This(id),
                (6, _, Some(id)) => Expression::Super(id),
                (7, Some(of), _) => Expression::Collection(of),
                (8, Some(of), _) => Expression::Element(of),
                (9, ..) => Expression::Builtin,
                _ => Expression::Name(name),
            }
        };
        all.into_iter().enumerate().map(expression).collect()
    })
}

/// How many of each there are to refer to.
#[derive(Clone, Copy, Debug)]
struct Counts {
    names: u32,
    definitions: u32,
    expressions: u32,
}

impl Counts {
    fn definition(self) -> impl Strategy<Value = Option<DefinitionId>> {
        option::of(0..self.definitions.max(1))
            .prop_map(move |id| Some(DefinitionId(id?)).filter(|_| self.definitions > 0))
    }

    fn expression(self) -> impl Strategy<Value = Option<ExpressionId>> {
        option::of(0..self.expressions.max(1))
            .prop_map(move |id| Some(ExpressionId(id?)).filter(|_| self.expressions > 0))
    }
}

fn symbols() -> impl Strategy<Value = FileSymbols> {
    (names(), 0..12_u32, 0..12_u32).prop_flat_map(|(names, definitions, expressions)| {
        let counts = Counts {
            names: to_u32(names.len()),
            definitions,
            expressions,
        };
        (
            Just(names),
            vec(definition(counts), definitions as usize),
            vec(reference(counts), 0..60),
            vec(import(counts), 0..6),
            self::expressions(counts),
            "[a-z.]{0,8}",
        )
            .prop_map(
                |(names, definitions, references, imports, expressions, package)| FileSymbols {
                    names,
                    definitions,
                    references,
                    imports,
                    expressions,
                    package,
                },
            )
    })
}

/// Reads everything in every way.
fn read_all(bytes: &[u8]) -> Result<FileSymbols, DecodeError> {
    let reader = SymbolsReader::new(bytes)?;
    let symbols = reader.decode()?;
    for (at, name) in symbols.names.iter().enumerate() {
        reader.find_name(name)?;
        reader.references_of(NameId(to_u32(at)))?;
    }
    Ok(symbols)
}

proptest! {
    #[test]
    fn symbols_are_read_as_they_were_written(mut symbols in symbols()) {
        let bytes = encode(&symbols);
        symbols.normalise();
        prop_assert_eq!(&encode(&symbols), &bytes, "the form is the same for every order of names");
        let reader = SymbolsReader::new(&bytes).unwrap();
        prop_assert_eq!(&reader.decode().unwrap(), &symbols);
        for (at, name) in symbols.names.iter().enumerate() {
            let id = NameId(to_u32(at));
            prop_assert_eq!(reader.find_name(name).unwrap(), Some(id));
            prop_assert_eq!(reader.name(id).unwrap(), name);
            let of_name: Vec<Reference> = symbols.references.iter().filter(|one| one.name == id).copied().collect();
            prop_assert_eq!(reader.references_of(id).unwrap(), of_name);
        }
    }

    #[test]
    fn a_name_that_is_not_there_is_not_found(mut symbols in symbols(), wanted in "[a-cé]{0,5}") {
        symbols.normalise();
        let bytes = encode(&symbols);
        let expected = symbols.names.binary_search(&wanted).ok().map(|at| NameId(to_u32(at)));
        prop_assert_eq!(SymbolsReader::new(&bytes).unwrap().find_name(&wanted).unwrap(), expected);
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in vec(any::<u8>(), 0..300)) {
        let _ = read_all(&bytes);
    }

    #[test]
    fn damaged_symbols_are_refused_or_read(symbols in symbols(), at in any::<usize>(), byte in any::<u8>()) {
        let mut bytes = encode(&symbols);
        let at = at % bytes.len();
        prop_assert_eq!(read_all(&bytes[..at]), Err(DecodeError));
        bytes[at] = byte;
        let _ = read_all(&bytes);
    }
}

#[test]
fn a_count_beyond_the_bytes_is_refused() {
    let mut writer = VarintWriter::default();
    for length in [5, 1, 0, 1, 1, 0] {
        writer.write(length);
    }
    writer.write(u64::from(u32::MAX));
    writer.bytes.extend([0, 0, 0]);
    assert_eq!(SymbolsReader::new(&writer.bytes).unwrap_err(), DecodeError);
}

#[test]
fn an_expression_that_refers_to_itself_is_refused() {
    let symbols = FileSymbols {
        expressions: vec![Expression::Call(ExpressionId(0))],
        ..FileSymbols::default()
    };
    let bytes = encode(&symbols);
    assert_eq!(
        SymbolsReader::new(&bytes).unwrap().expressions(),
        Err(DecodeError)
    );
}

#[test]
fn a_reference_takes_few_bytes() {
    let mut symbols = FileSymbols {
        names: (0..200).map(|number| format!("name_of_{number}")).collect(),
        expressions: vec![Expression::Builtin; 100],
        ..FileSymbols::default()
    };
    for number in 0..1_000_u32 {
        symbols.references.push(Reference {
            name: NameId(number.wrapping_mul(7_919) % 200),
            role: ReferenceRole::Call,
            at: SourcePosition {
                line: 1 + number / 2,
                column: number % 2 * 20 + 4,
            },
            within: None,
            target: match number % 3 {
                0 => Target::Scope,
                _ => Target::Member(ExpressionId(number / 10)),
            },
        });
    }
    let without = encode(&FileSymbols {
        references: Vec::new(),
        ..symbols.clone()
    })
    .len();
    let bytes = encode(&symbols).len() - without;
    assert!(bytes < 6_000, "{bytes} bytes for 1,000 references");
}

#[test]
fn symbols_of_a_text_are_read_as_they_were_written() {
    let text = "/// Rows.\npub struct Row;\n\nimpl Row {\n    fn render(&self) {}\n}\n";
    let mut symbols = chunk_with_symbols(Language::Rust, text).1.unwrap();
    let bytes = encode(&symbols);
    symbols.normalise();
    let read = SymbolsReader::new(&bytes).unwrap().decode().unwrap();
    assert_eq!(read, symbols);
    assert!(
        read.definitions
            .iter()
            .any(|definition| read.name(definition.name) == "render")
    );
}
