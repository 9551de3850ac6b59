//! Outlines: definitions with their lines and signatures, indented by their nesting.
//!
//! An outline that does not fit loses its deepest definitions first, so that a reader still sees the whole
//! file.

use super::count_of;
use crate::markdown::length;

/// A definition: `10-20 fn render(&self)`, and how many definitions enclose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutlineLine {
    pub(crate) depth: usize,
    pub(crate) text: String,
}

impl OutlineLine {
    fn cost(&self) -> usize {
        length(&self.text) + 2 * self.depth + 3
    }

    fn write(&self, text: &mut String) {
        text.push_str(&"  ".repeat(self.depth + 1));
        text.push_str(&self.text);
        text.push('\n');
    }
}

/// The definitions of a file below its header, in at most `room` characters.
pub(crate) fn outline(header: &str, lines: &[OutlineLine], room: usize) -> String {
    let mut text = format!("{header}\n");
    // Kept for the line that counts what is left out.
    let room = room.saturating_sub(length(&text) + 60);
    let cost_to = |depth: usize| {
        let shown = lines.iter().filter(|line| line.depth <= depth);
        shown.map(OutlineLine::cost).sum::<usize>()
    };
    let deepest = lines.iter().map(|line| line.depth).max().unwrap_or(0);
    let depth = (0..=deepest).rev().find(|depth| cost_to(*depth) <= room);
    let mut left = room;
    let mut shown = 0;
    for line in lines.iter().filter(|line| line.depth <= depth.unwrap_or(0)) {
        let Some(rest) = left.checked_sub(line.cost()) else {
            break;
        };
        left = rest;
        line.write(&mut text);
        shown += 1;
    }
    let hidden = lines.len() - shown;
    if hidden > 0 {
        let which = if depth.is_some() { "nested" } else { "more" };
        let count = count_of(
            hidden,
            &format!("{which} definition"),
            &format!("{which} definitions"),
        );
        text += &format!("… {count}: use find_symbol\n");
    }
    text
}

/// The definitions of a file below its header, in at most `room` characters: those in focus with the
/// definitions around them and inside them, and of the others those at the top level. All of them as
/// [`outline`] has them if none is in focus.
pub(crate) fn outline_around(
    header: &str,
    lines: &[OutlineLine],
    is_in_focus: impl Fn(usize) -> bool,
    room: usize,
) -> String {
    let mut is_kept = vec![false; lines.len()];
    for at in (0..lines.len()).filter(|at| is_in_focus(*at)) {
        let mut depth = lines[at].depth + 1;
        for above in (0..=at).rev() {
            if lines[above].depth < depth {
                is_kept[above] = true;
                depth = lines[above].depth;
            }
        }
        let inside = lines[at + 1..]
            .iter()
            .take_while(|line| line.depth > lines[at].depth);
        let inside = inside.count();
        is_kept[at + 1..=at + inside].fill(true);
    }
    if !is_kept.contains(&true) {
        return outline(header, lines, room);
    }
    let mut text = format!("{header}\n");
    // Kept for the line that counts what is folded.
    let mut left = room.saturating_sub(length(&text) + 60);
    let mut is_shown = vec![false; lines.len()];
    for is_focus_round in [true, false] {
        for (at, line) in lines.iter().enumerate() {
            let is_asked = if is_focus_round {
                is_kept[at]
            } else {
                !is_kept[at] && line.depth == 0
            };
            if is_asked && line.cost() <= left {
                left -= line.cost();
                is_shown[at] = true;
            }
        }
    }
    let mut folded = 0;
    for (line, is_shown) in lines.iter().zip(is_shown) {
        if is_shown {
            line.write(&mut text);
        } else {
            folded += 1;
        }
    }
    if folded > 0 {
        let count = count_of(folded, "folded definition", "folded definitions");
        text += &format!("… {count}: use find_symbol\n");
    }
    text
}

/// The definitions of the files of a directory, in at most `room` characters. Files lose their definitions
/// before they are left out.
pub(crate) fn directory_outline(files: &[(String, Vec<OutlineLine>)], room: usize) -> String {
    let write_file = |(path, lines): &(String, Vec<OutlineLine>)| {
        let mut text = format!("{path}\n");
        for line in lines {
            line.write(&mut text);
        }
        text
    };
    let full: String = files.iter().map(write_file).collect();
    if length(&full) <= room {
        return full;
    }
    let mut text = String::new();
    let mut left = room.saturating_sub(100);
    for (at, (path, lines)) in files.iter().enumerate() {
        let line = format!("{path} {}\n", count_of(lines.len(), "definition", "definitions"));
        let Some(rest) = left.checked_sub(length(&line)) else {
            let more = count_of(files.len() - at, "more file", "more files");
            text += &format!("… {more}\n");
            break;
        };
        left = rest;
        text += &line;
    }
    text + "… definitions did not fit: outline a directory below, or a file\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: &[(usize, &str)]) -> Vec<OutlineLine> {
        let line = |(depth, text): &(usize, &str)| OutlineLine {
            depth: *depth,
            text: (*text).to_owned(),
        };
        of.iter().map(line).collect()
    }

    #[test]
    fn nested_definitions_are_left_out_first() {
        let lines = lines(&[
            (0, "1-90 class A"),
            (1, "2-80 fn long_name_of_a_method()"),
            (0, "95 fn b()"),
        ]);
        assert_eq!(
            outline("a.py", &lines, 1_000),
            "a.py\n  1-90 class A\n    2-80 fn long_name_of_a_method()\n  95 fn b()\n"
        );
        let short = outline("a.py", &lines, 110);
        assert_eq!(
            short,
            "a.py\n  1-90 class A\n  95 fn b()\n… 1 nested definition: use find_symbol\n"
        );
        let shorter = outline("a.py", &lines, 80);
        assert_eq!(
            shorter,
            "a.py\n  1-90 class A\n… 2 more definitions: use find_symbol\n"
        );
    }

    #[test]
    fn definitions_in_focus_are_unfolded_and_all_others_folded() {
        let lines = lines(&[
            (0, "1-90 class A"),
            (1, "2-9 fn a()"),
            (1, "10-80 class B"),
            (2, "11-20 fn b()"),
            (2, "21-30 fn c()"),
            (0, "95 fn d()"),
        ]);
        let around = |focus: usize, room| outline_around("a.py", &lines, |at| at == focus, room);
        assert_eq!(
            around(2, 1_000),
            "a.py\n  1-90 class A\n    10-80 class B\n      11-20 fn b()\n      21-30 fn c()\n  95 fn d()\n… 1 \
             folded definition: use find_symbol\n"
        );
        assert_eq!(
            around(4, 1_000),
            "a.py\n  1-90 class A\n    10-80 class B\n      21-30 fn c()\n  95 fn d()\n… 2 folded definitions: use \
             find_symbol\n"
        );
        // What is in focus comes before other definitions at the top level.
        assert_eq!(
            around(5, 90),
            "a.py\n  95 fn d()\n… 5 folded definitions: use find_symbol\n"
        );
        assert_eq!(around(9, 1_000), outline("a.py", &lines, 1_000));
    }

    #[test]
    fn files_of_a_directory_lose_their_definitions_first() {
        let many: Vec<(usize, &str)> = vec![(0, "1-2 fn walrus()"); 50];
        let files: Vec<_> = (0..20).map(|at| (format!("src/{at}.rs"), lines(&many))).collect();
        let text = directory_outline(&files, 400);
        assert!(
            text.starts_with("src/0.rs 50 definitions\nsrc/1.rs 50 definitions\n"),
            "{text}"
        );
        assert!(text.contains("more files\n"), "{text}");
        assert!(length(&text) <= 400, "{}", length(&text));
    }
}
