//! What the text says about the innermost definition: the type it returns, its bases, whether it is local to
//! its file.

use tree_sitter::Node;

use super::walk::{LOCAL_MARK, SymbolWalk, named_children};
use super::{DefinitionId, Expression, ExpressionId, SymbolKind};

/// Base classes and interfaces that are kept of a type.
const MAX_BASES: usize = 100;

impl<'a> SymbolWalk<'a> {
    /// Records the type that the innermost definition returns. A type that is written down wins over one that
    /// a `return` tells.
    pub(super) fn set_result(&mut self, node: Node<'a>, is_declared: bool) {
        let Some(open) = self.reader.open.last().copied() else {
            return;
        };
        if open.kind.is_container() || self.lambdas > 0 {
            return;
        }
        if self.reader.symbols.definitions[open.id.0 as usize]
            .result
            .is_none()
        {
            let result = if is_declared {
                self.reader.instance_of(node)
            } else {
                self.reader.value_of(node)
            };
            self.reader.symbols.definitions[open.id.0 as usize].result = result;
        }
    }

    /// `static int f(void)` outside of functions.
    pub(super) fn mark_as_local(&mut self, mark: Node<'a>) {
        if self.reader.text_of(mark) == LOCAL_MARK
            && let Some(open) = self.reader.open.last()
            && open.kind == SymbolKind::Function
            && open.name_start > mark.start_byte()
        {
            self.reader.symbols.definitions[open.id.0 as usize].is_file_local = true;
        }
    }

    pub(super) fn add_bases(&mut self, node: Node<'a>) {
        let Some(open) = self.reader.open.last().copied() else {
            return;
        };
        let nodes = match self.reader.value_of(node) {
            Some(base) => {
                self.add_base(open.id, base);
                return;
            }
            None => named_children(node),
        };
        for node in nodes {
            if let Some(base) = self.reader.value_of(node) {
                self.add_base(open.id, base);
            }
        }
    }

    pub(super) fn add_base(&mut self, of: DefinitionId, base: ExpressionId) {
        let expression = self.reader.symbols.expressions[base.0 as usize];
        let definition = &mut self.reader.symbols.definitions[of.0 as usize];
        // The cases of an enumeration extend it in Scala.
        let is_itself = definition.has_body && expression == Expression::Name(definition.name);
        if !is_itself && definition.bases.len() < MAX_BASES && !definition.bases.contains(&base) {
            definition.bases.push(base);
        }
    }
}
