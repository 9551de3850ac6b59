//! How a page is cut: at headings, at finer headings, and between blocks.
//!
//! Invariant: the drafts of a page follow each other without a gap.

use std::collections::{HashMap, HashSet};

use super::PageSection;
use super::blocks::Block;
use crate::chunk::Rows;
use crate::docs::front_matter::FrontMatter;
use crate::docs::manifest::{HeadingLevel, Strategy};

/// A section before it gets its final name.
#[derive(Clone, Debug)]
pub(super) struct DraftSection {
    kind: DraftKind,
    /// Heading level at which it was cut.
    level: usize,
    heading: String,
    slug: String,
    above: Vec<String>,
    above_slugs: Vec<String>,
    start: usize,
    end: usize,
    part: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DraftKind {
    File,
    Preamble,
    Heading,
}

/// Headings of one level that may cut a page. More are data that looks like headings.
const MAX_SECTIONS: usize = 10_000;

pub(super) struct PageCut<'a> {
    pub(super) text: &'a str,
    /// Byte where the text begins, after the front matter.
    pub(super) start: usize,
    pub(super) blocks: &'a [Block],
    /// Longer sections are cut further.
    pub(super) max_chars: usize,
}

impl PageCut<'_> {
    /// Cuts the page at the headings of the strategy, and further where sections are too long.
    pub(super) fn draft_sections(&self, strategy: Strategy) -> Vec<DraftSection> {
        let whole = |kind: DraftKind, slug: &str| DraftSection {
            kind,
            level: 0,
            heading: String::new(),
            slug: slug.to_owned(),
            above: Vec::new(),
            above_slugs: Vec::new(),
            start: self.start,
            end: self.text.len(),
            part: 1,
        };
        let level = match strategy.level {
            HeadingLevel::File => 0,
            HeadingLevel::H1 => 1,
            HeadingLevel::H2 => 2,
            HeadingLevel::H3 => 3,
        };
        let headings = self.blocks.iter().filter_map(|block| block.heading.as_ref());
        if headings.filter(|heading| heading.level <= level).count() > MAX_SECTIONS {
            // Data that looks like headings is cut by its length alone.
            let mut drafts = Vec::new();
            self.cut_between_blocks(&whole(DraftKind::File, ""), self.blocks, &mut drafts);
            return drafts;
        }
        let coarse = match level {
            0 => vec![whole(DraftKind::File, "")],
            level => self.cut_at_level(whole(DraftKind::Preamble, "_preamble"), level),
        };
        let mut drafts: Vec<DraftSection> = Vec::new();
        self.add_fitting(coarse, &mut drafts);
        // A part that is too short is joined with the part of the same section before it.
        drafts.dedup_by(|next, before| {
            let same = (next.kind, &next.slug, &next.above_slugs)
                == (before.kind, &before.slug, &before.above_slugs);
            let short = length(&self.text[next.start..next.end]) < strategy.min_chars;
            if same && short {
                before.end = next.end;
            }
            same && short
        });
        drafts
    }

    /// Cuts before every heading of a level, and before every higher one, so that no section goes on below a
    /// heading that does not belong to it. The preamble goes on until its own heading ends.
    fn cut_at_level(&self, mut preamble: DraftSection, level: usize) -> Vec<DraftSection> {
        let mut drafts: Vec<DraftSection> = Vec::new();
        let mut above: [Option<(String, String)>; 7] = Default::default();
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut preamble_level = None;
        for block in self.blocks {
            let Some(heading) = &block.heading else { continue };
            let outer: Vec<&(String, String)> = above[1..heading.level].iter().flatten().collect();
            let slugs: Vec<&str> = outer.iter().map(|(_, slug)| slug.as_str()).collect();
            let full = [&slugs[..], &[&heading.slug]].concat().join("/");
            let count = counts.entry(full).or_default();
            *count += 1;
            let slug = number_slug(&heading.slug, *count);
            let ends_preamble = || preamble_level.is_some_and(|first| heading.level <= first);
            let ends_section = heading.level < level && (!drafts.is_empty() || ends_preamble());
            if heading.level == level || ends_section {
                drafts.push(DraftSection {
                    kind: DraftKind::Heading,
                    level: heading.level,
                    heading: heading.shown.clone(),
                    slug: slug.clone(),
                    above: outer.iter().map(|(shown, _)| shown.clone()).collect(),
                    above_slugs: outer.iter().map(|(_, slug)| slug.clone()).collect(),
                    start: block.start.text,
                    end: self.text.len(),
                    part: 1,
                });
            }
            preamble_level = preamble_level.or(Some(heading.level));
            above[heading.level] = Some((heading.shown.clone(), slug));
            for deeper in &mut above[heading.level + 1..] {
                *deeper = None;
            }
        }
        self.join_bare_headings(&mut drafts);
        preamble.end = drafts.first().map_or(self.text.len(), |first| first.start);
        if drafts.is_empty() || !self.text[preamble.start..preamble.end].trim().is_empty() {
            drafts.insert(0, preamble);
        }
        end_at_next_start(&mut drafts);
        drafts
    }

    /// Lets a section begin at the headings directly above it, because a heading without a text of its own is
    /// no section.
    fn join_bare_headings(&self, drafts: &mut Vec<DraftSection>) {
        let first_block_at = |byte: usize| self.blocks.partition_point(|block| block.start.text < byte);
        let is_bare = |start: usize, end: usize| {
            let mut inside = self.blocks[first_block_at(start)..first_block_at(end)].iter();
            inside.all(|block| block.heading.is_some())
        };
        let mut joined: Vec<DraftSection> = Vec::with_capacity(drafts.len());
        for mut draft in drafts.drain(..) {
            if let Some(before) = joined.last()
                && before.level < draft.level
                && is_bare(before.start, draft.start)
            {
                draft.start = before.start;
                joined.pop();
            }
            joined.push(draft);
        }
        *drafts = joined;
    }

    fn fits(&self, start: usize, end: usize) -> bool {
        // Most sections are short even in bytes, so their characters need not be counted.
        end - start <= self.max_chars || length(&self.text[start..end]) <= self.max_chars
    }

    /// Adds sections, cut further if they are too long.
    fn add_fitting(&self, drafts: Vec<DraftSection>, into: &mut Vec<DraftSection>) {
        for draft in drafts {
            if self.fits(draft.start, draft.end) {
                into.push(draft);
            } else {
                self.cut_further(draft, into);
            }
        }
    }

    /// Cuts a section that is too long at its next finer headings, or between its blocks if it has none.
    fn cut_further(&self, mut draft: DraftSection, into: &mut Vec<DraftSection>) {
        let first = self
            .blocks
            .partition_point(|block| block.start.text < draft.start);
        let last = self.blocks.partition_point(|block| block.start.text < draft.end);
        let inside = &self.blocks[first..last];
        let headings_at = |level: usize| {
            let headings = inside
                .iter()
                .filter_map(|block| Some((block.start.text, block.heading.as_ref()?)));
            headings
                .filter(move |(start, heading)| {
                    // The heading that names the section does not cut it again.
                    heading.level == level && (*start > draft.start || draft.kind != DraftKind::Heading)
                })
                .collect::<Vec<_>>()
        };
        let found = (draft.level + 1..=6)
            .map(|level| (level, headings_at(level)))
            .find(|(_, headings)| !headings.is_empty())
            .filter(|(_, headings)| headings.len() <= MAX_SECTIONS);
        let Some((level, headings)) = found else {
            return self.cut_between_blocks(&draft, inside, into);
        };
        let mut finer: Vec<DraftSection> = Vec::new();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for (start, heading) in headings {
            let count = counts.entry(&heading.slug).or_default();
            *count += 1;
            let extended = |names: &[String], own: &str| {
                let own = Some(own.to_owned()).filter(|own| !own.is_empty());
                names.iter().cloned().chain(own).collect::<Vec<_>>()
            };
            finer.push(DraftSection {
                kind: DraftKind::Heading,
                level,
                heading: heading.shown.clone(),
                slug: number_slug(&heading.slug, *count),
                above: extended(&draft.above, &draft.heading),
                above_slugs: extended(&draft.above_slugs, &draft.slug),
                start,
                end: draft.end,
                part: 1,
            });
        }
        draft.level = level - 1;
        draft.end = finer[0].start;
        if !self.text[draft.start..draft.end].trim().is_empty() {
            finer.insert(0, draft);
        }
        end_at_next_start(&mut finer);
        self.add_fitting(finer, into);
    }

    /// Cuts between blocks, and inside a block that is too long by itself at its joints.
    fn cut_between_blocks(&self, draft: &DraftSection, inside: &[Block], into: &mut Vec<DraftSection>) {
        let mut cut_points: Vec<usize> = Vec::new();
        for (at, block) in inside.iter().enumerate() {
            cut_points.push(block.start.text);
            let end = inside.get(at + 1).map_or(draft.end, |next| next.start.text);
            if !self.fits(block.start.text, end) {
                let joints = block.joints.iter().map(|joint| joint.text);
                cut_points.extend(joints.filter(|joint| *joint > block.start.text));
            }
        }
        cut_points.push(draft.end);
        let (mut start, mut size, mut part) = (draft.start, 0, 1);
        // A heading alone is no part.
        let heading = inside
            .first()
            .filter(|block| block.heading.is_some())
            .map(|block| block.start.text);
        for pair in cut_points.windows(2) {
            let next = &self.text[pair[0]..pair[1]];
            let is_heading = Some(start) == heading && cut_points.get(1) == Some(&pair[0]);
            if size > 0 && size + length(next) > self.max_chars && !is_heading {
                into.push(DraftSection {
                    start,
                    end: pair[0],
                    part,
                    ..draft.clone()
                });
                (start, size, part) = (pair[0], 0, part + 1);
            }
            size += next.chars().count();
        }
        into.push(DraftSection {
            start,
            part,
            ..draft.clone()
        });
    }

    /// Sets the ranges of the sections in the plain text.
    pub(super) fn set_plain_ranges(&self, sections: &mut [PageSection], end: usize) {
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

/// Ends each section where the next one begins. The last one keeps its end.
fn end_at_next_start(drafts: &mut [DraftSection]) {
    for at in 1..drafts.len() {
        drafts[at - 1].end = drafts[at].start;
    }
}

/// Number of characters, without white space around them.
fn length(text: &str) -> usize {
    text.trim().chars().count()
}

/// A slug with a number from the second occurrence on.
fn number_slug(slug: &str, count: usize) -> String {
    if count == 1 {
        slug.to_owned()
    } else {
        format!("{slug}-{count}")
    }
}

/// Gives each section its unique name, and assigns every byte of the text to one of them.
pub(super) fn name_sections(
    text: &str,
    front: &FrontMatter,
    title: Option<&str>,
    drafts: Vec<DraftSection>,
) -> Vec<PageSection> {
    let rows = Rows::of(text);
    let mut names: HashSet<String> = HashSet::new();
    let mut sections: Vec<PageSection> = Vec::with_capacity(drafts.len());
    let starts: Vec<usize> = drafts.iter().map(|draft| draft.start).collect();
    for (at, draft) in drafts.into_iter().enumerate() {
        let name = match (draft.kind, draft.part) {
            (DraftKind::File, 1) => String::new(),
            (DraftKind::File, part) => format!("_part-{part}"),
            (_, 1) => draft.slug.clone(),
            (_, part) => format!("{}-part-{part}", draft.slug),
        };
        let outer = draft.above_slugs.join("/");
        let full = if outer.is_empty() {
            name
        } else {
            format!("{outer}/{name}")
        };
        let mut unique = full.clone();
        let mut count = 1;
        while !names.insert(unique.clone()) {
            count += 1;
            unique = number_slug(&full, count);
        }
        let mut above = draft.above;
        // A page with its title in the front matter has no heading for it.
        if let Some(title) = title.filter(|_| front.title.is_some() && draft.kind == DraftKind::Heading)
            && above.is_empty()
            && draft.level > 1
        {
            above.push(title.to_owned());
        }
        let heading = match draft.kind {
            DraftKind::Heading => draft.heading,
            DraftKind::File | DraftKind::Preamble => title.unwrap_or_default().to_owned(),
        };
        let start = if at == 0 { 0 } else { draft.start };
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
