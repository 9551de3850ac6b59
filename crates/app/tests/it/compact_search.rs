//! `context_search` in compact form: what is listed, which lines are shown, and within which size.

use docent_testkit::{Era, Sandbox};
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

const QUEUE: &str = "\
import time


class Queue:
    def __init__(self, broker):
        self.broker = broker

    def declare_exchange(self, name):
        return self.broker.declare(name)

    def retry_delivery(self, message, delay):
        if message.expired:
            self.drop(message)
            return None
        time.sleep(delay)
        return self.broker.publish(message)

    def drop(self, message):
        self.broker.reject(message)

    def purge(self):
        for message in self.broker.pending():
            self.drop(message)

    def close(self):
        self.purge()
        self.broker.close()

    def __repr__(self):
        return f'Queue({self.broker})'
";

fn project() -> Sandbox {
    sandbox()
        .file("src/queue.py", QUEUE)
        .file(
            "src/delay.py",
            "def delay_of_retry(attempt):\n    \"\"\"Doubles the delay with each attempt.\"\"\"\n    return 2 ** attempt\n",
        )
        .file("docs/delivery.md", "# Delivery\n\nA message is retried after a delay.\n")
        .file(
            "AGENTS.md",
            "# Rules\n\n- Always retry a delivery at most five times.\n",
        )
}

#[test]
fn the_best_result_has_its_code_and_others_their_lines() {
    let answer = project()
        .compact()
        .call("context_search", json!({ "query": "retry delivery delay" }));
    assert_snapshot!(answer, @r#"
    src/delay.py:1-3 function delay_of_retry 0.71
    1	def delay_of_retry(attempt):
    	    """Doubles the delay with each attempt."""
    	    return 2 ** attempt

    docs/delivery.md:1-3 block Delivery 0.50
    1: # Delivery
    3: A message is retried after a delay.

    AGENTS.md:3-3 rule guide 2026-01-09 0.40
    Always retry a delivery at most five times.

    src/queue.py:4-30 class Queue 0.21
    4	class Queue:
    5	    def __init__(self, broker):
    	        self.broker = broker
    	
    	    def declare_exchange(self, name):
    	        return self.broker.declare(name)
    10	
    	    def retry_delivery(self, message, delay):
    	        if message.expired:
    	            self.drop(message)
    	            return None
    15	        time.sleep(delay)
    	        return self.broker.publish(message)
    	
    	    def drop(self, message):
    	        self.broker.reject(message)
    20	
    	    def purge(self):
    	        for message in self.broker.pending():
    	            self.drop(message)
    	
    25	    def close(self):
    	        self.purge()
    	        self.broker.close()
    	
    	    def __repr__(self):
    30	        return f'Queue({self.broker})'
    "#);
}

#[test]
fn further_functions_of_a_file_take_one_line() {
    let body = "    value = 1\n".repeat(40);
    let sandbox = sandbox().compact().file(
        "src/tokens.py",
        format!("def parse_token(text):\n{body}\n\ndef render_token(token):\n{body}\n\ndef drop_token(token):\n{body}"),
    );
    assert_snapshot!(sandbox.call("context_search", json!({ "query": "parse token", "maxChars": 600 })), @"
    src/tokens.py:1-41 function parse_token 0.72
    1	def parse_token(text):
    	    value = 1
    	    value = 1
    	    value = 1
    5	    value = 1
    	    value = 1
    	    value = 1
    	    value = 1
    	    value = 1
    10	    value = 1
    	    value = 1
    	    value = 1
    	    value = 1
    	    value = 1
    15	    value = 1
    	    value = 1
    	    value = 1
    … 2 lines 18-19
    20	    value = 1
    … 6 lines 21-26
    27	    value = 1
    … 6 lines 28-33
    34	    value = 1
    … 6 lines 35-40
    41	    value = 1
    87-127: def drop_token(token):
    44-84: def render_token(token):
    ");
}

#[test]
fn a_part_of_a_function_shows_its_head_and_the_range_of_the_whole() {
    let steps: Vec<String> = (0..300).map(|step| format!("    step_{step}()")).collect();
    let steps = steps.join("\n") + "\n";
    let sandbox = sandbox().compact().file(
        "src/long.py",
        format!("def run_everything(job):\n{steps}    finish_walrus(job)\n"),
    );
    let answer = sandbox.call(
        "context_search",
        json!({ "query": "finish walrus", "maxChars": 500 }),
    );
    assert_snapshot!(answer, @"
    src/long.py:241-302 function run_everything part 3 of 3 of 1-302 0.68
    1: def run_everything(job):
    241	    step_239()
    	    step_240()
    	    step_241()
    	    step_242()
    245	    step_243()
    	    step_244()
    	    step_245()
    	    step_246()
    	    step_247()
    250	    step_248()
    	    step_249()
    	    step_250()
    	    step_251()
    … 45 lines 254-298
    299	    step_297()
    300	    step_298()
    	    step_299()
    	    finish_walrus(job)
    ");
}

#[test]
fn explain_adds_the_ranking() {
    let sandbox = project().compact();
    let client = sandbox.start_client(Era::Handshake);
    client.call("read_file", json!({ "path": "src/delay.py" }));
    let answer = client.call(
        "context_search",
        json!({ "query": "delay of retry", "limit": 2, "explain": true, "chunkType": ["function"] }),
    );
    assert_snapshot!(answer, @r#"
    src/delay.py:1-3 function delay_of_retry 1.42
    semantic 0.72 × recency 1.50 × module 1.30 × frequency 1.01 = 1.42
    1	def delay_of_retry(attempt):
    	    """Doubles the delay with each attempt."""
    	    return 2 ** attempt
    "#);
}

#[test]
fn a_path_limits_results_in_both_forms() {
    let sandbox = project();
    for (path, expected) in [
        ("docs", "docs/delivery.md"),
        ("src/*.py", "src/queue.py"),
        ("src/queue.py", "src/queue.py"),
    ] {
        let arguments = json!({ "query": "retry delivery", "path": path });
        let answer = sandbox.call("context_search", arguments);
        assert!(answer.text.contains(expected), "{path}: {answer}");
        let others = ["docs/delivery.md", "src/queue.py", "AGENTS.md"];
        let others = others.iter().filter(|other| **other != expected);
        assert!(
            others.clone().all(|other| !answer.text.contains(other)),
            "{path}: {answer}"
        );
    }
    let compact = project().compact();
    let answer = compact.call(
        "context_search",
        json!({ "query": "retry delivery", "path": "lib" }),
    );
    assert_snapshot!(answer, @"Nothing matches with path 'lib'; search again without");
    let answer = compact.call(
        "context_search",
        json!({ "query": "retry delivery", "path": "src/[" }),
    );
    assert_snapshot!(answer, @"[isError] Error: path is not a valid glob (unclosed character class; missing ']')");
}

#[test]
fn an_answer_has_at_most_the_characters_asked_for() {
    let mut sandbox = sandbox().compact();
    for number in 0..30 {
        let body = "    token = 'a line of a long function'\n".repeat(20);
        sandbox = sandbox.file(
            &format!("src/m{number}/tokens.py"),
            format!("def token_table():\n{body}"),
        );
    }
    let client = sandbox.start_client(Era::Handshake);
    for most in [500, 1_000, 4_000, 12_000] {
        let answer = client.call(
            "context_search",
            json!({ "query": "token table", "maxChars": most }),
        );
        let length = answer.text.chars().count();
        assert!(length <= most, "{most}: {length}");
        assert!(length > most * 3 / 5, "{most}: {length}");
    }
    let answer = client.call("context_search", json!({ "query": "token table" }));
    assert!(answer.text.chars().count() <= 2_200, "{answer}");
    assert!(answer.text.contains("maxChars shows more"), "{answer}");
}

#[test]
fn max_chars_caps_the_contract_form() {
    let sandbox = project();
    for format in ["markdown", "json"] {
        let arguments = json!({ "query": "retry delivery delay", "format": format, "maxChars": 1_500 });
        let answer = sandbox.call("context_search", arguments);
        assert!(answer.text.chars().count() <= 1_500, "{answer}");
    }
}

#[test]
fn no_result_names_the_ground() {
    let sandbox = project().compact();
    assert_snapshot!(sandbox.call("context_search", json!({ "query": "zzyzx quuxly" })), @"No match for any of these words. Use grep_codebase to search inside words");
    assert_snapshot!(sandbox.call("context_search", json!({ "query": "" })), @"[isError] Error: query must have at least 1 character");
}

#[test]
fn invisible_characters_are_shown() {
    let sandbox = sandbox()
        .compact()
        .file("evil.py", "def token():\n    return '\u{202e}hidden'\n");
    let answer = sandbox.call("context_search", json!({ "query": "token hidden" }));
    assert_snapshot!(answer, @r#"
    evil.py:1-2 function token 0.69
    1	def token():
    	    return '\u{202E}hidden'
    "#);
}

#[test]
fn a_file_that_was_just_read_does_not_pass_a_better_answer() {
    let sandbox = sandbox()
        .file(
            "src/retry.py",
            "def retry_delivery(message):\n    return publish(message)\n",
        )
        .file(
            "src/other.py",
            "def close(message):\n    # no delivery\n    return message\n",
        );
    for _ in 0..9 {
        sandbox.run(&["call", "read_file", r#"{"path":"src/other.py"}"#]);
    }
    let answer = sandbox
        .call(
            "context_search",
            json!({ "query": "retry delivery", "format": "json" }),
        )
        .json();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0]["path"], "src/retry.py");
    assert_eq!(results[1]["path"], "src/other.py");
    let score = |at: usize| results[at]["score"].as_f64().unwrap();
    assert!(score(0) >= score(1), "{answer}");
    let ranking = &results[1]["ranking"];
    let number = |name: &str| ranking[name].as_f64().unwrap();
    let product = number("semantic") * number("recency") * number("module") * number("frequency");
    assert!((product - number("final")).abs() < 1e-3, "{ranking}");
    assert!(number("recency") <= 1.5, "{ranking}");
}
