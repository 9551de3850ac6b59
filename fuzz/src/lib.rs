//! Invariants of `docent-core` as functions over arbitrary bytes: the bodies of the fuzz targets.
//!
//! They live in a library so that they compile, and run over a few inputs, without nightly and libFuzzer.
//! Modules that read files or start processes are left out: a fuzz target must depend on its input alone.
//!
//! Invariant: a check panics only if `docent-core` broke a promise, never because of the form of its input.

#![forbid(unsafe_code)]

pub mod chunk;
pub mod client_config;
pub mod lcov;
pub mod page;
pub mod redact;
pub mod symbols;

/// Splits off the first byte, which chooses among variants of a check.
fn split_selector(input: &[u8]) -> (usize, &[u8]) {
    match input.split_first() {
        Some((selector, rest)) => (usize::from(*selector), rest),
        None => (0, input),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that the formats are made of. Random bytes alone are refused by the first token.
    const WORDS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        ";",
        "=",
        ".",
        "#",
        "//",
        "/*",
        "*/",
        "\"",
        "'",
        "\n",
        "\n",
        "\r\n",
        " ",
        "\t",
        "\u{feff}",
        "é",
        "\"mcpServers\"",
        "\"docent\"",
        "mcp_servers",
        "docent",
        "{}",
        "1",
        "SF:a\n",
        "DA:1,1\n",
        "LF:2\n",
        "LH:1\n",
        "end_of_record\n",
        "# ",
        "## ",
        "```\n",
        "---\n",
        "- ",
        "| a |\n",
        "fn f() {",
        "class A",
        "def f():\n  ",
        "\\ud83d",
        "<p>",
        "> ",
        "password",
        "token is ",
        "ghp_",
        "://a:b@",
        "Bearer ",
        "0aB3xZ9qL7",
    ];

    /// Texts of up to 40 words, the same in every run.
    fn inputs() -> impl Iterator<Item = Vec<u8>> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % bound as u64).expect("smaller than a usize")
        };
        (0..400).map(move |_| {
            let mut input = vec![u8::try_from(next(256)).expect("smaller than 256")];
            for _ in 0..next(40) {
                input.extend_from_slice(WORDS[next(WORDS.len())].as_bytes());
            }
            input
        })
    }

    #[test]
    fn chunks_cover_their_text() {
        inputs().for_each(|input| chunk::check(&input));
    }

    #[test]
    fn reports_do_not_depend_on_how_they_are_fed() {
        inputs().for_each(|input| lcov::check(&input));
    }

    #[test]
    fn client_files_keep_the_rest_of_their_text() {
        for input in inputs() {
            client_config::check_json(&input);
            client_config::check_toml(&input);
        }
        let files = [
            "\u{1}{ /* a */ \"mcpServers\": { \"notes\": {} // b\n } }",
            "\0{\"mcpServers\":{},\"history\":[\"\\ud83d\"]}",
            "\0[mcp_servers.notes] # a\r\ncommand = 'x'\r\n\r\n# b\r\n[tui]",
            "\0mcp_servers = { docent = { command = 'x' }, } # a\n",
        ];
        for file in files {
            client_config::check_json(file.as_bytes());
            client_config::check_toml(file.as_bytes());
        }
    }

    #[test]
    fn symbols_read_back_as_they_were_stored() {
        inputs().for_each(|input| symbols::check(&input));
    }

    #[test]
    fn a_found_secret_is_redacted() {
        inputs().for_each(|input| redact::check(&input[1..]));
    }

    #[test]
    fn pages_are_their_sections() {
        inputs().for_each(|input| page::check(&input));
    }
}
