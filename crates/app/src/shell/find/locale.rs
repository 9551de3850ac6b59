//! What the environment says about characters, order and configuration, as the programs of the shell read it.
//!
//! Invariant: variables are read as the C library reads them: `LC_ALL`, then the category, then `LANG`.

use std::ffi::OsString;
use std::path::PathBuf;

use docent_core::shell::find::Charset;

#[expect(
    clippy::disallowed_methods,
    reason = "the programs that are answered for read these variables themselves"
)]
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn locale_of(category: &str) -> Option<String> {
    let value = ["LC_ALL", category, "LANG"].into_iter().find_map(variable)?;
    Some(value.to_string_lossy().into_owned())
}

pub(super) fn charset() -> Charset {
    charset_of(locale_of("LC_CTYPE").as_deref())
}

fn charset_of(locale: Option<&str>) -> Charset {
    let Some(locale) = locale else {
        return Charset::Bytes;
    };
    let lower = locale.to_ascii_lowercase();
    if !lower.contains("utf-8") && !lower.contains("utf8") {
        Charset::Bytes
    } else if lower.starts_with("c.") {
        Charset::PlainUtf8
    } else {
        Charset::LocalUtf8
    }
}

/// Whether names are ordered by bytes.
pub(super) fn orders_by_bytes() -> bool {
    match locale_of("LC_COLLATE") {
        None => true,
        Some(locale) => locale == "C" || locale == "POSIX" || locale.starts_with("C."),
    }
}

/// The directory of the user's settings, as fd looks for it.
pub(super) fn config_directory() -> Option<PathBuf> {
    let configured = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let absolute = configured.filter(|path| path.is_absolute());
    absolute.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charset_is_that_of_the_locale() {
        assert_eq!(charset_of(None), Charset::Bytes);
        assert_eq!(charset_of(Some("POSIX")), Charset::Bytes);
        assert_eq!(charset_of(Some("C.UTF-8")), Charset::PlainUtf8);
        assert_eq!(charset_of(Some("C.utf8")), Charset::PlainUtf8);
        assert_eq!(charset_of(Some("de_DE.UTF-8")), Charset::LocalUtf8);
        assert_eq!(charset_of(Some("de_DE")), Charset::Bytes);
    }
}
