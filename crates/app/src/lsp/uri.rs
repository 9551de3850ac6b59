//! `file:` URIs and the paths that they name.
//!
//! Invariant: a URI of another scheme or of another machine names no path.

use std::path::{Path, PathBuf};

use lsp_types::Uri;

/// The path that a URI names. `None` if it names no file of this machine.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let start = rest.find('/')?;
            let (host, path) = rest.split_at(start);
            (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then_some(path)?
        }
        None => rest,
    };
    let decoded = decode(path)?;
    // `/C:/rows` on Windows.
    let bytes = decoded.as_bytes();
    let has_drive = cfg!(windows) && bytes.len() > 2 && bytes[1].is_ascii_alphabetic() && bytes[2] == b':';
    Some(PathBuf::from(if has_drive { &decoded[1..] } else { &decoded }))
}

/// The URI of a path. `None` if the path is not text.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?;
    let path = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let mut uri = String::with_capacity(path.len() + 8);
    uri.push_str(if path.starts_with('/') {
        "file://"
    } else {
        "file:///"
    });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.parse().ok()
}

/// Decodes `%20`. `None` if the text is not valid then.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*byte);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_survives_the_way_there_and_back() {
        for path in [
            "/zoo/row.rs",
            "/zoo/a b#c?.rs",
            "/zoo/größe 🦉.py",
            "/a%20b",
            "/C:/x",
            "/a\\b",
        ] {
            let uri = uri_of(Path::new(path)).unwrap();
            assert!(uri.as_str().is_ascii(), "{}", uri.as_str());
            assert_eq!(path_of(uri.as_str()), Some(path.into()));
        }
    }

    #[test]
    fn only_files_of_this_machine_are_named() {
        let check = |uri: &str, expected: Option<&str>| {
            assert_eq!(path_of(uri), expected.map(PathBuf::from), "{uri}");
        };
        check("file:///zoo/row.rs", Some("/zoo/row.rs"));
        check("FILE://localhost/zoo/row.rs", Some("/zoo/row.rs"));
        check("file:/zoo/row.rs", Some("/zoo/row.rs"));
        check("file:///zoo/gr%C3%B6%C3%9Fe", Some("/zoo/größe"));
        check("file://other/zoo/row.rs", None);
        check("untitled:Untitled-1", None);
        check("http://localhost/zoo", None);
        check("file:///zoo/%", None);
        check("file:///zoo/%zz", None);
        check("file:///zoo/%ff", None);
        check("file:///zoo/%00", None);
        check("", None);
    }
}
