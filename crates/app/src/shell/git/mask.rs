//! Lines of blocked files, which are counted instead of printed.

use std::ops::Range;

use docent_core::shell::git::is_blocked;
use docent_core::shell::git::patch::{PatchFile, PatchPart};
use docent_core::text::reveal::reveal_part;

use crate::compact::count_of;
use crate::shell::project::ShellProject;

/// The hunks of blocked files, with their paths.
pub(super) fn blocked_ranges<'a>(
    parts: &'a [PatchPart],
    project: &ShellProject,
) -> Vec<(Range<usize>, &'a str)> {
    let mut ranges = Vec::new();
    for part in parts {
        if let PatchPart::File(file) = part
            && is_blocked_file(file, project)
            && file.header.end < file.range.end
        {
            ranges.push((file.header.end..file.range.end, file.path.as_str()));
        }
    }
    ranges
}

pub(super) fn is_blocked_file(file: &PatchFile, project: &ShellProject) -> bool {
    let is_blocked = |path: &str| is_blocked(path) || project.blocks(path);
    is_blocked(&file.path) || file.from.as_deref().is_some_and(is_blocked)
}

/// The whole text without blocked lines.
pub(super) fn mask_whole(text: &[u8], blocked: &[(Range<usize>, &str)]) -> Vec<u8> {
    mask_part(text, 0..text.len(), blocked)
}

/// A part of the text without blocked lines.
pub(super) fn mask_part(text: &[u8], part: Range<usize>, blocked: &[(Range<usize>, &str)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(part.len());
    let mut copied = part.start;
    for (range, path) in blocked {
        if range.start < copied || range.end > part.end {
            continue;
        }
        out.extend_from_slice(&text[copied..range.start]);
        let lines = memchr::memchr_iter(b'\n', &text[range.clone()]).count();
        out.extend_from_slice(describe(lines, path).as_bytes());
        copied = range.end;
    }
    out.extend_from_slice(&text[copied..part.end]);
    out
}

/// Selected lines of the text, in their order, without blocked ones.
pub(super) fn join_lines(text: &[u8], selected: &[&[u8]], blocked: &[(Range<usize>, &str)]) -> Vec<u8> {
    let start = text.as_ptr() as usize;
    let path_of = |line: &[u8]| {
        let at = (line.as_ptr() as usize).wrapping_sub(start);
        blocked
            .iter()
            .find(|(range, _)| range.contains(&at))
            .map(|(_, path)| *path)
    };
    let mut out = Vec::new();
    for group in selected.chunk_by(|one, other| path_of(one) == path_of(other)) {
        if let Some(path) = path_of(group[0]) {
            out.extend_from_slice(describe(group.len(), path).as_bytes());
            continue;
        }
        for line in group {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
    }
    // The last line of the text may have no end.
    let ends_text = selected
        .last()
        .is_some_and(|line| (line.as_ptr() as usize).wrapping_sub(start) + line.len() == text.len());
    if ends_text && out.ends_with(b"\n") {
        out.pop();
    }
    out
}

fn describe(lines: usize, path: &str) -> String {
    let path = reveal_part(path).replace('\n', "\\u{A}");
    format!(
        "… {} of the patch of {path} not shown: docent's access rules block the file\n",
        count_of(lines, "line", "lines")
    )
}
