//! `hello`: the example of its contract, its arguments and its rate limit.

use docent_testkit::Era;
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

#[test]
fn example_greets_by_name() {
    assert_snapshot!(
        sandbox().call("hello", json!({ "name": "Learner" })),
        @r#"{"message":"Hello, Learner!","timestamp":"2026-01-09T10:30:00Z"}"#
    );
}

#[test]
fn the_name_defaults_to_world() {
    assert_snapshot!(
        sandbox().call("hello", json!({})),
        @r#"{"message":"Hello, World!","timestamp":"2026-01-09T10:30:00Z"}"#
    );
    assert_snapshot!(
        sandbox().call("hello", json!({ "name": null })),
        @r#"{"message":"Hello, World!","timestamp":"2026-01-09T10:30:00Z"}"#
    );
}

#[test]
fn invalid_parameters_are_400() {
    assert_snapshot!(
        sandbox().call("hello", json!({ "name": 5 })),
        @r#"[isError] {"error":"name must be a string","code":400}"#
    );
}

#[test]
fn unknown_arguments_are_ignored() {
    assert_snapshot!(
        sandbox().call("hello", json!({ "nom": "x" })),
        @r#"{"message":"Hello, World!","timestamp":"2026-01-09T10:30:00Z"}"#
    );
}

#[test]
fn the_rate_limit_is_100_calls_a_minute_and_more_is_429() {
    let sandbox = sandbox();
    let client = sandbox.start_client(Era::Handshake);
    for _ in 0..100 {
        assert!(!client.call("hello", json!({})).is_error);
    }
    let answer = client.call("hello", json!({})).json();
    assert_eq!(answer["code"], 429);
    assert!(
        answer["error"]
            .as_str()
            .unwrap()
            .starts_with("Rate limit exceeded for hello. Try again in "),
        "{answer}"
    );
    // Each client has its own limit.
    let other = sandbox.start_client(Era::Handshake);
    assert!(!other.call("hello", json!({})).is_error);
}

#[test]
fn the_rate_limit_is_configurable() {
    let sandbox = sandbox().file(".context/config.toml", "limit.hello = 1");
    let client = sandbox.start_client(Era::Stateless);
    assert!(!client.call("hello", json!({})).is_error);
    assert!(client.call("hello", json!({})).is_error);
}
