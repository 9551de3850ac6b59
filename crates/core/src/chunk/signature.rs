//! Names, signatures and documentation as they are shown: without the marks of a language, on one line, of bounded length.

/// Characters of a signature, a name and a documentation.
const MAX_SIGNATURE_CHARS: usize = 300;
const MAX_NAME_CHARS: usize = 120;
const MAX_DOC_CHARS: usize = 1_000;

/// A name without what may be attached to it: type parameters, pointers, quotes.
pub(super) fn plain(name: &str) -> String {
    if let Some(operator) = name.strip_prefix("operator") {
        // `operator()` is one, `operator bool() const` is `operator bool`.
        let mut angles = 0;
        let end = operator.char_indices().skip(1).find(|(_, c)| {
            angles += i32::from(*c == '<') - i32::from(*c == '>');
            *c == '(' && angles <= 0
        });
        let end = end.map_or(operator.len(), |(at, _)| at);
        return on_one_line(&name[.."operator".len() + end], MAX_NAME_CHARS);
    }
    // `&'a mut dyn Sink` is about `Sink`.
    let mut name = name.trim_start();
    while let Some(rest) = name
        .strip_prefix('&')
        .or_else(|| name.strip_prefix("mut "))
        .or_else(|| name.strip_prefix("dyn "))
    {
        name = rest.trim_start();
        if let Some(lifetime) = name.strip_prefix('\'') {
            name = lifetime
                .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                .trim_start();
        }
    }
    // `(await load()).run` is about `run`.
    if name.contains(['(', ')'])
        && let Some((_, last)) = name.rsplit_once('.')
    {
        name = last;
    }
    let name = name.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '&' | '(' | ')' | ':')
    });
    let end = name
        .find(['<', '[', '(', '{'])
        .filter(|end| *end > 0)
        .unwrap_or(name.len());
    on_one_line(name[..end].trim_end(), MAX_NAME_CHARS).replace("::", ".")
}

/// A definition up to its body, without comments that stand in between.
pub(super) fn signature(text: &str) -> String {
    let is_comment = |line: &&str| {
        ["#", "//", "--"]
            .iter()
            .any(|mark| line.trim_start().starts_with(mark))
    };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let lines: Vec<&str> = [first]
        .into_iter()
        .chain(rest.lines().filter(|line| !is_comment(line)))
        .collect();
    on_one_line(&lines.join(" "), MAX_SIGNATURE_CHARS)
}

/// Text on one line, cut after so many characters.
fn on_one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 {
            line.push(' ');
        }
        length += word.chars().count() + 1;
        if length > longest {
            line.extend(
                word.chars()
                    .take(longest.saturating_sub(length - word.chars().count() - 1)),
            );
            return line + "…";
        }
        line.push_str(word);
    }
    line
}

/// What a comment says, without its marks and without attributes that stand among its lines.
pub(super) fn documentation(comment: &str) -> String {
    let lines = comment.lines().map(str::trim).filter(|line| {
        let is_attribute = line.starts_with("#[")
            || line.starts_with('@') && !line.starts_with("@doc")
            || line.starts_with('[');
        !is_attribute
    });
    let words: Vec<&str> = lines
        .map(|line| {
            let line = line
                .strip_prefix("@moduledoc")
                .or_else(|| line.strip_prefix("@doc"))
                .unwrap_or(line);
            line.trim_start_matches(|c: char| c.is_whitespace() || "/*!#-;%{|\"'~".contains(c))
                .trim_end_matches(|c: char| c.is_whitespace() || "*/-}\"'".contains(c))
        })
        .filter(|line| !line.is_empty())
        .collect();
    on_one_line(&words.join(" "), MAX_DOC_CHARS)
}
