//! The blocks about docent in the instruction file of a coding agent (`AGENTS.md`, `CLAUDE.md`).
//!
//! Invariant: a block stands between two marks, and nothing outside of them is changed.

/// A block of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionBlock {
    /// When to use which tool.
    Tools,
    /// When to use `docent sh`, for clients whose commands are not rewritten.
    Shell,
}

const TOOLS_TEXT: &str = "\
## Finding your way with docent

The MCP server `docent` knows this project. Prefer it to reading whole files and to searching blindly:

- `context_search` first, for a question or a name: it returns the functions and sections that answer it. `type: \"decision\"`,
  `\"rule\"` or `\"issue\"` for what was decided, learned and found broken.
- `grep_codebase` for exact text, `read_file` with `startLine` and `endLine` for what a search has named, `includeDeps` for what it imports.
- `git_log`, `git_blame` and `git_diff` for why a line is as it is; `search_docs` and `get_doc` for the documentation.
- `write_memory_entry` when a decision is made that the next session should know of; the user approves it.
";

const SHELL_TEXT: &str = "\
## Searching in the shell

`docent sh grep -rn WORD src`, and so on with `rg`, `find`, `git log`, `git show`, `git diff` and `git blame`, answers as the program itself
would, with the same matches and the same exit status, in less text: matches by file and function, what is left out counted. Use it for
searches whose output may be long. It only reads. Run the program itself where its exact output goes to another program.
";

impl InstructionBlock {
    pub const ALL: [Self; 2] = [Self::Tools, Self::Shell];

    fn marks(self) -> [&'static str; 2] {
        match self {
            Self::Tools => ["<!-- docent: begin -->", "<!-- docent: end -->"],
            Self::Shell => ["<!-- docent sh: begin -->", "<!-- docent sh: end -->"],
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Tools => TOOLS_TEXT,
            Self::Shell => SHELL_TEXT,
        }
    }
}

/// The text with the block. An older block is replaced.
pub fn insert_block(text: &str, block: InstructionBlock) -> String {
    let ([begin, end], inner) = (block.marks(), block.text());
    let written = format!("{begin}\n{inner}{end}\n");
    match find_block(text, block) {
        Some((start, end)) => format!("{}{written}{}", &text[..start], &text[end..]),
        None if text.is_empty() => written,
        None => {
            let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
            format!("{text}{gap}{written}")
        }
    }
}

/// The text without the block and the blank line before it.
pub fn remove_block(text: &str, block: InstructionBlock) -> String {
    let Some((start, end)) = find_block(text, block) else {
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
fn find_block(text: &str, block: InstructionBlock) -> Option<(usize, usize)> {
    let [begin, end_mark] = block.marks();
    let start = text.find(begin)?;
    let end = start + text[start..].find(end_mark)? + end_mark.len();
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
    fn inserting_and_removing_blocks_changes_nothing_else() {
        let [tools, shell] = InstructionBlock::ALL;
        for text in ["", "# Guide\n", "# Guide\n\nText.\n"] {
            let with = insert_block(text, tools);
            assert!(
                with.contains("context_search") && with.starts_with(text),
                "{with}"
            );
            assert_eq!(insert_block(&with, tools), with);
            assert_eq!(remove_block(&with, tools), text);
            assert_eq!(remove_block(text, tools), text);

            let both = insert_block(&with, shell);
            assert!(
                both.starts_with(&with) && both.contains("docent sh grep"),
                "{both}"
            );
            assert_eq!(remove_block(&both, shell), with);
        }
    }

    #[test]
    fn an_older_block_is_replaced_in_place() {
        let block = InstructionBlock::Tools;
        let [begin, end] = block.marks();
        let text = format!("a\n\n{begin}\nold\n{end}\nb\n");
        let with = insert_block(&text, block);
        assert!(
            with.starts_with("a\n\n<!-- docent: begin -->\n## Finding") && with.ends_with("-->\nb\n"),
            "{with}"
        );
        assert_eq!(remove_block(&with, block), "a\nb\n");
    }
}
