//! Answers about symbols from the files themselves: every file is read and parsed for each question.
//!
//! Stands in for the answers from the index until those exist: [`super::find_references`]
//! is re-exported from here, in one place.

use std::collections::BTreeSet;
use std::sync::Mutex;

use docent_core::language::Language;
use docent_core::path::RepoPath;
use docent_core::role::FileRole;
use docent_core::symbols::{FileSymbols, ReferenceRole, SymbolDefinition, chunk_with_symbols};

use super::{
    Direction, EnclosingSymbol, FileUses, FoundSymbol, Grade, Ground, NameMatch, ReferenceOutcome,
    ReferenceQuery, SymbolContext, SymbolError, SymbolUse, TreeNode,
};
use crate::index::Corpus;
use crate::walk::{VisitOutcome, visit_files};

const MAX_FILE_BYTES: u64 = 1 << 20;

struct ScannedFile {
    path: RepoPath,
    text: String,
    symbols: FileSymbols,
}

fn scan(context: &SymbolContext<'_>) -> (Vec<ScannedFile>, Ground) {
    let freshness = context
        .index
        .freshen(Corpus::Code, context.patience, context.deadline, context.report);
    let found = Mutex::new((Vec::new(), 0));
    visit_files(context.root, &[], context.deadline, || {
        |walked| {
            let Ok(content) = context.root.read(walked.path(), MAX_FILE_BYTES) else {
                return VisitOutcome::Continue;
            };
            let Ok(text) = String::from_utf8(content.bytes) else {
                return VisitOutcome::Continue;
            };
            let language = Language::of_file(walked.path(), &text);
            let mut found = found.lock().expect("nothing panics while it adds a file");
            match chunk_with_symbols(language, &text).1 {
                Some(symbols) => found.0.push(ScannedFile {
                    path: walked.path().clone(),
                    text,
                    symbols,
                }),
                None => found.1 += 0,
            }
            VisitOutcome::Continue
        }
    });
    let (mut files, unparsed) = found.into_inner().expect("nothing panics while it adds a file");
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let ground = Ground {
        files: files.len(),
        unparsed,
        freshness,
    };
    (files, ground)
}

fn convert(file: &ScannedFile, definition: &SymbolDefinition) -> FoundSymbol {
    found_symbol(&file.path, &file.text, &file.symbols, definition)
}

fn found_symbol(
    path: &RepoPath,
    text: &str,
    symbols: &FileSymbols,
    definition: &SymbolDefinition,
) -> FoundSymbol {
    let part = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or_default();
    let signature = part(definition.signature.start, definition.signature.end);
    let doc = part(definition.doc.start, definition.doc.end);
    FoundSymbol {
        path: path.clone(),
        name: symbols.name(definition.name).to_owned(),
        scope: symbols.name(definition.scope).to_owned(),
        kind: definition.kind,
        first_line: definition.first_line,
        last_line: definition.last_line,
        line: definition.name_at.line,
        column: definition.name_at.column + 1,
        signature: signature.split_whitespace().collect::<Vec<_>>().join(" "),
        doc: doc
            .lines()
            .map(|line| line.trim().trim_matches(['/', '*', '#', '"', '!', ' ']))
            .find(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned(),
        matched: NameMatch::Exact,
    }
}

fn match_name(found: &FoundSymbol, asked: &str) -> Option<NameMatch> {
    let asked = asked.replace("::", ".").replace('#', ".");
    let (scope, name) = asked.rsplit_once('.').unwrap_or(("", &asked));
    if !scope.is_empty() && found.scope != scope && !found.scope.ends_with(&format!(".{scope}")) {
        return None;
    }
    if found.name == name {
        Some(NameMatch::Exact)
    } else if found.name.eq_ignore_ascii_case(name) {
        Some(NameMatch::OtherCase)
    } else if found.name.starts_with(name) {
        Some(NameMatch::Prefix)
    } else {
        is_one_edit(&found.name, name).then_some(NameMatch::Similar)
    }
}

fn is_one_edit(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[start..], &b[start..]);
    let tail = |x: usize, y: usize| a.len() >= x && b.len() >= y && a[x..] == b[y..];
    tail(1, 1) || tail(1, 0) || tail(0, 1) || (tail(2, 2) && a[0] == b[1] && a[1] == b[0])
}

fn is_within(path: &RepoPath, asked: Option<&str>) -> bool {
    let asked = asked.map(|asked| asked.split(':').next().unwrap_or_default().trim_end_matches('/'));
    asked.is_none_or(|asked| {
        asked.is_empty()
            || asked == "."
            || path.as_str() == asked
            || path.as_str().starts_with(&format!("{asked}/"))
    })
}

fn line_of(asked: Option<&str>) -> Option<u32> {
    asked?.rsplit_once(':')?.1.parse().ok()
}

fn find_all(files: &[ScannedFile], name: &str, path: Option<&str>) -> Vec<FoundSymbol> {
    let mut found: Vec<FoundSymbol> = Vec::new();
    for file in files.iter().filter(|file| is_within(&file.path, path)) {
        for definition in &file.symbols.definitions {
            let mut symbol = convert(file, definition);
            let is_at =
                line_of(path).is_none_or(|line| (symbol.first_line..=symbol.last_line).contains(&line));
            if let (true, Some(matched)) = (is_at, match_name(&symbol, name)) {
                symbol.matched = matched;
                found.push(symbol);
            }
        }
    }
    found.sort_by(|a, b| (a.matched, &a.path, a.line).cmp(&(b.matched, &b.path, b.line)));
    let best = found.first().map(|first| first.matched);
    found.retain(|one| Some(one.matched) == best);
    found
}

/// Finds the uses of a definition.
pub fn find_references(
    context: &SymbolContext<'_>,
    query: &ReferenceQuery<'_>,
) -> Result<ReferenceOutcome, SymbolError> {
    let (files, ground) = scan(context);
    context.deadline.check()?;
    let found = find_all(&files, query.symbol, query.path);
    let mut outcome = ReferenceOutcome {
        ground,
        ..ReferenceOutcome::default()
    };
    if found
        .first()
        .is_none_or(|first| first.matched != NameMatch::Exact)
    {
        outcome.suggestions = found;
        return Ok(outcome);
    }
    outcome.targets = found;
    match query.direction {
        Direction::Callers => {
            outcome.files = uses(&files, &outcome.targets);
            if query.depth > 1 {
                let mut seen = BTreeSet::new();
                outcome.tree = callers(&files, &outcome.targets, query.depth, &mut seen);
            }
        }
        Direction::Callees => outcome.tree = callees(&files, &outcome.targets),
        Direction::Implementations => outcome.tree = implementations(&files, &outcome.targets),
    }
    let all = || outcome.files.iter().flat_map(|file| &file.uses);
    (outcome.exact, outcome.by_name) = (
        all().filter(|one| one.grade == Grade::Exact).count() + outcome.tree.len(),
        all().filter(|one| one.grade == Grade::ByName).count(),
    );
    Ok(outcome)
}

fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.split(move |c| !is_word(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

fn uses(files: &[ScannedFile], targets: &[FoundSymbol]) -> Vec<FileUses> {
    let name = &targets[0].name;
    let mut found = Vec::new();
    for file in files {
        let is_exact = targets.iter().any(|target| target.path == file.path) || file.text.contains("import");
        let mut uses = Vec::new();
        for (at, line) in file.text.lines().enumerate() {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            for (column, _) in words(line).filter(|(_, word)| word == name) {
                let column = u32::try_from(column).unwrap_or(u32::MAX);
                let is_definition = file
                    .symbols
                    .definitions
                    .iter()
                    .any(|one| (one.name_at.line, one.name_at.column) == (number, column));
                if is_definition {
                    continue;
                }
                let rest = &line[column as usize + name.len()..];
                uses.push(SymbolUse {
                    line: number,
                    column: column + 1,
                    role: if rest.starts_with('(') {
                        ReferenceRole::Call
                    } else if line.trim_start().starts_with("import") {
                        ReferenceRole::Import
                    } else {
                        ReferenceRole::Name
                    },
                    grade: if is_exact { Grade::Exact } else { Grade::ByName },
                    within: enclosing(file, number),
                    text: line.trim().to_owned(),
                });
            }
        }
        if !uses.is_empty() {
            found.push(FileUses {
                path: file.path.clone(),
                is_test: FileRole::of(&file.path) == FileRole::Test,
                uses,
            });
        }
    }
    found.sort_by_key(|file| {
        (
            file.is_test,
            !file.uses.iter().any(|one| one.role == ReferenceRole::Call),
        )
    });
    found
}

fn definition_at(file: &ScannedFile, line: u32) -> Option<&SymbolDefinition> {
    let around = |one: &&SymbolDefinition| (one.first_line..=one.last_line).contains(&line);
    file.symbols.definitions.iter().rfind(around)
}

fn enclosing(file: &ScannedFile, line: u32) -> Option<EnclosingSymbol> {
    let symbol = convert(file, definition_at(file, line)?);
    Some(EnclosingSymbol {
        name: if symbol.scope.is_empty() {
            symbol.name
        } else {
            format!("{}.{}", symbol.scope, symbol.name)
        },
        kind: symbol.kind,
        first_line: symbol.first_line,
        last_line: symbol.last_line,
    })
}

fn callers(
    files: &[ScannedFile],
    targets: &[FoundSymbol],
    depth: u8,
    seen: &mut BTreeSet<(String, u32)>,
) -> Vec<TreeNode> {
    let mut nodes: Vec<TreeNode> = Vec::new();
    for found in uses(files, targets) {
        let Some(file) = files.iter().find(|file| file.path == found.path) else {
            continue;
        };
        for one in found.uses.iter().filter(|one| one.role == ReferenceRole::Call) {
            let Some(definition) = definition_at(file, one.line) else {
                continue;
            };
            let symbol = convert(file, definition);
            if let Some(node) = nodes.iter_mut().find(|node| node.symbol == symbol) {
                node.lines.push(one.line);
                continue;
            }
            let is_repeated = !seen.insert((symbol.path.to_string(), symbol.line));
            let children = if depth > 1 && !is_repeated {
                callers(files, std::slice::from_ref(&symbol), depth - 1, seen)
            } else {
                Vec::new()
            };
            nodes.push(TreeNode {
                symbol,
                grade: one.grade,
                lines: vec![one.line],
                children,
                is_repeated,
            });
        }
    }
    nodes
}

fn callees(files: &[ScannedFile], targets: &[FoundSymbol]) -> Vec<TreeNode> {
    let mut nodes: Vec<TreeNode> = Vec::new();
    for target in targets {
        let Some(file) = files.iter().find(|file| file.path == target.path) else {
            continue;
        };
        for (at, line) in file.text.lines().enumerate() {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            if !(target.first_line..=target.last_line).contains(&number) {
                continue;
            }
            for (column, word) in words(line) {
                if word == target.name || !line[column + word.len()..].starts_with('(') {
                    continue;
                }
                for symbol in find_all(files, word, None) {
                    if symbol.matched != NameMatch::Exact {
                        continue;
                    }
                    match nodes.iter_mut().find(|node| node.symbol == symbol) {
                        Some(node) => node.lines.push(number),
                        None => nodes.push(TreeNode {
                            symbol,
                            grade: Grade::Exact,
                            lines: vec![number],
                            children: Vec::new(),
                            is_repeated: false,
                        }),
                    }
                }
            }
        }
    }
    nodes
}

fn implementations(files: &[ScannedFile], targets: &[FoundSymbol]) -> Vec<TreeNode> {
    let mut nodes = Vec::new();
    for file in files {
        for definition in &file.symbols.definitions {
            let symbol = convert(file, definition);
            if definition.kind.is_container()
                && symbol.name != targets[0].name
                && words(&symbol.signature).any(|(_, word)| word == targets[0].name)
            {
                nodes.push(TreeNode {
                    lines: vec![symbol.line],
                    symbol,
                    grade: Grade::Exact,
                    children: Vec::new(),
                    is_repeated: false,
                });
            }
        }
    }
    nodes
}
