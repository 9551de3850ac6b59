//! TOML.

use super::*;

const ENTRY: &str = "[mcp_servers.docent]\ncommand = \"docent\"\nargs = [\"serve\", \"-v\"]";

#[test]
fn a_new_table_comes_after_the_last_of_its_kind() {
    check_exact("model = 1\n", &TOML, &format!("model = 1\n\n{ENTRY}\n"));
    check_exact(
        "\u{feff}# c\r\na = 1979-05-27T07:32:00Z",
        &TOML,
        &format!(
            "\u{feff}# c\r\na = 1979-05-27T07:32:00Z\r\n\r\n{}",
            ENTRY.replace('\n', "\r\n")
        ),
    );
    check_exact("# only this", &TOML, &format!("# only this\n\n{ENTRY}"));
    check_exact("\n# a\n\n# b\n\n", &TOML, &format!("\n# a\n\n# b\n\n{ENTRY}\n\n"));
    check_exact(
        "[mcp_servers.\"a.b\"] # x\nargs = [ # y\n  \"]\", # z\n]  # w\n# timeout = 5\n\n# about the screen\n[tui]\na = nan\n",
        &TOML,
        &format!(
            "[mcp_servers.\"a.b\"] # x\nargs = [ # y\n  \"]\", # z\n]  # w\n# timeout = 5\n\n{ENTRY}\n\n# about the screen\n[tui]\na = nan\n"
        ),
    );
    check_exact(
        "[mcp_servers]\n# about the screen\n[tui]\n",
        &TOML,
        &format!("[mcp_servers]\n\n{ENTRY}\n# about the screen\n[tui]\n"),
    );
    check_exact(
        "[mcp_servers]\nnotes.command = \"x\"\n[[list]]\n[[list]]\n",
        &TOML,
        &format!("[mcp_servers]\nnotes.command = \"x\"\n\n{ENTRY}\n[[list]]\n[[list]]\n"),
    );
}

#[test]
fn a_text_without_content_becomes_a_file() {
    for blank in ["", " ", "\n\n"] {
        check_new(blank, &TOML, &format!("{ENTRY}\n"));
    }
    check_exact("", &TOML, &format!("{ENTRY}\n"));
}

#[test]
fn inline_tables_and_dotted_keys_are_followed() {
    check_exact(
        "mcp_servers = { notes = { command = \"n\" } } # c\n[tui]\n",
        &TOML,
        "mcp_servers = { notes = { command = \"n\" }, docent = { command = \"docent\", args = [\"serve\", \"-v\"] } } # c\n[tui]\n",
    );
    check_exact(
        "mcp_servers = {}\n",
        &TOML,
        "mcp_servers = { docent = { command = \"docent\", args = [\"serve\", \"-v\"] } }\n",
    );
    check_exact(
        "mcp_servers = {\n  a.command = \"x\", # c\n}\n",
        &TOML,
        "mcp_servers = {\n  a.command = \"x\", docent = { command = \"docent\", args = [\"serve\", \"-v\"] }, # c\n}\n",
    );
    check_exact(
        "  mcp_servers . notes.command = \"n\" # c\nmodel = 1\n\n[tui]\n",
        &TOML,
        "  mcp_servers . notes.command = \"n\" # c\n  mcp_servers.docent.command = \"docent\"\n  mcp_servers.docent.args = [\"serve\", \"-v\"]\nmodel = 1\n\n[tui]\n",
    );
    let deep = EntryLocation {
        keys: &["a", "b"],
        name: "my server",
        ..TOML
    };
    check_exact(
        "a = { c = 1 }",
        &deep,
        "a = { c = 1, b.\"my server\" = { command = \"docent\", args = [\"serve\", \"-v\"] } }",
    );
    check_exact(
        "[a]\nb.x.y = 1\n[b]\n",
        &deep,
        "[a]\nb.x.y = 1\nb.\"my server\".command = \"docent\"\nb.\"my server\".args = [\"serve\", \"-v\"]\n[b]\n",
    );
    check_exact(
        "[a]\n",
        &deep,
        &format!(
            "[a]\n\n{}\n",
            ENTRY.replace("mcp_servers.docent", "a.b.\"my server\"")
        ),
    );
}

#[test]
fn only_fields_that_differ_are_changed() {
    check_update(
        "[mcp_servers.docent] # by hand\ncommand = '/old/docent' # old\nargs = [\n  \"serve\", # c\n] # d\nenabled = false\n\n[mcp_servers.docent.env]\nA = \"1\"\n",
        &TOML,
        "[mcp_servers.docent] # by hand\ncommand = \"docent\" # old\nargs = [\"serve\", \"-v\"] # d\nenabled = false\n\n[mcp_servers.docent.env]\nA = \"1\"\n",
    );
    check_update(
        "[mcp_servers.docent]\r\n\tcommand = { path = \"x\" }\r\n\tenabled = true # c\r\n\r\n[tui]",
        &TOML,
        "[mcp_servers.docent]\r\n\tcommand = \"docent\"\r\n\tenabled = true # c\r\n\targs = [\"serve\", \"-v\"]\r\n\r\n[tui]",
    );
    check_update("[mcp_servers.docent]", &TOML, ENTRY);
    check_update(
        "[mcp_servers.docent.env]\nA = \"1\"\n\n[tui]\n",
        &TOML,
        &format!("[mcp_servers.docent.env]\nA = \"1\"\n\n{ENTRY}\n\n[tui]\n"),
    );
    check_update(
        "mcp_servers.\"docent\".command = \"x\"\nmodel = 1\n",
        &TOML,
        "mcp_servers.\"docent\".command = \"docent\"\nmcp_servers.\"docent\".args = [\"serve\", \"-v\"]\nmodel = 1\n",
    );
    check_update(
        "[mcp_servers]\ndocent = { command = \"docent\", timeout = 5 }\n",
        &TOML,
        "[mcp_servers]\ndocent = { command = \"docent\", timeout = 5, args = [\"serve\", \"-v\"] }\n",
    );
    check_update(
        "mcp_servers = { docent.command = \"docent\" }\n",
        &TOML,
        "mcp_servers = { docent.command = \"docent\", docent.args = [\"serve\", \"-v\"] }\n",
    );
    let same = "mcp_servers.docent = { args = [\"\"\"serve\"\"\", '-v'], command = \"docen\\u0074\" }";
    assert_eq!(put(same, &TOML, &entry()), Ok(None));
}

#[test]
fn an_entry_goes_with_its_tables_and_comments_of_others_stay() {
    check_taken_out(
        "a = 1\n\n# above\n[mcp_servers.docent]\n# inside\ncommand = \"x\" # beside\n\n[mcp_servers.docent.env]\nA = \"1\"\n[[mcp_servers.docent.rules]]\nB = 2\n# of the next\n[tui]\n",
        &TOML,
        "a = 1\n\n# above\n# of the next\n[tui]\n",
    );
    check_taken_out(
        "[mcp_servers.docent]\ncommand = \"x\"\n\n[tui]\nb = 1\n\n[mcp_servers.docent.env]\n\n\n[z]\n",
        &TOML,
        "[tui]\nb = 1\n\n\n[z]\n",
    );
    check_taken_out(
        "mcp_servers.docent.command = \"x\"\nmcp_servers.a.b = 1\nmcp_servers.docent.args = [\n]\n",
        &TOML,
        "mcp_servers.a.b = 1\n",
    );
    check_taken_out(
        "mcp_servers = { docent.a = 1, notes = {}, docent.b = 2 }\n",
        &TOML,
        "mcp_servers = { notes = {} }\n",
    );
    check_taken_out("[mcp_servers]\ndocent = 5\n", &TOML, "[mcp_servers]\n");
}

#[test]
fn what_is_not_toml_or_in_the_way_is_refused_with_its_place() {
    check_refused(
        "a = 1\né = 2",
        &TOML,
        "line 2, column 1: invalid unquoted key, expected letters, numbers, `-`, `_`",
    );
    check_refused("a = 1\na = 2\n", &TOML, "line 2, column 1: duplicate key");
    check_refused("[a]\n[a]\n", &TOML, "line 2, column 2: duplicate key");
    check_refused(
        "mcp_servers = 5",
        &TOML,
        "line 1, column 15: \"mcp_servers\" is not a table",
    );
    check_refused(
        "\n[[mcp_servers]]",
        &TOML,
        "line 2, column 1: \"mcp_servers\" is not a table",
    );
    let text = "[mcp_servers.docent.command]\npath = \"x\"\n";
    let refused = put(text, &TOML, &entry()).unwrap_err().to_string();
    assert_eq!(
        refused,
        "line 1, column 1: \"mcp_servers.docent.command\" is not a value"
    );
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(
        put(&deep, &TOML, &entry()),
        Err(EditRefused::Syntax { .. })
    ));
}
