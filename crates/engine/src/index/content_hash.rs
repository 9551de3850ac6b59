//! The hash by which texts are compared: of a file's content, of a chunk's lines, of a manifest.

use xxhash_rust::xxh3::xxh3_64;

/// Hash of a text. It is stored, so it must stay the same between versions of docent.
pub(crate) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
