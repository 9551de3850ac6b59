//! Limits for glob patterns. `globset` recurses into alternatives and its automaton grows with every
//! wildcard, so a pattern from a hostile project or caller is checked before it is compiled.

/// Bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 1_000;

/// Groups of alternatives in a pattern.
const MAX_PATTERN_GROUPS: usize = 50;

/// True for a pattern small enough to compile.
pub fn is_reasonable(pattern: &str) -> bool {
    pattern.len() <= MAX_PATTERN_BYTES
        && pattern.bytes().filter(|byte| *byte == b'{').count() <= MAX_PATTERN_GROUPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_patterns_are_reasonable_and_bombs_are_not() {
        assert!(is_reasonable("src/**/*.{ts,tsx,js}"));
        assert!(!is_reasonable(&"{".repeat(51)));
        assert!(!is_reasonable(&"*".repeat(1_001)));
    }
}
