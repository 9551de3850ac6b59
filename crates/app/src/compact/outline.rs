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
