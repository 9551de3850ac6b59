//! Calls that are more than a use: `attr_reader :rows` defines fields, `local rows = require("rows")`
//! imports.

use tree_sitter::Node;

use super::reader::MAX_NAME_BYTES;
use super::rule_rows::DefiningArguments;
use super::rules::{ChildMeaning, NodeMeaning, NodeRule};
use super::walk::{SymbolWalk, named_children};
use super::{ExpressionId, ImportedName, NameId};

impl<'a> SymbolWalk<'a> {
    /// Reads a call that defines or imports. True if nothing else is in it.
    pub(super) fn read_special_call(&mut self, node: Node<'a>, rule: &'static NodeRule) -> bool {
        let traits = &self.reader.rules.traits;
        if traits.defining_calls.is_empty() && traits.importing_calls.is_empty() {
            return false;
        }
        let Some(callee) = self.name_of_callee(node, rule) else {
            return false;
        };
        let arguments = traits.defining_calls.iter().find(|(name, _)| *name == callee);
        match arguments {
            Some((_, DefiningArguments::Bases)) => self.add_base_arguments(node),
            Some((_, arguments)) => {
                self.define_arguments(node, *arguments);
                return true;
            }
            None => {}
        }
        if traits.importing_calls.contains(&callee) {
            if node.start_byte() >= self.import_end {
                self.read_import(node, rule);
            }
            return true;
        }
        false
    }

    /// The name of the function that is called without a receiver.
    fn name_of_callee(&self, node: Node<'a>, rule: &'static NodeRule) -> Option<&'a str> {
        if rule.child(node, ChildMeaning::Receiver).is_some() {
            return None;
        }
        let callee = rule
            .child(node, ChildMeaning::Callee)
            .or_else(|| rule.child(node, ChildMeaning::Member))?;
        Some(self.reader.text_of(callee))
    }

    /// `attr_reader :rows, :cells`, `defstruct rows: [], cells: nil`
    fn define_arguments(&mut self, node: Node<'a>, arguments: DefiningArguments) {
        let count = match arguments {
            DefiningArguments::First => 1,
            _ => usize::MAX,
        };
        for list in named_children(node) {
            for argument in named_children(list).into_iter().take(count) {
                self.define_argument(argument, 3);
            }
        }
    }

    /// `include Enumerable`
    fn add_base_arguments(&mut self, node: Node<'a>) {
        let Some(class) = self.reader.enclosing_container() else {
            return;
        };
        let arguments: Vec<Node<'a>> = named_children(node)
            .into_iter()
            .flat_map(named_children)
            .collect();
        for argument in arguments {
            if let Some(base) = self.reader.value_of(argument) {
                self.add_base(class, base);
            }
        }
    }

    fn define_argument(&mut self, argument: Node<'a>, depth: u8) {
        let text = self.reader.text_of(argument);
        let name = text.trim_matches([':', '"', '\'', ' ']);
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!');
        if !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(is_name) {
            if self.reader.rules.of(argument).meaning.is_some_and(is_value) {
                return;
            }
            let name = self.reader.intern(name);
            if let Some(class) = self.reader.enclosing_container() {
                self.define_field(argument, class, name, None);
            } else {
                self.define_constant(argument, name);
            }
            return;
        }
        if let (Some(inner), Some(depth)) = (argument.named_child(0), depth.checked_sub(1)) {
            let is_pair = argument.kind() == "pair";
            let inner = argument.child_by_field_name("key").unwrap_or(inner);
            self.define_argument(inner, depth);
            if !is_pair {
                for other in named_children(argument).into_iter().skip(1) {
                    self.define_argument(other, depth);
                }
            }
        }
    }

    /// `local rows = require("zoo.rows")`, `const rows = @import("rows.zig").rows;`. True if it is an import.
    pub(super) fn import_called(
        &mut self,
        node: Node<'a>,
        value: Option<Node<'a>>,
        names: &[(Node<'a>, NameId, Option<ExpressionId>)],
    ) -> bool {
        if self.reader.rules.traits.importing_calls.is_empty() {
            return false;
        }
        let (Some(mut value), [(_, local, _)]) = (value, names) else {
            return false;
        };
        let mut member = None;
        for _ in 0..3 {
            let rule = self.reader.rules.of(value);
            match rule.meaning {
                Some(NodeMeaning::Access) => {
                    member = self.reader.member_name(value, rule);
                    match rule.child(value, ChildMeaning::Receiver) {
                        Some(receiver) => value = receiver,
                        None => return false,
                    }
                }
                Some(NodeMeaning::Call) => break,
                _ => match value.named_child(0) {
                    Some(inner) if value.named_child_count() == 1 => value = inner,
                    _ => return false,
                },
            }
        }
        let rule = self.reader.rules.of(value);
        let callee = self.name_of_callee(value, rule);
        let is_import =
            callee.is_some_and(|callee| self.reader.rules.traits.importing_calls.contains(&callee));
        if !is_import {
            return false;
        }
        let call = self.reader.text_of(value);
        let mut quoted = call.split(['"', '\'']);
        if let (Some(_), Some(path)) = (quoted.next(), quoted.next())
            && !path.is_empty()
            && path.len() <= MAX_NAME_BYTES
        {
            let written = self.reader.intern(path);
            let imported = member.map_or(ImportedName::Module, ImportedName::Name);
            self.add_import(node, *local, written, imported, false);
            self.import_end = value.end_byte();
            return true;
        }
        false
    }
}

fn is_value(meaning: NodeMeaning) -> bool {
    !matches!(
        meaning,
        NodeMeaning::Name | NodeMeaning::CalledName | NodeMeaning::Same | NodeMeaning::Builtin
    )
}
