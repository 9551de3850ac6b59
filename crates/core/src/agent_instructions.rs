//! The block about docent in the instruction file of a coding agent (`AGENTS.md`, `CLAUDE.md`).
//!
//! Invariant: the block stands between two marks, and nothing outside of them is changed.

const BEGIN: &str = "<!-- docent: begin -->";
const END: &str = "<!-- docent: end -->";

/// Tells an agent when to use which tool.
const TEXT: &str = "\
## Finding your way with docent

The MCP server `docent` knows this project. Prefer it to reading whole files and to searching blindly:

- `context_search` first, for a question or a name: it returns the functions and sections that answer it. `type: \"decision\"`,
  `\"rule\"` or `\"issue\"` for what was decided, learned and found broken.
- `grep_codebase` for exact text, `read_file` with `startLine` and `endLine` for what a search has named, `includeDeps` for what it imports.
- `git_log`, `git_blame` and `git_diff` for why a line is as it is; `search_docs` and `get_doc` for the documentation.
- `write_memory_entry` when a decision is made that the next session should know of; the user approves it.
";

/// The text with the block. An older block is replaced.
pub fn insert_block(text: &str) -> String {
    let block = format!("{BEGIN}\n{TEXT}{END}\n");
    match find_block(text) {
        Some((start, end)) => format!("{}{block}{}", &text[..start], &text[end..]),
        None if text.is_empty() => block,
        None => {
            let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
            format!("{text}{gap}{block}")
        }
    }
}

/// The text without the block and the blank line before it.
pub fn remove_block(text: &str) -> String {
    let Some((start, end)) = find_block(text) else {
        return text.to_owned();
    };
    let (before, after) = (&text[..start], &text[end..]);
    // The blank line was added with the block. A user who moved the block may have left none.
    let before = before
        .strip_suffix('\n')
        .filter(|before| before.ends_with('\n'))
        .unwrap_or(before);
    format!("{before}{after}")
}

/// Byte range of the block, with the end of its last line.
fn find_block(text: &str) -> Option<(usize, usize)> {
    let start = text.find(BEGIN)?;
    let end = start + text[start..].find(END)? + END.len();
    let rest = &text[end..];
    let line_end = rest.len()
        - rest
            .strip_prefix("\r\n")
            .or_else(|| rest.strip_prefix('\n'))
            .unwrap_or(rest)
            .len();
    Some((start, end + line_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inserting_and_removing_the_block_changes_nothing_else() {
        for text in ["", "# Guide\n", "# Guide\n\nText.\n"] {
            let with = insert_block(text);
            assert!(
                with.contains("context_search") && with.starts_with(text),
                "{with}"
            );
            assert_eq!(insert_block(&with), with);
            assert_eq!(remove_block(&with), text);
            assert_eq!(remove_block(text), text);
        }
    }

    #[test]
    fn an_older_block_is_replaced_in_place() {
        let text = format!("a\n\n{BEGIN}\nold\n{END}\nb\n");
        let with = insert_block(&text);
        assert!(
            with.starts_with("a\n\n<!-- docent: begin -->\n## Finding") && with.ends_with("-->\nb\n"),
            "{with}"
        );
        assert_eq!(remove_block(&with), "a\nb\n");
    }
}
