//! The release of the grep that a shell would run, read from the program's file.
//!
//! What `-P` takes for a word differs between releases, and no program is run to ask for it.

use std::fs;
use std::path::Path;

/// A larger file is no grep.
const MAX_PROGRAM_BYTES: u64 = 8 << 20;

/// A release of GNU grep, such as 3.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrepRelease {
    pub major: u32,
    pub minor: u32,
}

impl GrepRelease {
    /// The release of the first `grep` in these directories. `None` if it is no GNU grep, or does not say it.
    pub fn find<'a>(search: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
        let program = search
            .into_iter()
            .map(|directory| directory.join("grep"))
            .find(|program| program.is_file())?;
        if fs::metadata(&program).ok()?.len() > MAX_PROGRAM_BYTES {
            return None;
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the user's own program is no project file, and nothing of it is shown"
        )]
        let content = fs::read(&program).ok()?;
        Self::read(&content)
    }

    /// The one string of the program that is a release.
    fn read(content: &[u8]) -> Option<Self> {
        memchr::memmem::find(content, b"GNU grep\0")?;
        let mut releases = content.split(|byte| *byte == 0).filter_map(Self::parse);
        let release = releases.next()?;
        releases.next().is_none().then_some(release)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        if !(3..=4).contains(&text.len()) {
            return None;
        }
        let (major, minor) = std::str::from_utf8(text).ok()?.split_once('.')?;
        let parse = |digits: &str| {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse().ok()).flatten()
        };
        let (major, minor) = (parse(major)?, parse(minor)?);
        (2..=3).contains(&major).then_some(Self { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_string_that_is_a_release_is_taken() {
        let release = |content: &[u8]| GrepRelease::read(content);
        let found = Some(GrepRelease { major: 3, minor: 11 });
        assert_eq!(release(b"\x7fELF\0GNU grep\0x\x003.11\0%s 1.0\0"), found);
        assert_eq!(release(b"GNU grep\x003.8\x003.11\0"), None);
        assert_eq!(release(b"GNU grep\0none\0"), None);
        assert_eq!(release(b"another grep\x003.8\0"), None);
    }
}
