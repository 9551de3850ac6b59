//! The context of a node in the walk: its role for the nodes above it.

use super::ReferenceRole;
use super::rules::ChildMeaning;

/// The role of a node for the nodes above it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeContext {
    /// In a type.
    pub(super) in_type: bool,
    /// It is called.
    pub(super) is_callee: bool,
    /// It is bound and not used.
    pub(super) is_target: bool,
}

impl NodeContext {
    /// The context of a child that means this for its parent.
    pub(super) fn below(self, meaning: Option<ChildMeaning>) -> Self {
        match meaning {
            Some(ChildMeaning::Callee) => Self {
                is_callee: true,
                in_type: self.in_type,
                is_target: false,
            },
            Some(ChildMeaning::Type | ChildMeaning::Result | ChildMeaning::Base | ChildMeaning::Argument) => {
                Self {
                    in_type: true,
                    ..Self::default()
                }
            }
            Some(ChildMeaning::Target) => Self {
                is_target: true,
                ..Self::default()
            },
            Some(ChildMeaning::Value | ChildMeaning::Element | ChildMeaning::Return) => Self::default(),
            Some(ChildMeaning::Inner) => self,
            _ => Self {
                is_callee: false,
                ..self
            },
        }
    }

    pub(super) fn role(self, otherwise: ReferenceRole) -> ReferenceRole {
        if self.is_callee {
            ReferenceRole::Call
        } else if self.in_type {
            ReferenceRole::Type
        } else {
            otherwise
        }
    }
}
