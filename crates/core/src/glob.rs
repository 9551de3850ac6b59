//! Which globs are worth compiling. The library that does recurses into alternatives and grows with every
//! wildcard, so a pattern from a hostile project or caller is looked at first.

/// Bytes a pattern may have.
const MAX_PATTERN_BYTES: usize = 1_000;

/// Groups of alternatives a pattern may open.
const MAX_PATTERN_GROUPS: usize = 50;

/// True for patterns of a size that people write.
pub fn is_reasonable(pattern: &str) -> bool {
    pattern.len() <= MAX_PATTERN_BYTES
        && pattern.bytes().filter(|byte| *byte == b'{').count() <= MAX_PATTERN_GROUPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_people_write_are_reasonable_and_bombs_are_not() {
        assert!(is_reasonable("src/**/*.{ts,tsx,js}"));
        assert!(!is_reasonable(&"{".repeat(51)));
        assert!(!is_reasonable(&"*".repeat(1_001)));
    }
}
