//! Blocks of pages whose markup is read line by line: a list that grows with the lines.

use super::blocks::{Block, Heading, Joint, one_line, slug};

/// The blocks of a page so far, and its plain text.
#[derive(Debug, Default)]
pub(super) struct BlockList {
    pub(super) blocks: Vec<Block>,
    pub(super) plain: String,
}

/// A line with its first byte in the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) start: usize,
    /// Without the line break and the blanks before it.
    pub(super) text: &'a str,
}

/// The lines of a text from byte `from` on.
pub(super) fn lines_from(text: &str, from: usize) -> Vec<Line<'_>> {
    let mut start = from;
    let mut lines = Vec::new();
    for line in text[from..].split_inclusive('\n') {
        let text = line.trim_end();
        lines.push(Line { start, text });
        start += line.len();
    }
    lines
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_indented(&self) -> bool {
        self.text.starts_with([' ', '\t'])
    }
}

impl BlockList {
    /// Begins a block at a byte of the page.
    pub(super) fn open(&mut self, start: usize) {
        let block = Block {
            start: self.joint_at(start),
            heading: None,
            joints: Vec::new(),
        };
        self.blocks.push(block);
    }

    /// Begins a block that is a heading.
    pub(super) fn open_heading(&mut self, start: usize, level: usize, shown: &str) {
        let shown = one_line(shown);
        self.open(start);
        self.add_line(&shown);
        if let Some(block) = self.blocks.last_mut() {
            let slug = slug(&shown);
            let shown = if shown.is_empty() { "section".into() } else { shown };
            block.heading = Some(Heading { level, shown, slug });
        }
    }

    /// Allows a cut of the open block at a byte of the page.
    pub(super) fn add_joint(&mut self, start: usize) {
        let joint = self.joint_at(start);
        if let Some(block) = self.blocks.last_mut() {
            block.joints.push(joint);
        }
    }

    pub(super) fn add_line(&mut self, plain: &str) {
        self.plain.push_str(plain);
        self.plain.push('\n');
    }

    fn joint_at(&self, text: usize) -> Joint {
        Joint {
            text,
            plain: self.plain.len(),
        }
    }
}
