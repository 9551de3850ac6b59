//! A page, cut at its headings into sections that have names.
//!
//! A section is named by the slugs of the headings it stands under: `guides/retries.md#retries/backoff`. What stands before the
//! first heading that cuts is the preamble. A section that is too long is cut at finer headings, and where there are none
//! between blocks: never inside a block of code, a row of a table or an item of a list.
//!
//! Invariant: the sections of a page, put one behind the other, are the page, byte by byte; and no two have the same name.

mod blocks;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Problem;
use super::front_matter::Front;
use super::manifest::{HeadingLevel, Labels, PageRules, Strategy};
use crate::chunk::Rows;
pub use blocks::slug;
use blocks::{Block, blocks, one_line};

/// A page in sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    pub title: Option<String>,
    pub labels: Labels,
    pub sections: Vec<PageSection>,
    /// What a reader sees of all of it, without its markup.
    pub plain: String,
    pub problems: Vec<Problem>,
}

/// A part of a page that can be named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSection {
    /// The name behind the `#`; `""` for a page that is one section.
    pub name: String,
    /// The heading it stands under, `""` for none.
    pub heading: String,
    /// The headings above that one, the outermost first.
    pub above: Vec<String>,
    /// Where it is in the text.
    pub bytes: Range<usize>,
    /// Where it is in the plain text of the page.
    pub plain: Range<usize>,
    /// Lines, counted from 1.
    pub lines: (usize, usize),
}

impl PageSection {
    /// The section of a page: its path, and the name behind a `#`.
    pub fn id(&self, path: &str) -> String {
        id(path, &self.name)
    }

    /// The heading with those above it.
    pub fn breadcrumb(&self) -> String {
        breadcrumb(&self.above, &self.heading)
    }
}

impl Page {
    /// Cuts a page by the rules a manifest has for it.
    pub fn of(text: &str, rules: PageRules) -> Self {
        let front = Front::of(text);
        let PageRules { strategy, labels } = front.over(rules);
        let (blocks, plain) = blocks(text, front.end);
        let first_heading = blocks.iter().find_map(|block| block.heading.as_ref());
        let title = front.title.as_deref().map(one_line).or_else(|| {
            first_heading
                .filter(|heading| heading.level == 1)
                .map(|heading| heading.shown.clone())
        });
        let cut = PageCut {
            text,
            from: front.end,
            blocks: &blocks,
            most: strategy.most,
        };
        let pieces = cut.pieces(strategy);
        let mut sections = named(text, &front, title.as_deref(), pieces);
        cut.find_plain(&mut sections, plain.len());
        Self {
            title,
            labels,
            sections,
            plain,
            problems: front.problems,
        }
    }

    /// The section with a name, or with the only one that ends with it. Without a name, the only one there is.
    pub fn find(&self, name: &str) -> PageTarget {
        if let Some(at) = self.sections.iter().position(|section| section.name == name) {
            return PageTarget::One(at);
        }
        let ends = |section: &PageSection| {
            section
                .name
                .strip_suffix(name)
                .is_some_and(|rest| !name.is_empty() && rest.ends_with('/'))
        };
        let found: Vec<usize> = (0..self.sections.len())
            .filter(|at| ends(&self.sections[*at]))
            .collect();
        let is_cut = |section: &PageSection| section.name.starts_with("_preamble/");
        match found.as_slice() {
            // A preamble that was too long begins with its first part.
            [] if name == "_preamble" && self.sections.first().is_some_and(is_cut) => PageTarget::One(0),
            [] if name.is_empty() && self.sections.len() == 1 => PageTarget::One(0),
            [] if name.is_empty() => PageTarget::Several((0..self.sections.len()).collect()),
            [] => PageTarget::None,
            [one] => PageTarget::One(*one),
            _ => PageTarget::Several(found),
        }
    }
}

/// What a section is asked for by.
pub fn id(path: &str, name: &str) -> String {
    if name.is_empty() {
        path.to_owned()
    } else {
        format!("{path}#{name}")
    }
}

/// A heading with those above it.
pub fn breadcrumb(above: &[String], heading: &str) -> String {
    let all = above.iter().map(String::as_str).chain([heading]);
    let named: Vec<&str> = all.filter(|heading| !heading.is_empty()).collect();
    named.join(" > ")
}

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageTarget {
    None,
    One(usize),
    Several(Vec<usize>),
}

/// A part of a page on its way to be a section: blocks of it, and whose they are.
#[derive(Clone, Debug)]
struct DraftSection {
    kind: BlockKind,
    /// The level at which it was cut.
    level: usize,
    heading: String,
    slug: String,
    above: Vec<String>,
    above_slugs: Vec<String>,
    /// Where it begins; it ends where the next one does.
    start: usize,
    end: usize,
    part: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    File,
    Preamble,
    Heading,
}

/// Headings of a level that cut a page.
const MAX_SECTIONS: usize = 10_000;

struct PageCut<'a> {
    text: &'a str,
    /// Where the text begins, behind the front matter.
    from: usize,
    blocks: &'a [Block],
    most: usize,
}

impl PageCut<'_> {
    fn pieces(&self, strategy: Strategy) -> Vec<DraftSection> {
        let whole = |kind: BlockKind, slug: &str| DraftSection {
            kind,
            level: 0,
            heading: String::new(),
            slug: slug.to_owned(),
            above: Vec::new(),
            above_slugs: Vec::new(),
            start: self.from,
            end: self.text.len(),
            part: 1,
        };
        let level = match strategy.by {
            HeadingLevel::File => 0,
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
        };
        let headings = self.blocks.iter().filter_map(|block| block.heading.as_ref());
        if headings.filter(|heading| heading.level == level).count() > MAX_SECTIONS {
            // Data that looks like headings: it is cut by its length alone.
            let mut pieces = Vec::new();
            self.between_blocks(&whole(BlockKind::File, ""), self.blocks, &mut pieces);
            return pieces;
        }
        let coarse = match level {
            0 => vec![whole(BlockKind::File, "")],
            level => self.at_level(whole(BlockKind::Preamble, "_preamble"), level),
        };
        let mut pieces: Vec<DraftSection> = Vec::new();
        self.add_fitting(coarse, &mut pieces);
        // What is too short by itself goes to the part of the same section before it.
        pieces.dedup_by(|next, before| {
            let same = (next.kind, &next.slug, &next.above_slugs)
                == (before.kind, &before.slug, &before.above_slugs);
            let short = length(&self.text[next.start..next.end]) < strategy.least;
            if same && short {
                before.end = next.end;
            }
            same && short
        });
        pieces
    }

    /// Cuts before every heading of a level. Those above it are part of the names below them.
    fn at_level(&self, mut preamble: DraftSection, level: usize) -> Vec<DraftSection> {
        let mut pieces: Vec<DraftSection> = Vec::new();
        let mut above: [Option<(String, String)>; 7] = Default::default();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for block in self.blocks {
            let Some(heading) = &block.heading else { continue };
            let outer: Vec<&(String, String)> = above[1..heading.level].iter().flatten().collect();
            let slugs: Vec<&str> = outer.iter().map(|(_, slug)| slug.as_str()).collect();
            let full = [&slugs[..], &[&heading.slug]].concat().join("/");
            let count = counts.entry(full).or_default();
            *count += 1;
            let slug = numbered(&heading.slug, *count);
            if heading.level == level {
                pieces.push(DraftSection {
                    kind: BlockKind::Heading,
                    level,
                    heading: heading.shown.clone(),
                    slug: slug.clone(),
                    above: outer.iter().map(|(shown, _)| shown.clone()).collect(),
                    above_slugs: outer.iter().map(|(_, slug)| slug.clone()).collect(),
                    start: block.start.text,
                    end: self.text.len(),
                    part: 1,
                });
            }
            above[heading.level] = Some((heading.shown.clone(), slug));
            for deeper in &mut above[heading.level + 1..] {
                *deeper = None;
            }
        }
        preamble.end = pieces.first().map_or(self.text.len(), |first| first.start);
        if pieces.is_empty() || !self.text[preamble.start..preamble.end].trim().is_empty() {
            pieces.insert(0, preamble);
        }
        end_where_the_next_begins(&mut pieces);
        pieces
    }

    fn fits(&self, start: usize, end: usize) -> bool {
        // Most do, and need no counting of characters.
        end - start <= self.most || length(&self.text[start..end]) <= self.most
    }

    /// Adds pieces as they are, or cut further where they are too long.
    fn add_fitting(&self, pieces: Vec<DraftSection>, into: &mut Vec<DraftSection>) {
        for piece in pieces {
            if self.fits(piece.start, piece.end) {
                into.push(piece);
            } else {
                self.refine(piece, into);
            }
        }
    }

    /// Cuts a piece that is too long at the next finer headings it has, and at last between its blocks.
    fn refine(&self, mut piece: DraftSection, into: &mut Vec<DraftSection>) {
        let first = self
            .blocks
            .partition_point(|block| block.start.text < piece.start);
        let last = self.blocks.partition_point(|block| block.start.text < piece.end);
        let inside = &self.blocks[first..last];
        let at_level = |level: usize| {
            let headings = inside
                .iter()
                .filter_map(|block| Some((block.start.text, block.heading.as_ref()?)));
            headings
                .filter(move |(start, heading)| {
                    // The heading that the piece is named by does not cut it once more.
                    heading.level == level && (*start > piece.start || piece.kind != BlockKind::Heading)
                })
                .collect::<Vec<_>>()
        };
        let found = (piece.level + 1..=6)
            .map(|level| (level, at_level(level)))
            .find(|(_, headings)| !headings.is_empty())
            .filter(|(_, headings)| headings.len() <= MAX_SECTIONS);
        let Some((level, headings)) = found else {
            return self.between_blocks(&piece, inside, into);
        };
        let mut finer: Vec<DraftSection> = Vec::new();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (start, heading) in headings {
            let count = counts.entry(&heading.slug).or_default();
            *count += 1;
            let with = |names: &[String], own: &str| {
                let own = Some(own.to_owned()).filter(|own| !own.is_empty());
                names.iter().cloned().chain(own).collect::<Vec<_>>()
            };
            finer.push(DraftSection {
                kind: BlockKind::Heading,
                level,
                heading: heading.shown.clone(),
                slug: numbered(&heading.slug, *count),
                above: with(&piece.above, &piece.heading),
                above_slugs: with(&piece.above_slugs, &piece.slug),
                start,
                end: piece.end,
                part: 1,
            });
        }
        piece.level = level - 1;
        piece.end = finer[0].start;
        if !self.text[piece.start..piece.end].trim().is_empty() {
            finer.insert(0, piece);
        }
        end_where_the_next_begins(&mut finer);
        self.add_fitting(finer, into);
    }

    /// Cuts between blocks, and inside one that is too long by itself at its joints.
    fn between_blocks(&self, piece: &DraftSection, inside: &[Block], into: &mut Vec<DraftSection>) {
        let mut places: Vec<usize> = Vec::new();
        for (at, block) in inside.iter().enumerate() {
            places.push(block.start.text);
            let end = inside.get(at + 1).map_or(piece.end, |next| next.start.text);
            if !self.fits(block.start.text, end) {
                let joints = block.joints.iter().map(|joint| joint.text);
                places.extend(joints.filter(|joint| *joint > block.start.text));
            }
        }
        places.push(piece.end);
        let (mut start, mut size, mut part) = (piece.start, 0, 1);
        // A heading is no part by itself.
        let heading = inside
            .first()
            .filter(|block| block.heading.is_some())
            .map(|block| block.start.text);
        for pair in places.windows(2) {
            let next = &self.text[pair[0]..pair[1]];
            let is_heading = Some(start) == heading && places.get(1) == Some(&pair[0]);
            if size > 0 && size + length(next) > self.most && !is_heading {
                into.push(DraftSection {
                    start,
                    end: pair[0],
                    part,
                    ..piece.clone()
                });
                (start, size, part) = (pair[0], 0, part + 1);
            }
            size += next.chars().count();
        }
        into.push(DraftSection {
            start,
            part,
            ..piece.clone()
        });
    }

    /// Finds the sections in the plain text.
    fn find_plain(&self, sections: &mut [PageSection], end: usize) {
        let joints = self
            .blocks
            .iter()
            .flat_map(|block| [block.start].into_iter().chain(block.joints.iter().copied()));
        let mut joints = joints.peekable();
        let mut after = 0;
        for section in sections.iter_mut() {
            while let Some(joint) = joints.next_if(|joint| joint.text <= section.bytes.start) {
                after = joint.plain;
            }
            section.plain = after..end;
        }
        for at in 1..sections.len() {
            sections[at - 1].plain.end = sections[at].plain.start;
        }
        if let Some(first) = sections.first_mut() {
            first.plain.start = 0;
        }
    }
}

/// Of pieces that begin one behind the other; the last one ends where it did.
fn end_where_the_next_begins(pieces: &mut [DraftSection]) {
    for at in 1..pieces.len() {
        pieces[at - 1].end = pieces[at].start;
    }
}

/// Characters, without blank lines around them.
fn length(text: &str) -> usize {
    text.trim().chars().count()
}

fn numbered(slug: &str, count: usize) -> String {
    if count == 1 {
        slug.to_owned()
    } else {
        format!("{slug}-{count}")
    }
}

/// Makes sections of pieces: gives each its name, and all of the text to one of them.
fn named(text: &str, front: &Front, title: Option<&str>, pieces: Vec<DraftSection>) -> Vec<PageSection> {
    let rows = Rows::of(text);
    let mut names: HashSet<String> = HashSet::new();
    let mut sections: Vec<PageSection> = Vec::with_capacity(pieces.len());
    let starts: Vec<usize> = pieces.iter().map(|piece| piece.start).collect();
    for (at, piece) in pieces.into_iter().enumerate() {
        let name = match (piece.kind, piece.part) {
            (BlockKind::File, 1) => String::new(),
            (BlockKind::File, part) => format!("_part-{part}"),
            (_, 1) => piece.slug.clone(),
            (_, part) => format!("{}-part-{part}", piece.slug),
        };
        let outer = piece.above_slugs.join("/");
        let full = if outer.is_empty() {
            name
        } else {
            format!("{outer}/{name}")
        };
        let mut unique = full.clone();
        let mut count = 1;
        while !names.insert(unique.clone()) {
            count += 1;
            unique = numbered(&full, count);
        }
        let mut above = piece.above;
        // A page that says its title in the front matter has no heading for it.
        if let Some(title) = title.filter(|_| front.title.is_some() && piece.kind == BlockKind::Heading)
            && above.is_empty()
            && piece.level > 1
        {
            above.push(title.to_owned());
        }
        let heading = match piece.kind {
            BlockKind::Heading => piece.heading,
            BlockKind::File | BlockKind::Preamble => title.unwrap_or_default().to_owned(),
        };
        let start = if at == 0 { 0 } else { piece.start };
        let end = starts.get(at + 1).copied().unwrap_or(text.len());
        sections.push(PageSection {
            name: unique,
            heading,
            above,
            bytes: start..end,
            plain: 0..0,
            lines: rows.span(start..end),
        });
    }
    sections
}

#[cfg(test)]
mod tests;
