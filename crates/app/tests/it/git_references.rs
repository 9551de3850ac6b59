//! Abbreviated commit ids: too few digits could be tried one after the other.

use docent_testkit::JOHN;
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

#[test]
fn an_abbreviated_id_needs_seven_digits() {
    let sandbox = sandbox().repository().file("f.txt", "a\n");
    sandbox.commit("2025-10-09", JOHN, "one");
    let first = sandbox.git(&["rev-parse", "HEAD"]);
    sandbox.write("f.txt", "a\nb\n");
    sandbox.commit("2025-10-10", JOHN, "two");
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let diff = |reference: &str| sandbox.call("git_diff", json!({ "ref1": reference, "ref2": "HEAD" }));
    assert_snapshot!(diff(&first[..6]), @"
    [isError] Error: NotFoundError

    Details: Invalid git reference: bd669e

    Suggestion: An abbreviated commit id needs at least 7 digits; no branch or tag has this name
    ");
    for short in [&first[..4], &first[..6].to_uppercase()] {
        for reference in [
            short.to_owned(),
            format!("{short}^{{commit}}"),
            format!("{short}^0"),
            format!("{short}~0"),
            format!("{short}^{{/one}}"),
            format!("v1-3-g{short}"),
            format!("v1-3-g{short}~0"),
            format!("-g{short}").replacen('-', "x-", 1),
            format!("HEAD~0-g{short}"),
            format!("x:-g{short}"),
            format!("x@{{-g{short}"),
            format!(":/x-g{short}"),
            format!("{short}..{head}"),
            format!("{short}...HEAD"),
            format!("^{short}"),
        ] {
            assert!(diff(&reference).is_error, "{reference}");
            for bound in ["since", "until"] {
                let log = sandbox.call("git_log", json!({ bound: reference }));
                assert!(log.is_error, "{bound} {reference}: {log}");
            }
        }
    }
    for reference in [
        first[..7].to_owned(),
        format!("{}~0", &first[..7]),
        format!("v1-3-g{}", &first[..7]),
        first.clone(),
    ] {
        let answer = diff(&reference);
        assert!(answer.text.contains("\n+b\n"), "{reference}: {answer}");
    }
    // Names of branches and tags may look like ids.
    sandbox.git(&["branch", "dead", &first]);
    sandbox.git(&["tag", "beef", &first]);
    sandbox.git(&["tag", "v1-2-gbeef", &first]);
    sandbox.git(&["update-ref", "refs/remotes/cafe/main", &first]);
    sandbox.git(&["symbolic-ref", "refs/remotes/cafe/HEAD", "refs/remotes/cafe/main"]);
    for reference in [
        "dead",
        "beef",
        "beef^{commit}",
        "dead~0",
        "v1-2-gbeef",
        "heads/dead",
        "cafe",
    ] {
        let answer = diff(reference);
        assert!(answer.text.contains("\n+b\n"), "{reference}: {answer}");
        let log = sandbox.call("git_log", json!({ "until": reference }));
        assert_eq!(crate::subjects(&log), ["one"], "{reference}");
    }
}
