//! Names, signatures and documentation of definitions as they are shown: on one line, of bounded length,
//! without the punctuation of the language.

const MAX_SIGNATURE_CHARS: usize = 300;
const MAX_NAME_CHARS: usize = 120;
const MAX_DOC_CHARS: usize = 1_000;
const MAX_DOC_LINE_CHARS: usize = 300;

/// A name without type parameters, pointers and quotes.
pub(super) fn clean_name(name: &str) -> String {
    if let Some(operator) = name.strip_prefix("operator") {
        // `operator()` is a whole name; `operator bool() const` is called `operator bool`.
        let mut angles = 0;
        let end = operator.char_indices().skip(1).find(|(_, c)| {
            angles += i32::from(*c == '<') - i32::from(*c == '>');
            *c == '(' && angles <= 0
        });
        let end = end.map_or(operator.len(), |(at, _)| at);
        return on_one_line(&name[.."operator".len() + end], MAX_NAME_CHARS);
    }
    // `&'a mut dyn Sink` names `Sink`.
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
    // `(await load()).run` names `run`.
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

/// The text of a definition up to its body, without comments.
pub(crate) fn clean_signature(text: &str) -> String {
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

/// A text on one line, cut after `max_chars` characters.
fn on_one_line(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 {
            line.push(' ');
        }
        length += word.chars().count() + 1;
        if length > max_chars {
            line.extend(
                word.chars()
                    .take(max_chars.saturating_sub(length - word.chars().count() - 1)),
            );
            return line + "…";
        }
        line.push_str(word);
    }
    line
}

/// The words of a documentation comment, without comment marks and without attributes between its lines.
pub(super) fn clean_doc(comment: &str) -> String {
    let words: Vec<&str> = doc_lines(comment).filter(|line| !line.is_empty()).collect();
    on_one_line(&words.join(" "), MAX_DOC_CHARS)
}

/// The first sentence of a documentation comment, or its first paragraph if that has no end of a sentence.
pub(crate) fn clean_doc_line(comment: &str) -> String {
    // Tags such as `@param` and `:returns:` describe parts of the definition.
    let is_tag = |line: &str| line.starts_with(['@', ':', '\\']);
    // `<summary>` alone on a line, of XML comments.
    let is_element = |line: &str| line.starts_with('<') && line.ends_with('>') && !line.contains(' ');
    let paragraph: Vec<&str> = doc_lines(comment)
        .filter(|line| !is_element(line))
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !is_tag(line))
        .collect();
    let paragraph = on_one_line(&paragraph.join(" "), MAX_DOC_LINE_CHARS);
    let end_of_sentence = paragraph.find(". ").map(|end| end + 1);
    // `e.g. this` ends no sentence.
    let is_abbreviation = |end: usize| {
        let before = &paragraph[..end];
        ["e.g.", "i.e.", "etc."].iter().any(|word| before.ends_with(word))
    };
    match end_of_sentence {
        Some(end) if !is_abbreviation(end) => paragraph[..end].to_owned(),
        _ => paragraph,
    }
}

/// The lines of a documentation comment without comment marks. Attributes between them are left out.
fn doc_lines(comment: &str) -> impl Iterator<Item = &str> {
    let lines = comment.lines().map(str::trim).filter(|line| {
        let is_attribute = line.starts_with("#[")
            || line.starts_with('@') && !line.starts_with("@doc")
            || line.starts_with('[');
        !is_attribute
    });
    lines.map(|line| {
        let line = line
            .strip_prefix("@moduledoc")
            .or_else(|| line.strip_prefix("@doc"))
            .unwrap_or(line);
        line.trim_start_matches(|c: char| c.is_whitespace() || "/*!#-;%{|\"'~".contains(c))
            .trim_end_matches(|c: char| c.is_whitespace() || "*/-}\"'".contains(c))
    })
}
