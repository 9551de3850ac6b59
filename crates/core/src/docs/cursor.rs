//! Cursors: opaque texts that continue a list of results.
//!
//! Invariant: a cursor is accepted only with the query, the filters and the generation of the pages that it
//! was made for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use xxhash_rust::xxh3::xxh3_64;

use super::manifest::Labels;

/// The search that a cursor belongs to.
#[derive(Clone, Copy, Debug)]
pub struct CursorScope<'a> {
    pub query: &'a str,
    pub filters: &'a Labels,
    /// The state of the pages.
    pub generation: u64,
}

/// The reason why a cursor is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CursorRefused {
    #[error("is not one that search_docs gave")]
    Malformed,
    #[error("belongs to another query or other filters")]
    OtherQuery,
    #[error("is out of date, because the documentation has changed")]
    Stale,
}

const VERSION: u8 = 1;

/// Version, position, hash of the query, generation, checksum.
const CURSOR_BYTES: usize = 1 + 4 + 8 + 8 + 8;

impl CursorScope<'_> {
    fn query_hash(&self) -> u64 {
        let mut all = self.query.trim().as_bytes().to_vec();
        for (key, value) in self.filters {
            for text in [key, value] {
                all.push(0);
                all.extend(text.as_bytes());
            }
        }
        xxh3_64(&all)
    }

    /// The cursor that continues after the first `after` results.
    pub fn encode_cursor(&self, after: usize) -> String {
        let mut bytes = vec![VERSION];
        bytes.extend(u32::try_from(after).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(self.query_hash().to_le_bytes());
        bytes.extend(self.generation.to_le_bytes());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The number of results that a cursor skips.
    pub fn decode_cursor(&self, cursor: &str) -> Result<usize, CursorRefused> {
        let bytes = URL_SAFE_NO_PAD
            .decode(cursor.trim())
            .map_err(|_| CursorRefused::Malformed)?;
        if bytes.len() != CURSOR_BYTES || bytes[0] != VERSION {
            return Err(CursorRefused::Malformed);
        }
        let number_at = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        if number_at(21) != xxh3_64(&bytes[..21]) {
            return Err(CursorRefused::Malformed);
        }
        if number_at(5) != self.query_hash() {
            return Err(CursorRefused::OtherQuery);
        }
        if number_at(13) != self.generation {
            return Err(CursorRefused::Stale);
        }
        let after = u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
        usize::try_from(after).map_err(|_| CursorRefused::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_accepted_by_its_own_search_only() {
        let filters = Labels::from([("language".to_owned(), "go".to_owned())]);
        let search = CursorScope {
            query: "retries",
            filters: &filters,
            generation: 7,
        };
        let cursor = search.encode_cursor(10);
        assert_eq!(search.decode_cursor(&cursor), Ok(10));
        let other = CursorScope {
            query: "retry",
            ..search
        };
        assert_eq!(other.decode_cursor(&cursor), Err(CursorRefused::OtherQuery));
        let unfiltered = CursorScope {
            filters: &Labels::new(),
            ..search
        };
        assert_eq!(unfiltered.decode_cursor(&cursor), Err(CursorRefused::OtherQuery));
        let later = CursorScope {
            generation: 8,
            ..search
        };
        assert_eq!(later.decode_cursor(&cursor), Err(CursorRefused::Stale));
    }

    #[test]
    fn a_cursor_with_any_changed_character_is_refused() {
        let search = CursorScope {
            query: "q",
            filters: &Labels::new(),
            generation: 1,
        };
        let cursor = search.encode_cursor(5);
        for at in 0..cursor.len() {
            let mut changed = cursor.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(
                search.decode_cursor(&changed),
                Err(CursorRefused::Malformed),
                "{at}"
            );
        }
        for text in ["", "x", "not a cursor", &cursor[1..], "AAAA", "ä"] {
            assert_eq!(
                search.decode_cursor(text),
                Err(CursorRefused::Malformed),
                "{text:?}"
            );
        }
    }
}
