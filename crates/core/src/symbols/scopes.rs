//! Local names of a function: parameters, variables and nested functions, as far as the walk has come.

use foldhash::HashMap;

use super::{ExpressionId, NameId};

/// The names that are bound around the current node, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// By name: the depth of each scope that binds it, and what is known of the value.
    bound: HashMap<NameId, Vec<(usize, Option<ExpressionId>)>>,
    /// The names that each open scope binds.
    open: Vec<Vec<NameId>>,
}

/// A local name.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalBinding {
    /// `None` if nothing is known of it.
    pub(super) value: Option<ExpressionId>,
}

impl Scopes {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes scopes until `depth` are left.
    pub(super) fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            for name in self.open.pop().unwrap_or_default() {
                if let Some(bindings) = self.bound.get_mut(&name) {
                    bindings.pop();
                }
            }
        }
    }

    /// Binds a name in the innermost scope. Does nothing at the top level, where names are definitions.
    pub(super) fn bind(&mut self, name: NameId, value: Option<ExpressionId>) {
        let depth = self.open.len();
        let Some(names) = self.open.last_mut() else {
            return;
        };
        let bindings = self.bound.entry(name).or_default();
        match bindings.last_mut() {
            // A second assignment whose value says nothing does not make the variable another one.
            Some((at, known)) if *at == depth => *known = value.or(*known),
            _ => {
                bindings.push((depth, value));
                names.push(name);
            }
        }
    }

    /// The binding of a name. `None` if it is not local.
    pub(super) fn find(&self, name: NameId) -> Option<LocalBinding> {
        let (_, value) = *self.bound.get(&name)?.last()?;
        Some(LocalBinding { value })
    }
}
