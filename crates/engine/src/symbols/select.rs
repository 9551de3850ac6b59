//! A definition in the outline of a file, by its name.

use docent_core::symbols::SymbolKind;

use super::FoundSymbol;
use super::name_query::is_within_one_edit;

/// The definitions of a file that a name means.
#[derive(Clone, Debug, Default)]
pub struct OutlineMatches<'a> {
    /// Those with this name and scope.
    pub matches: Vec<&'a FoundSymbol>,
    /// If there is none: those with a similar name, or with this name in another scope.
    pub similar: Vec<&'a FoundSymbol>,
}

/// Finds the definitions that `name` means: `render`, `Row.render`, `Row::render` or `Row#render`. A real
/// definition hides a namespace of the same name that is opened in several places.
pub fn find_in_outline<'a>(definitions: &'a [FoundSymbol], name: &str) -> OutlineMatches<'a> {
    let written = name.trim().replace("::", ".").replace('#', ".");
    let (scope, name) = written.rsplit_once('.').unwrap_or(("", &written));
    let mut matches: Vec<&FoundSymbol> = definitions
        .iter()
        .filter(|one| one.name == name && is_in_scope(&one.scope, scope))
        .collect();
    if matches.iter().any(|one| one.kind != SymbolKind::Module) {
        matches.retain(|one| one.kind != SymbolKind::Module);
    }
    let similar = if matches.is_empty() {
        let lower = name.to_lowercase();
        let is_similar = |one: &&FoundSymbol| {
            let other = one.name.to_lowercase();
            is_within_one_edit(&other, &lower) || (!lower.is_empty() && other.starts_with(&lower))
        };
        definitions.iter().filter(is_similar).collect()
    } else {
        Vec::new()
    };
    OutlineMatches { matches, similar }
}

/// Whether a definition's scope ends with the scope that was asked for.
fn is_in_scope(scope: &str, asked: &str) -> bool {
    asked.is_empty()
        || scope
            .strip_suffix(asked)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use docent_core::path::RepoPath;

    use super::*;
    use crate::symbols::NameMatch;

    fn definition(scope: &str, name: &str, kind: SymbolKind) -> FoundSymbol {
        FoundSymbol {
            path: RepoPath::parse("a.ts").unwrap(),
            name: name.to_owned(),
            scope: scope.to_owned(),
            kind,
            first_line: 1,
            last_line: 2,
            line: 1,
            column: 1,
            signature: String::new(),
            doc: String::new(),
            matched: NameMatch::Exact,
        }
    }

    fn check(name: &str, matches: &[&str], similar: &[&str]) {
        let definitions = [
            definition("", "Row", SymbolKind::Module),
            definition("", "Row", SymbolKind::Class),
            definition("Row", "render", SymbolKind::Method),
            definition("app.Table", "render", SymbolKind::Method),
            definition("", "draw", SymbolKind::Function),
        ];
        let show = |found: &[&FoundSymbol]| -> Vec<String> {
            found
                .iter()
                .map(|one| format!("{} {}.{}", one.kind.name(), one.scope, one.name))
                .collect()
        };
        let found = find_in_outline(&definitions, name);
        assert_eq!(show(&found.matches), matches, "{name}");
        assert_eq!(show(&found.similar), similar, "{name}");
    }

    #[test]
    fn a_name_is_found_with_and_without_its_scope() {
        check("draw", &["function .draw"], &[]);
        check("render", &["method Row.render", "method app.Table.render"], &[]);
        check("Row.render", &["method Row.render"], &[]);
        check("Table::render", &["method app.Table.render"], &[]);
        check("app.Table#render", &["method app.Table.render"], &[]);
    }

    #[test]
    fn part_of_a_scope_is_not_the_scope() {
        check(
            "able.render",
            &[],
            &["method Row.render", "method app.Table.render"],
        );
    }

    #[test]
    fn a_class_hides_a_namespace_of_the_same_name() {
        check("Row", &["class .Row"], &[]);
    }

    #[test]
    fn a_name_within_one_edit_is_similar() {
        check("drwa", &[], &["function .draw"]);
        check("drw", &[], &["function .draw"]);
        check("dr", &[], &["function .draw"]);
        check("Draw", &[], &["function .draw"]);
        check("zzz", &[], &[]);
    }
}
