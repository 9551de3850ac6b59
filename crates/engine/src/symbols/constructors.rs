//! Constructors that have the name of their class, as in Java and C++: a call of the class is a call of them.

use docent_core::symbols::{ReferenceRole, SymbolDefinition, SymbolKind};

use super::family::LanguageFamily;
use super::loaded::{DefinitionRef, LoadedFile};
use super::resolve::{Resolution, SymbolResolver};
use crate::store::StoreError;

impl SymbolResolver<'_> {
    /// Adds the constructors of the classes that a use calls.
    pub(super) fn with_constructors(
        &self,
        found: Resolution,
        name: &str,
        role: ReferenceRole,
    ) -> Result<Resolution, StoreError> {
        let Resolution::Found(mut definitions) = found else {
            return Ok(found);
        };
        if role == ReferenceRole::Call {
            let mut constructors = Vec::new();
            for class in &definitions {
                if self.has_named_constructors(*class) {
                    constructors.extend(self.own_members(*class, name)?);
                }
            }
            definitions.extend(constructors);
        }
        Ok(Resolution::Found(definitions))
    }

    fn has_named_constructors(&self, of: DefinitionRef) -> bool {
        let file = self.files.file(of.file);
        LanguageFamily::of(file.language).has_implicit_members && file.definition(of.id).kind.is_container()
    }
}

/// Whether a definition is a constructor with the name of its class.
pub(super) fn is_constructor(file: &LoadedFile, definition: &SymbolDefinition) -> bool {
    definition.kind == SymbolKind::Method && {
        let scope = file.name(definition.scope);
        scope.rsplit('.').next() == Some(file.name(definition.name))
    }
}
