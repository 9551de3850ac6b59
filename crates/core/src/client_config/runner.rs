//! Programs that lie in the cache of a package runner, such as `uvx` and `npx`.
//!
//! Left out: programs that a package manager has installed; their path stays.

/// The words that start docent again, if its program lies in the cache of a package runner. A path into such
/// a cache is no entry for a client: the next version or a clean-up removes it.
pub fn package_runner(program: &str) -> Option<&'static [&'static str]> {
    let mut folders = program.split(['/', '\\']);
    folders.find_map(|folder| match folder {
        "archive-v0" => Some(["uvx", "docent-mcp"].as_slice()),
        "_npx" => Some(["npx", "--yes", "docent"].as_slice()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_the_cache_of_a_runner_is_started_by_the_runner() {
        for (program, words) in [
            (
                "/home/u/.cache/uv/archive-v0/UNUZGtEhsq/bin/docent",
                "uvx docent-mcp",
            ),
            (
                r"C:\Users\u\AppData\Local\uv\cache\archive-v0\x\Scripts\docent.exe",
                "uvx docent-mcp",
            ),
            (
                "/home/u/.npm/_npx/1f2e/node_modules/docent-linux-x64/bin/docent",
                "npx --yes docent",
            ),
        ] {
            assert_eq!(
                package_runner(program).map(|words| words.join(" ")).as_deref(),
                Some(words)
            );
        }
        for program in [
            "/usr/bin/docent",
            "/home/u/.local/share/uv/tools/docent-mcp/bin/docent",
            "/home/u/.local/lib/node_modules/docent-linux-x64/bin/docent",
        ] {
            assert_eq!(package_runner(program), None, "{program}");
        }
    }
}
