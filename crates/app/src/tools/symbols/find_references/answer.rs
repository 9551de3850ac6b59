//! The answer of `find_references` as JSON has it; the other forms are written from it.

use docent_engine::symbols::{
    Direction, EnclosingSymbol, FileUses, Grade, ReferenceOutcome, SymbolUse, TreeNode,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::markdown::{inline_to, length};
use crate::tools::symbol_entry::SymbolEntry;

/// Characters of a source line.
const MAX_LINE_CHARS: usize = 200;

/// Characters of a name of an enclosing definition.
const MAX_NAME_CHARS: usize = 200;

/// Characters kept for the fields around the uses, and for notices.
const FRAME_CHARS: usize = 1_500;

// How the definitions in an answer relate to the symbol. A doc comment would be listed with the argument.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Relation {
    #[default]
    Callers,
    Callees,
    Implementations,
}

/// The uses of a symbol.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct References {
    /// The symbol as it was asked for.
    pub(super) symbol: String,
    pub(super) direction: Relation,
    pub(super) depth: u8,
    pub(super) targets: Vec<SymbolEntry>,
    pub(super) files: Vec<FileEntry>,
    /// Counts of all uses, before any cut.
    pub(super) exact: usize,
    pub(super) by_name: usize,
    pub(super) files_searched: usize,
    pub(super) files_not_parsed: usize,
    /// The tree in preorder: `depth` says how far a node is from the symbol.
    pub(super) tree: Vec<TreeEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<String>,
    /// True if nodes of the tree did not fit.
    #[serde(skip)]
    is_tree_cut: bool,
}

/// The uses in one file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileEntry {
    pub(super) path: String,
    pub(super) is_test: bool,
    pub(super) uses: Vec<UseEntry>,
}

#[derive(Serialize)]
pub(super) struct UseEntry {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) role: String,
    pub(super) grade: UseGrade,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#in: Option<EnclosingEntry>,
    pub(super) text: String,
}

/// Whether a use was followed to the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum UseGrade {
    #[serde(rename = "exact")]
    Exact,
    #[serde(rename = "by name")]
    ByName,
}

/// The definition around a use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EnclosingEntry {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) start_line: u32,
    pub(super) end_line: u32,
}

/// A definition in the tree.
#[derive(Serialize)]
pub(super) struct TreeEntry {
    /// 1 for direct callers, callees or implementations.
    pub(super) depth: u8,
    #[serde(flatten)]
    pub(super) symbol: SymbolEntry,
    pub(super) grade: UseGrade,
    /// Lines of the calls, in the file of the caller.
    pub(super) lines: Vec<u32>,
    /// True if its own callers are shown elsewhere in the tree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) repeated: bool,
}

impl Relation {
    pub(super) fn direction(self) -> Direction {
        match self {
            Self::Callers => Direction::Callers,
            Self::Callees => Direction::Callees,
            Self::Implementations => Direction::Implementations,
        }
    }
}

impl References {
    pub(super) fn new(outcome: &ReferenceOutcome, direction: Relation, depth: u8) -> Self {
        let mut tree = Vec::new();
        flatten(&outcome.tree, 1, &mut tree);
        let (exact, by_name) = match direction {
            Relation::Callers => (outcome.exact, outcome.by_name),
            Relation::Callees | Relation::Implementations => count_grades(&tree),
        };
        Self {
            symbol: String::new(),
            direction,
            depth,
            targets: outcome.targets.iter().map(SymbolEntry::new).collect(),
            files: outcome.files.iter().map(FileEntry::new).collect(),
            exact,
            by_name,
            files_searched: outcome.ground.files,
            files_not_parsed: outcome.ground.unparsed,
            tree,
            message: None,
            notice: None,
            is_tree_cut: false,
        }
    }

    /// The number of uses that are in the answer.
    pub(super) fn shown_uses(&self) -> usize {
        self.files.iter().map(|file| file.uses.len()).sum()
    }

    /// True if the answer is a tree of definitions, and not a list of uses.
    pub(super) fn is_tree(&self) -> bool {
        self.direction != Relation::Callers || self.depth > 1
    }

    /// Cuts the JSON to the budget: the tree first, if the caller asked for one, else the uses.
    pub(super) fn cut(&mut self, budget: usize) {
        let cost = |value: serde_json::Value| length(&value.to_string()) + 1;
        let mut left = budget.saturating_sub(FRAME_CHARS + self.message.as_deref().map_or(0, length));
        let mut fits = |cost: usize| {
            let fits = cost <= left;
            left = if fits { left - cost } else { 0 };
            fits
        };
        let targets = self
            .targets
            .iter()
            .take_while(|one| fits(cost(serde_json::json!(one))));
        self.targets.truncate(targets.count());
        let nodes = self
            .tree
            .iter()
            .take_while(|one| fits(cost(serde_json::json!(one))))
            .count();
        self.is_tree_cut = nodes < self.tree.len();
        self.tree.truncate(nodes);
        for file in &mut self.files {
            let frame = length(&file.path) + 50;
            let uses = file.uses.iter().enumerate().take_while(|(at, one)| {
                let frame = if *at == 0 { frame } else { 0 };
                fits(cost(serde_json::json!(one)) + frame)
            });
            file.uses.truncate(uses.count());
        }
        self.files.retain(|file| !file.uses.is_empty());
    }

    /// Counts the uses that a tree of callers leaves out: calls found by name or at the top level, and uses
    /// that are no calls.
    pub(super) fn explain_other_uses(&self) -> Option<String> {
        if self.direction != Relation::Callers || self.depth == 1 {
            return None;
        }
        let is_in_tree = |path: &str, line: u32| {
            let mut nodes = self.tree.iter().filter(|node| node.depth == 1);
            nodes.any(|node| node.symbol.path == path && node.lines.contains(&line))
        };
        let lines = self
            .files
            .iter()
            .flat_map(|file| file.uses.iter().map(|one| (file.path.as_str(), one.line)));
        let others = lines.filter(|(path, line)| !is_in_tree(path, *line)).count();
        let are = if others == 1 {
            "other use is"
        } else {
            "other uses are"
        };
        (others > 0).then(|| format!("{others} {are} listed with depth 1"))
    }

    /// The notice that not all uses are shown.
    pub(super) fn explain_cut(&self) -> Option<String> {
        const ADVICE: &str = "narrow the question with path, or raise limit or answer.max_chars";
        let (shown, all) = (self.shown_uses(), self.exact + self.by_name);
        if self.is_tree_cut {
            Some(format!("The tree is cut; {ADVICE}"))
        } else if self.direction == Relation::Callers && shown < all && !self.targets.is_empty() {
            Some(format!("{shown} of {all} uses are shown; {ADVICE}"))
        } else {
            None
        }
    }
}

/// The definitions of a tree that are exact, and those that are found by name.
fn count_grades(tree: &[TreeEntry]) -> (usize, usize) {
    let first_shown = tree.iter().filter(|node| !node.repeated);
    let exact = first_shown.clone().filter(|node| node.grade == UseGrade::Exact);
    let exact = exact.count();
    (exact, first_shown.count() - exact)
}

/// Lists the nodes of a tree in preorder.
fn flatten(nodes: &[TreeNode], depth: u8, into: &mut Vec<TreeEntry>) {
    for node in nodes {
        into.push(TreeEntry {
            depth,
            symbol: SymbolEntry::new(&node.symbol),
            grade: node.grade.into(),
            lines: node.lines.clone(),
            repeated: node.is_repeated,
        });
        flatten(&node.children, depth + 1, into);
    }
}

impl FileEntry {
    fn new(file: &FileUses) -> Self {
        Self {
            path: inline_to(file.path.as_str(), 4_096),
            is_test: file.is_test,
            uses: file.uses.iter().map(UseEntry::new).collect(),
        }
    }
}

impl UseEntry {
    fn new(found: &SymbolUse) -> Self {
        Self {
            line: found.line,
            column: found.column,
            role: found.role.name().to_owned(),
            grade: found.grade.into(),
            r#in: found.within.as_ref().map(EnclosingEntry::new),
            text: inline_to(&found.text, MAX_LINE_CHARS),
        }
    }

    pub(super) fn is_call(&self) -> bool {
        self.role == "call"
    }
}

impl EnclosingEntry {
    fn new(around: &EnclosingSymbol) -> Self {
        Self {
            name: inline_to(&around.name, MAX_NAME_CHARS),
            kind: around.kind.name().to_owned(),
            start_line: around.first_line,
            end_line: around.last_line,
        }
    }
}

impl From<Grade> for UseGrade {
    fn from(grade: Grade) -> Self {
        match grade {
            Grade::Exact => Self::Exact,
            Grade::ByName => Self::ByName,
        }
    }
}
