//! `grep_codebase` in the compact form: each file once, matches below their definition, whole short
//! functions, and the new arguments.

use docent_testkit::Sandbox;
use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox;

const QUEUE: &str = "\
class Queue:
    def declare(self, name):
        return self.broker.declare(name)

    def retry(self, message, delay):
        if message.expired:
            return None
        return self.broker.publish(message)


def purge(queue):
    queue.close()
";

fn project() -> Sandbox {
    sandbox()
        .file("src/queue.py", QUEUE)
        .file(
            "tests/test_queue.py",
            "def test_retry():\n    Queue().retry(message, 1)\n",
        )
        .file("CHANGELOG.md", "# Changes\n\n- A message has a delay.\n")
}

#[test]
fn few_short_functions_are_shown_whole() {
    let answer = project().compact().call(
        "grep_codebase",
        json!({ "pattern": "message\\.expired|queue\\.close" }),
    );
    assert_snapshot!(answer, @"
    2 matches in 1 file
    src/queue.py
    5-8 Queue.retry
    5	    def retry(self, message, delay):
    6	        if message.expired:
    	            return None
    	        return self.broker.publish(message)
    11-12 purge
    11	def purge(queue):
    12	    queue.close()
    ");
}

#[test]
fn lines_asked_for_around_a_match_extend_beyond_its_function() {
    let answer = project().compact().call(
        "grep_codebase",
        json!({ "pattern": "def purge", "contextLines": 3 }),
    );
    assert_snapshot!(answer, @"
    1 match in 1 file
    src/queue.py
    11-12 purge
    8	        return self.broker.publish(message)
    	
    10	
    11	def purge(queue):
    	    queue.close()
    ");
}

#[test]
fn code_comes_before_tests_and_prose() {
    let answer = project()
        .compact()
        .call("grep_codebase", json!({ "pattern": "message" }));
    assert_snapshot!(answer, @"
    5 matches in 3 files
    src/queue.py
    5-8 Queue.retry
    5	    def retry(self, message, delay):
    6	        if message.expired:
    	            return None
    8	        return self.broker.publish(message)
    tests/test_queue.py
    1-2 test_retry
    1	def test_retry():
    2	    Queue().retry(message, 1)
    CHANGELOG.md
    1	# Changes
    	
    3	- A message has a delay.
    ");
}

#[test]
fn matches_that_do_not_fit_are_counted_by_file() {
    let line = "    value = compute_the_next_value_of_the_series(value)\n";
    let mut sandbox = sandbox();
    for number in 0..30 {
        let text = format!("def step_{number}(value):\n{}", line.repeat(40));
        sandbox = sandbox.file(&format!("src/step_{number:02}.py"), text);
    }
    let answer = sandbox
        .compact()
        .call("grep_codebase", json!({ "pattern": "compute" }));
    assert!(answer.text.starts_with("1,200 matches in 30 files\n"), "{answer}");
    assert!(answer.text.contains("… "), "{answer}");
    assert!(answer.text.len() < 2_500, "{answer}");
}

#[test]
fn paths_and_kinds_select_files() {
    let client = project().compact();
    assert_snapshot!(client.call("grep_codebase", json!({ "pattern": "retry", "kinds": ["tests"] })), @"
    2 matches in 1 file
    tests/test_queue.py
    1-2 test_retry
    1	def test_retry():
    2	    Queue().retry(message, 1)
    ");
    assert_snapshot!(client.call("grep_codebase", json!({ "pattern": "message", "paths": ["*.md"] })), @"
    1 match in 1 file
    CHANGELOG.md
    1	# Changes
    	
    3	- A message has a delay.
    ");
}

#[test]
fn files_and_counts_can_be_listed_alone() {
    let client = project().compact();
    assert_snapshot!(client.call("grep_codebase", json!({ "pattern": "message", "output": "files" })), @"
    5 matches in 3 files
    src/queue.py
    tests/test_queue.py
    CHANGELOG.md
    ");
    assert_snapshot!(client.call("grep_codebase", json!({ "pattern": "message", "output": "counts" })), @"
    5 matches in 3 files
    src/queue.py 3
    tests/test_queue.py 1
    CHANGELOG.md 1
    ");
}

#[test]
fn no_match_says_how_many_files_were_searched() {
    assert_snapshot!(
        project().compact().call("grep_codebase", json!({ "pattern": "walrus" })), @"no match for walrus in 3 files");
}
