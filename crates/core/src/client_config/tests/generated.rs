//! Files made up at random, in all the ways they can be written, and texts that are no files at all.
//!
//! Comments that are not part of the entry say `keep`: none of them may get lost.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

const BLANKS: &[&str] = &["", "", " ", "  ", "\n", "\n  ", "\r\n\t", "\t", "\n\n"];
const COMMENTS: &[&str] = &[
    "/* keep */",
    " // keep\n",
    "\n  // keep, \"}\r\n",
    " /* keep\n */ ",
    "\n/* keep http://x */",
];
const JSON_VALUES: &[&str] = &[
    "{}",
    "null",
    "1.50",
    "-1e5",
    "[]",
    "\"a // b, }\"",
    "[\n\"\\ud83d\", 2 ]",
    "{ \"mcpServers\": {\"docent\": {}} }",
];
const JSON_ENTRIES: &[&str] = &[
    "{}",
    "5",
    "{\"command\":\"old\"}",
    "{ \"env\": {}, \"command\": {\"path\": \"x\"}, }",
    "{\n\"args\": [\n\"serve\" // own\n],\n\"x\": 1 }",
    "{\"args\":[\"serve\",\"-v\"],\"command\":\"docent\"}",
];

/// Members in braces, with something between all their parts. `line` stands before each member, and before
/// the closing brace.
fn object<'a>(
    members: &[(String, &str)],
    gaps: &mut impl Iterator<Item = &'a str>,
    line: &str,
    end: &str,
) -> String {
    let mut text = "{".to_owned();
    for (index, (key, value)) in members.iter().enumerate() {
        text += &format!("{}{line}", gaps.next().unwrap());
        let mut inside = [gaps.next(), gaps.next(), gaps.next()]
            .map(Option::unwrap)
            .map(str::to_owned);
        if key == "docent" {
            inside = inside.map(|gap| gap.replace("keep", "own"));
        }
        let [before, after, behind] = inside;
        let comma = if index + 1 < members.len() { "," } else { end };
        text += &format!("\"{key}\"{before}:{after}{value}{behind}{comma}");
    }
    text + &format!("{}{line}}}", gaps.next().unwrap())
}

/// How a file is written: whether it has comments, what is between its parts, what before each member, and
/// how members end.
fn layout() -> impl Strategy<Value = (bool, Vec<&'static str>, &'static str, &'static str)> {
    any::<bool>().prop_flat_map(|has_comments| {
        let choices = if has_comments {
            [BLANKS, COMMENTS].concat()
        } else {
            BLANKS.to_vec()
        };
        let gaps = prop_oneof![
            Just(vec![""]),
            Just(vec![" "]),
            prop::collection::vec(select(choices), 1..40)
        ];
        let ends: &[&str] = if has_comments { &["", ","] } else { &[""] };
        (
            Just(has_comments),
            gaps,
            select(&["", "\n  ", "\r\n\t"][..]),
            select(ends),
        )
    })
}

/// A JSON file, its form, and how many servers it has, if it has a key for them. With an entry, if there are
/// any to choose from.
fn json(entries: &'static [&'static str]) -> impl Strategy<Value = (String, FileFormat, Option<usize>)> {
    let members = |most| prop::collection::vec(select(JSON_VALUES), 0..most);
    let entry = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let servers = (proptest::option::of(members(3)), entry);
    (
        members(3),
        servers,
        members(3),
        layout(),
        select(&["", "\n", "\u{feff}"][..]),
    )
        .prop_map(
            move |(before, (servers, (which, place)), after, (has_comments, gaps, line, end), edge)| {
                let mut gaps = gaps.into_iter().cycle();
                let named = |name: &str, values: Vec<&'static str>| {
                    let name = name.to_owned();
                    values
                        .into_iter()
                        .enumerate()
                        .map(move |(n, value)| (format!("{name}{n}"), value))
                };
                let servers = if entries.is_empty() {
                    servers
                } else {
                    servers.or(Some(Vec::new()))
                };
                let servers = servers.map(|servers| {
                    let mut servers: Vec<_> = named("s", servers).collect();
                    if !entries.is_empty() {
                        let place = place.index(servers.len() + 1);
                        servers.insert(place, ("docent".to_owned(), entries[which.index(entries.len())]));
                    }
                    (servers.len(), object(&servers, &mut gaps, line, end))
                });
                let count = servers.as_ref().map(|(count, _)| *count);
                let servers = servers
                    .iter()
                    .map(|(_, text)| ("mcpServers".to_owned(), text.as_str()));
                let members: Vec<_> = named("a", before)
                    .chain(servers)
                    .chain(named("b", after))
                    .collect();
                let text = object(&members, &mut gaps, line, end);
                // Entries come with comments and commas of their own.
                let is_strict = !has_comments && entries.is_empty();
                let form = if is_strict {
                    FileFormat::Json
                } else {
                    FileFormat::Jsonc
                };
                let text = match edge {
                    "\n" => text + edge,
                    _ => edge.to_owned() + &text,
                };
                (text, form, count)
            },
        )
}

const FILLERS: &[&str] = &["", "", "# keep", "  # keep [x]"];
const TOML_LINES: &[&str] = &[
    "model = \"x\"",
    "a.b = 1979-05-27",
    "c = [ # keep\n  1,\n]",
    "d = { mcp_servers = 1 }",
];
const TOML_TABLES: &[&str] = &[
    "[tui]\nx = 1 # keep",
    "[ e . f ]\nmcp_servers.docent = 1",
    "[[g]]",
    "[[g]]\nx = \"\"\"\n[y]\n\"\"\"",
];
/// Servers before the first header, and servers in tables: in each file those of one row.
const TOML_SERVERS: &[(&[&str], &[&str])] = &[
    (&[], &[]),
    (&[], &["[mcp_servers]"]),
    (
        &[],
        &[
            "[mcp_servers.a]\ncommand = 'x'",
            "[mcp_servers.a.env]",
            "[mcp_servers.\"b.c\"]\nargs = [\n'y' ]",
        ],
    ),
    (&[], &["[mcp_servers]\na.command = 'x' # keep", "[mcp_servers.b]"]),
    (
        &[
            "mcp_servers.a.command = 'x'",
            "mcp_servers . b = { c = 1 } # keep",
        ],
        &[],
    ),
    (&["mcp_servers = { a = { b = [ 1 ], }, c.d = 1 } # keep"], &[]),
    (&["mcp_servers = {\n  a = { }, # keep\n}"], &[]),
];
const TOML_ENTRIES: &[(&[&str], &[&str])] = &[
    (
        &[],
        &[
            "[mcp_servers.docent]\ncommand = 'x' # own",
            "[mcp_servers.a]",
            "[mcp_servers.docent.env]\nA = '1'",
        ],
    ),
    (&[], &["[mcp_servers.docent.tools.x]\na = 1", "[mcp_servers]"]),
    (&[], &["[mcp_servers]\na = {}\ndocent.command = 'x'\nb = {}"]),
    (
        &[
            "mcp_servers.docent.args = [\n]",
            "mcp_servers.docent . env.A = '1'",
            "mcp_servers.a.b = 1",
        ],
        &[],
    ),
    (
        &["mcp_servers = { a = {}, docent = { command = 'x', }, } # keep"],
        &[],
    ),
    (&["mcp_servers = { docent.args = [], docent.x = 1 }"], &[]),
    (
        &["mcp_servers = {\n a = { }, # keep\n docent = { } # keep\n}"],
        &[],
    ),
];

/// A TOML file with servers of one of these rows.
fn toml(
    rows: &'static [(&'static [&'static str], &'static [&'static str])],
) -> impl Strategy<Value = String> {
    let fillers = prop::collection::vec(select(FILLERS), 1..9);
    let edges = (
        select(&["", "\u{feff}"][..]),
        select(&["\n", "\r\n"][..]),
        any::<bool>(),
    );
    (
        subsequence(TOML_LINES, 0..=4),
        subsequence(TOML_TABLES, 0..=4),
        select(rows),
        fillers,
        edges,
    )
        .prop_flat_map(
            |(mut lines, mut tables, (more_lines, more_tables), fillers, edges)| {
                lines.extend_from_slice(more_lines);
                tables.extend_from_slice(more_tables);
                (
                    Just(lines).prop_shuffle(),
                    Just(tables).prop_shuffle(),
                    Just(fillers),
                    Just(edges),
                )
            },
        )
        .prop_map(|(lines, tables, fillers, (mark, eol, is_ended))| {
            let mut fillers = fillers.into_iter().cycle();
            let mut text = String::new();
            for part in lines.iter().chain(&tables) {
                let filler = fillers.next().unwrap_or_default();
                text += &format!("{filler}\n{part}\n");
            }
            text += fillers.next().unwrap_or_default();
            let text = text.replace('\n', eol);
            format!("{mark}{text}{}", if is_ended { eol } else { "" })
        })
}

fn comments(text: &str) -> usize {
    text.matches("keep").count()
}

/// Puts an entry into a text without one, and takes it out again.
fn check_round_trip(text: &str, place: &EntryLocation, is_exact: bool) -> Result<(), TestCaseError> {
    prop_assert_eq!(find(text, place), Ok(None));
    let with = changed(put(text, place, &entry()));
    prop_assert_eq!(comments(&with), comments(text), "{}", with);
    prop_assert_eq!(find(&with, place), Ok(Some(entry())), "{}", with);
    prop_assert_eq!(put(&with, place, &entry()), Ok(None));
    prop_assert_eq!(changed(take_out(&with, place, Some(text))), text);
    let without = changed(take_out(&with, place, None));
    prop_assert_eq!(comments(&without), comments(text), "{}", without);
    prop_assert_eq!(find(&without, place), Ok(None));
    prop_assert!(!is_exact || without == text, "{}\n{}", with, without);
    Ok(())
}

/// Changes an entry, and takes it out.
fn check_entry(text: &str, place: &EntryLocation) -> Result<(), TestCaseError> {
    match put(text, place, &entry()) {
        Ok(Some(with)) => {
            prop_assert_eq!(comments(&with), comments(text), "{}", with);
            prop_assert_eq!(put(&with, place, &entry()), Ok(None), "{}", with);
        }
        Ok(None) | Err(EditRefused::WrongKind { .. }) => {}
        Err(other) => prop_assert!(false, "{}", other),
    }
    let without = changed(take_out(text, place, None));
    prop_assert_eq!(comments(&without), comments(text), "{}", without);
    prop_assert_eq!(find(&without, place), Ok(None));
    Ok(())
}

/// A file with one character changed.
fn damaged() -> impl Strategy<Value = String> {
    let files = prop_oneof![
        json(JSON_ENTRIES).prop_map(|(text, ..)| text),
        json(&[]).prop_map(|(text, ..)| text),
        toml(TOML_ENTRIES),
        toml(TOML_SERVERS),
    ];
    let new = select(
        &[
            "", "{", "}", "[", "]", "\"", ",", ":", "=", ".", "#", "//", "\n", "\r", "x", "\u{a0}", "é",
        ][..],
    );
    (files, any::<prop::sample::Index>(), new).prop_map(|(text, place, new)| {
        let place = place.index(text.chars().count() + 1);
        let head: String = text.chars().take(place).collect();
        let tail: String = text.chars().skip(place + 1).collect();
        head + new + &tail
    })
}

proptest! {
    #[test]
    fn json_comes_back_as_it_was((text, form, servers) in json(&[])) {
        let place = EntryLocation { form, ..JSON };
        check_round_trip(&text, &place, servers.is_some_and(|servers| servers > 0))?;
    }

    #[test]
    fn an_entry_in_json_is_changed_and_taken_out((text, form, _) in json(JSON_ENTRIES)) {
        check_entry(&text, &EntryLocation { form, ..JSON })?;
    }

    #[test]
    fn toml_comes_back_as_it_was(text in toml(TOML_SERVERS)) {
        check_round_trip(&text, &TOML, !text.trim_matches('\u{feff}').trim().is_empty())?;
    }

    #[test]
    fn an_entry_in_toml_is_changed_and_taken_out(text in toml(TOML_ENTRIES)) {
        check_entry(&text, &TOML)?;
    }

    #[test]
    fn no_text_is_too_much(
        text in prop_oneof![
            any::<String>(),
            damaged(),
            r#"[{}\[\]",:/*#=.\\ \t\r\na1-]{0,40}"#,
            r#"(\{|\}|\[|\]|,|:|"docent"|"mcpServers"|mcp_servers|docent|=|\.|\n|\r| |//|/\*|\*/|#|'|1|\{\}|\u{feff}|é){0,20}"#,
        ],
        before in any::<String>(),
    ) {
        for place in [JSON, JSONC, TOML] {
            let found = find(&text, &place);
            let put = put(&text, &place, &entry());
            prop_assert_ne!(&put, &Err(EditRefused::Unproven));
            prop_assert_ne!(take_out(&text, &place, Some(&before)), Err(EditRefused::Unproven));
            if let (Ok(None), Ok(_)) = (found, &put) {
                check_round_trip(&text, &place, false)?;
            }
        }
    }

    #[test]
    fn any_value_is_written_so_that_it_is_read_again(
        texts in prop::collection::vec(any::<String>(), 1..4),
        name in "\\PC{0,5}|[a-z]|\u{7f}|\n",
        flag in any::<bool>(),
    ) {
        let entry: Entry = vec![
            (texts[0].clone(), Value::Text(texts[0].clone())),
            (format!("{}2", texts[0]), Value::List(texts.clone())),
            (format!("{}3", texts[0]), Value::Flag(flag)),
        ];
        for place in [JSON, JSONC, TOML] {
            let place = EntryLocation { name: &name, ..place };
            let with = changed(put("", &place, &entry));
            prop_assert_eq!(find(&with, &place), Ok(Some(entry.clone())));
        }
    }
}
