//! The syntax of each line: block headers, exits, calls, comments. Read from the syntax tree by the names of
//! its node kinds, which are alike in all grammars, and from the first words of a line where there is no
//! tree.

use tree_sitter::{Node, Tree};

use crate::chunk;
use crate::language::Language;

/// The syntax that starts on a line, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineTraits(u16);

impl LineTraits {
    pub(super) const BLANK: Self = Self(1);
    /// Brackets and punctuation only.
    pub(super) const CLOSING: Self = Self(1 << 1);
    pub(super) const COMMENT: Self = Self(1 << 2);
    /// Inside a string that began on an earlier line.
    pub(super) const STRING: Self = Self(1 << 3);
    pub(super) const BRANCH: Self = Self(1 << 4);
    /// Error handling, or a resource in scope.
    pub(super) const HANDLER: Self = Self(1 << 5);
    pub(super) const ASSIGNMENT: Self = Self(1 << 6);
    pub(super) const CALL: Self = Self(1 << 7);
    /// Deeper indented lines follow.
    pub(super) const HEADER: Self = Self(1 << 8);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The syntax of a text, line by line.
pub(super) struct TextSyntax {
    pub(super) traits: Vec<LineTraits>,
    /// For each line, the row of the block header around it.
    pub(super) enclosing: Vec<Option<usize>>,
    /// Rows of the signature, with the first line of the documentation.
    pub(super) signature: Vec<usize>,
}

const MAX_SIGNATURE_LINES: usize = 10;
const MAX_SIGNATURE_CHARS: usize = 600;
/// Only the start of a longer line is read. Such lines hold data.
const MAX_READ_LINE_BYTES: usize = 1_000;

pub(super) fn read_lines(text: &str, lines: &[&str], language: Language) -> TextSyntax {
    let indents = indents_of(lines);
    let mut traits: Vec<LineTraits> = lines.iter().map(|line| traits_of_text(line)).collect();
    let dedented = without_common_indent(lines, &indents);
    if let Some(tree) = chunk::parse_fragment(language, dedented.as_deref().unwrap_or(text)) {
        add_traits_of_tree(&tree, &mut traits);
    } else {
        for (line, traits) in lines.iter().zip(&mut traits) {
            add_traits_of_words(line, traits);
        }
    }
    let enclosing = enclosing_rows(&indents, &mut traits);
    let signature = signature_rows(lines, &traits);
    TextSyntax {
        traits,
        enclosing,
        signature,
    }
}

fn indents_of(lines: &[&str]) -> Vec<usize> {
    let mut indents: Vec<usize> = lines
        .iter()
        .map(|line| {
            let space = line.bytes().take_while(u8::is_ascii_whitespace);
            space.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
        })
        .collect();
    let mut next = 0;
    for (row, line) in lines.iter().enumerate().rev() {
        if line.trim_start().is_empty() {
            indents[row] = next;
        }
        next = indents[row];
    }
    indents
}

/// The text without the indentation of its first line, because grammars of indented languages reject an
/// indented first line. `None` if that line has no indentation.
fn without_common_indent(lines: &[&str], indents: &[usize]) -> Option<String> {
    if indents.first() == Some(&0) {
        return None;
    }
    let space_of = |line: &&str| line.len() - line.trim_start().len();
    let first = lines.first().map(space_of)?;
    let mut text = String::new();
    for line in lines {
        text.push_str(line.get(first.min(space_of(line))..).unwrap_or(line));
        text.push('\n');
    }
    Some(text)
}

fn traits_of_text(line: &str) -> LineTraits {
    let line = line.trim();
    if line.is_empty() {
        LineTraits::BLANK
    } else if line
        .bytes()
        .take(MAX_READ_LINE_BYTES)
        .any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80)
    {
        let mut traits = LineTraits::default();
        // Some grammars have no node for it.
        if line.trim_start_matches(['}', ')', ' ']).starts_with("else") {
            traits.add(LineTraits::BRANCH);
        }
        traits
    } else {
        LineTraits::CLOSING
    }
}

fn add_traits_of_words(line: &str, traits: &mut LineTraits) {
    let line = line.trim();
    if ["#", "//", "--", "/*", "* ", "%", ";;"]
        .iter()
        .any(|mark| line.starts_with(mark))
    {
        traits.add(LineTraits::COMMENT);
        return;
    }
    let line = &line[..line.floor_char_boundary(MAX_READ_LINE_BYTES)];
    let words = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    for word in words.take(3) {
        traits.add(traits_of_word(word));
    }
    if line.contains('(') {
        traits.add(LineTraits::CALL);
    }
    if line.contains('=') {
        traits.add(LineTraits::ASSIGNMENT);
    }
}

/// The traits that a keyword, or a part of the name of a node kind, stands for.
fn traits_of_word(word: &str) -> LineTraits {
    match word {
        "if" | "elif" | "elsif" | "elseif" | "else" | "switch" | "match" | "case" | "when" | "unless"
        | "ternary" | "conditional" | "select" | "communication" | "default" | "arm" | "guard" => {
            LineTraits::BRANCH
        }
        "try" | "catch" | "except" | "finally" | "rescue" | "ensure" | "with" | "defer" | "using" => {
            LineTraits::HANDLER
        }
        _ => LineTraits::default(),
    }
}

/// The traits that a node gives to the line on which it starts.
fn traits_of_kind(kind: &str) -> LineTraits {
    let mut traits = LineTraits::default();
    if kind.contains("comment") {
        return LineTraits::COMMENT;
    }
    for word in kind.split('_') {
        traits.add(match word {
            "call" | "invocation" | "new" => LineTraits::CALL,
            "assignment" | "declarator" | "declaration" | "let" | "update" | "inc" | "dec" => {
                LineTraits::ASSIGNMENT
            }
            _ => traits_of_word(word),
        });
    }
    traits
}

/// Walks the tree in order, and marks the lines at which nodes start.
fn add_traits_of_tree(tree: &Tree, traits: &mut [LineTraits]) {
    let language = tree.language();
    let kinds: Vec<NodeMark> = (0..language.node_kind_count())
        .map(|id| {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            NodeMark::of(language.node_kind_for_id(id).unwrap_or_default())
        })
        .collect();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_named()
            && let Some(mark) = kinds.get(usize::from(node.kind_id()))
        {
            mark.apply(node, traits);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The traits that nodes of one kind give to their lines.
struct NodeMark {
    first_line: LineTraits,
    further_lines: LineTraits,
}

impl NodeMark {
    fn of(kind: &str) -> Self {
        let further_lines = if kind.contains("comment") {
            LineTraits::COMMENT
        } else if kind.contains("string") {
            LineTraits::STRING
        } else {
            LineTraits::default()
        };
        Self {
            first_line: traits_of_kind(kind),
            further_lines,
        }
    }

    fn apply(&self, node: Node<'_>, traits: &mut [LineTraits]) {
        let start = node.start_position().row;
        // A doc comment of Rust ends at the start of the next line.
        let end = node.end_position();
        let end = end.row - usize::from(end.column == 0 && end.row > start);
        let Some(first) = traits.get_mut(start) else {
            return;
        };
        first.add(self.first_line);
        // Inside a marked string, as in nested templates, marking again would take quadratic time.
        let is_marked = self.further_lines != LineTraits::default();
        if is_marked
            && end > start
            && traits
                .get(start + 1)
                .is_some_and(|next| !next.has(self.further_lines))
        {
            for line in traits.iter_mut().take(end + 1).skip(start + 1) {
                line.add(self.further_lines);
            }
        }
    }
}

/// For each row the header of the block around it: the nearest row above with less indentation. Marks
/// headers.
fn enclosing_rows(indents: &[usize], traits: &mut [LineTraits]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut enclosing = Vec::with_capacity(indents.len());
    for row in 0..indents.len() {
        if traits[row].has(LineTraits::BLANK) {
            enclosing.push(open.last().copied());
            continue;
        }
        while open.last().is_some_and(|above| indents[*above] >= indents[row]) {
            open.pop();
        }
        if let Some(above) = open.last() {
            traits[*above].add(LineTraits::HEADER);
        }
        enclosing.push(open.last().copied());
        if !traits[row].has(LineTraits::CLOSING) {
            open.push(row);
        }
    }
    enclosing
}

/// The rows up to the body, without the comments and attributes above, and the first line of documentation.
fn signature_rows(lines: &[&str], traits: &[LineTraits]) -> Vec<usize> {
    let is_lead = |row: usize| {
        traits[row].has(LineTraits::BLANK)
            || traits[row].has(LineTraits::COMMENT)
            || lines[row].trim_start().starts_with(['@', '#'])
    };
    let Some(start) = (0..lines.len()).find(|row| !is_lead(*row)) else {
        return Vec::new();
    };
    let mut rows: Vec<usize> = Vec::new();
    if let Some(comment) =
        (0..start).find(|row| traits[*row].has(LineTraits::COMMENT) && is_text(lines[*row]))
    {
        rows.push(comment);
    }
    let (mut open, mut chars) = (0_i64, 0);
    for (row, line) in lines.iter().enumerate().skip(start).take(MAX_SIGNATURE_LINES) {
        chars += line.len();
        if chars > MAX_SIGNATURE_CHARS {
            break;
        }
        rows.push(row);
        open += line
            .bytes()
            .map(|byte| match byte {
                b'(' | b'[' => 1,
                b')' | b']' => -1,
                _ => 0,
            })
            .sum::<i64>();
        if open <= 0 {
            break;
        }
    }
    let next = rows.last().map_or(0, |row| row + 1);
    if let Some(line) = lines.get(next)
        && ["\"\"\"", "'''", "r\"\"\""]
            .iter()
            .any(|quote| line.trim_start().starts_with(quote))
    {
        let row = if is_text(line) { next } else { next + 1 };
        rows.extend((row < lines.len() && lines[row].len() < MAX_SIGNATURE_CHARS).then_some(row));
    }
    rows
}

fn is_text(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_alphanumeric())
}
