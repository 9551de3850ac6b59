//! A model on a server: it has a say in the order, its vectors are paid for once, and searches go on whatever it does.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use docent_testkit::{EmbeddingServer, Era, MAX_WAIT, Mood, Sandbox, StdioClient};
use serde_json::{Value, json};

use crate::index::status;
use crate::sandbox;

const BOAT: &str = "def launch(engine):\n    # start the engine of the boat, start it twice\n    engine.start()\n    engine.start()\n";
const AUTO: &str =
    "def drive(engine):\n    # an automobile has an engine, as an automobile should\n    engine.start()\n";

/// A project of two functions and two pages, and a server for its user.
fn project(server: &EmbeddingServer) -> Sandbox {
    let sandbox = sandbox()
        .file("src/auto.py", AUTO)
        .file("src/boat.py", BOAT)
        .file("docs/auto.md", "# Automobile\n\nHow to get it going.\n")
        .file("docs/boat.md", "# Boat\n\nHow to start the boat.\n");
    set(&sandbox, &format!("url = \"{}\"", server.url()));
    sandbox
}

/// Sets what the user has to say about the server.
fn set(sandbox: &Sandbox, settings: &str) {
    let file = sandbox
        .root()
        .with_file_name("home")
        .join("config/docent/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(
        file,
        format!("[embedder]\nmodel = \"counting-words\"\n{settings}\n"),
    )
    .unwrap();
}

fn search(sandbox: &Sandbox, query: &str) -> Value {
    let arguments = json!({ "query": query, "format": "json" }).to_string();
    let finished = sandbox.run(&["call", "context_search", &arguments]);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

/// The same of a server.
fn asked(client: &StdioClient, query: &str) -> Value {
    let arguments = json!({ "query": query, "format": "json" });
    client.call("context_search", arguments).json()
}

/// The file of the first result.
fn first(answer: &Value) -> &str {
    answer["results"][0]["path"].as_str().unwrap_or_default()
}

fn notice(answer: &Value) -> &str {
    answer["notice"].as_str().unwrap_or_default()
}

fn index(sandbox: &Sandbox) -> (i32, String) {
    let finished = sandbox.run(&["index"]);
    (finished.code, finished.stderr)
}

/// Everything was embedded once, and nothing twice.
fn assert_paid_once(server: &EmbeddingServer, texts: usize) {
    let mut heard = server.texts();
    // What is asked for to see whether it works.
    heard.remove("docent");
    assert_eq!(heard.len(), texts, "{:?}", heard.keys());
    assert!(heard.values().all(|times| *times == 1), "{heard:?}");
}

/// Texts of `project`: each of its pages is searched as code too.
const TEXTS: usize = 6;

#[test]
fn the_embedding_server_changes_the_order_of_results() {
    let server = EmbeddingServer::start();
    server.equate(["automobile", "car"]);
    let sandbox = project(&server);
    let question = "the engine of a car";
    set(&sandbox, "");
    assert_eq!(first(&search(&sandbox, question)), "src/boat.py");
    let docs = |query: &str| {
        sandbox
            .run(&["call", "search_docs", &json!({ "query": query }).to_string()])
            .stdout
    };
    let pages = |text: &str| serde_json::from_str::<Value>(text).unwrap()["hits"][0]["filepath"].clone();
    assert_eq!(pages(&docs("how to start the car")), "docs/boat.md");

    set(&sandbox, &format!("url = \"{}\"", server.url()));
    let (code, said) = index(&sandbox);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("counting-words has given 6 vectors"), "{said}");
    assert_paid_once(&server, TEXTS);
    let answer = search(&sandbox, question);
    assert_eq!((first(&answer), notice(&answer)), ("src/auto.py", ""));
    assert_eq!(pages(&docs("how to get the car going")), "docs/auto.md");
    // Who names something is shown what is called so, without the server.
    let requests = server.requests();
    assert_eq!(first(&search(&sandbox, "launch")), "src/boat.py");
    assert_eq!(server.requests(), requests);
}

#[test]
fn no_text_is_embedded_twice() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    set(&sandbox, &format!("url = \"{}\"\nbatch = 1", server.url()));
    server.be(Mood::Slow(50));
    // Three at once, of which one is killed while it waits: what was under way for it is lost, and no more.
    let mut killed = sandbox.docent().arg("index").spawn().unwrap();
    server.wait_until("a first text", |texts| !texts.is_empty());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let others = [0, 1].map(|_| sandbox.docent().arg("index").spawn().unwrap());
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let heard = server.texts();
    assert_eq!(heard.len(), TEXTS);
    assert!(heard.values().sum::<usize>() <= TEXTS + 4, "{heard:?}");
    let before = heard.values().sum::<usize>();
    // The same question, the index thrown away, another folder of the same project: all of it is known.
    search(&sandbox, "start the engine of the boat");
    search(&sandbox, "start the engine of the boat");
    assert_eq!(sandbox.run(&["clear"]).code, 0);
    let copy = sandbox.outside().join("copy");
    fs::create_dir_all(copy.join("src")).unwrap();
    fs::write(copy.join("src/boat.py"), BOAT).unwrap();
    let elsewhere = sandbox.run(&["--root", copy.to_str().unwrap(), "index"]);
    assert_eq!(elsewhere.code, 0, "{elsewhere:?}");
    assert_eq!(index(&sandbox).0, 0);
    // The question, once.
    assert_eq!(server.texts().values().sum::<usize>(), before + 1);
}

#[test]
fn a_search_does_not_wait_for_a_slow_server_and_uses_its_answer_later() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(index(&sandbox).0, 0);
    let client = StdioClient::start(sandbox.docent_with_running_clock(), Era::Handshake);
    let ask = || asked(&client, "start the engine");
    server.be(Mood::Held);
    // It is answered, though the server holds its answer back.
    let answer = ask();
    assert!(
        notice(&answer).contains("did not answer in time; results are ordered without it"),
        "{answer}"
    );
    assert_eq!(first(&answer), "src/boat.py");
    server.be(Mood::Well);
    server.wait_until("the question", |texts| texts.contains_key("start the engine"));
    let until = Instant::now() + MAX_WAIT;
    while !notice(&ask()).is_empty() {
        assert!(Instant::now() < until, "{}", ask());
    }
    assert_paid_once(&server, TEXTS + 1);
}

#[test]
fn a_rate_limited_server_is_not_called_before_retry_after() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    server.be(Mood::Limited(1));
    let answer = search(&sandbox, "start the engine");
    let said = "has had too many requests (HTTP 429); results are ordered without it";
    assert!(notice(&answer).contains(said), "{answer}");
    assert_eq!(first(&answer), "src/boat.py");
    // Another process, which has not heard of the limit yet.
    server.be(Mood::Limited(1));
    let before = server.requests();
    let indexing = sandbox.docent().arg("index").spawn().unwrap();
    server.wait_for_requests(before + 3);
    assert_eq!(server.early_requests(), 0);
    server.be(Mood::Well);
    assert!(indexing.wait_with_output().unwrap().status.success());
    assert_paid_once(&server, TEXTS);
}

#[test]
fn a_server_that_fails_in_the_middle_loses_no_vectors() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(index(&sandbox).0, 0);
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    for mood in [Mood::Dying, Mood::Failing] {
        server.be(mood);
        let answer = search(&sandbox, "walk with the horse");
        assert!(
            notice(&answer).contains("results are ordered without it"),
            "{answer}"
        );
        assert_eq!(first(&answer), "src/cart.py");
    }
    let (code, said) = index(&sandbox);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("fails (HTTP 503)"), "{said}");
    server.be(Mood::Well);
    assert_eq!(index(&sandbox).0, 0);
    let answer = search(&sandbox, "walk with the horse");
    assert_eq!((first(&answer), notice(&answer)), ("src/cart.py", ""));
    assert_paid_once(&server, TEXTS + 2);
}

#[test]
fn a_wrong_key_is_reported_and_never_printed() {
    const KEY: &str = "sk-wrong-5f2a9c7e1b3d4f60";
    let server = EmbeddingServer::start();
    server.want_key("sk-right-0123456789");
    let sandbox = project(&server);
    let log = sandbox.outside().join("log");
    let file = sandbox.outside().join("key");
    fs::write(&file, format!("{KEY}\n")).unwrap();
    set(
        &sandbox,
        &format!(
            "url = \"{}\"\nkey_file = {file:?}\n[log]\nfile = {log:?}\nlevel = \"trace\"",
            server.url()
        ),
    );
    let answer = search(&sandbox, "start the engine");
    assert!(
        notice(&answer).contains("does not take the key (HTTP 401)"),
        "{answer}"
    );
    assert_eq!(first(&answer), "src/boat.py");
    let (code, said) = index(&sandbox);
    assert_eq!(code, 1);
    let shown = [
        said,
        answer.to_string(),
        fs::read_to_string(&log).unwrap_or_default(),
    ]
    .into_iter()
    .chain(["status", "config"].map(|command| sandbox.run(&[command]).stdout))
    .collect::<String>();
    assert!(!shown.contains("5f2a9c7e"), "{shown}");

    fs::write(&file, "sk-right-0123456789\n").unwrap();
    assert_eq!(index(&sandbox).0, 0);
    assert_paid_once(&server, TEXTS);
    fs::remove_file(&file).unwrap();
    let answer = search(&sandbox, "start another engine");
    assert!(notice(&answer).contains("gets no key"), "{answer}");
}

#[test]
fn vectors_of_different_models_are_never_compared() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(index(&sandbox).0, 0);
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = |query: &str| asked(&client, query);
    assert_eq!(notice(&ask("start the engine")), "");
    // While docent runs, it is out of order; whoever starts anew takes it for another model, and begins anew.
    server.give(32);
    let answer = ask("start the other engine");
    assert!(
        notice(&answer).contains(
            "gives vectors of another model than before: 32 numbers of counting-words where it gave 64"
        ),
        "{answer}"
    );
    assert_eq!(first(&answer), "src/boat.py");
    let times = |often: usize| server.texts().values().filter(|times| **times == often).count();
    let unknown = "counting-words does not know enough of the results yet; they are ordered without it";
    assert_eq!(notice(&search(&sandbox, "start the engine of nobody")), unknown);
    assert_eq!(index(&sandbox).0, 0);
    assert_eq!(times(2), TEXTS);
    // The same with a model of another name. Who serves has it learn all anew by itself.
    drop(client);
    server.call_model("counting-words-2");
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = |query: &str| asked(&client, query);
    assert_eq!(notice(&ask("the engine of nobody")), unknown);
    let thrice =
        |texts: &BTreeMap<String, usize>| texts.values().filter(|times| **times == 3).count() == TEXTS;
    server.wait_until("all anew", thrice);
    // Answers that fit no model are not kept.
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    server.be(Mood::Uneven);
    let (code, said) = index(&sandbox);
    assert_eq!(code, 1);
    assert!(said.contains("answers in an unknown way"), "{said}");
}

#[test]
fn a_changed_model_embeds_all_texts_again() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(index(&sandbox).0, 0);
    server.call_model("another");
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    let (code, said) = index(&sandbox);
    assert_eq!(code, 0, "{said}");
    let status = status(&sandbox);
    assert_eq!(
        (&status["server"]["missing"], &status["server"]["vectors"]),
        (&json!(0), &json!(TEXTS + 1))
    );
    assert_eq!(notice(&search(&sandbox, "walk with the horse")), "");
}

#[test]
fn a_flaky_server_embeds_every_text_once() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    set(&sandbox, &format!("url = \"{}\"\nbatch = 1", server.url()));
    server.be(Mood::Flaky(3));
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = || asked(&client, "launch");
    assert_eq!(first(&ask()), "src/boat.py");
    server.wait_until("all of it", |texts| texts.len() == TEXTS);
    assert_paid_once(&server, TEXTS);
}

#[test]
fn a_server_that_refuses_every_text_is_called_again_later() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    server.be(Mood::Refusing);
    let (code, said) = index(&sandbox);
    assert_eq!(code, 1);
    assert!(said.contains("HTTP 400: billing hard limit reached"), "{said}");
    assert!(server.requests() < 6, "{}", server.requests());
    let answer = search(&sandbox, "start the engine");
    assert!(notice(&answer).contains("billing hard limit reached"), "{answer}");
    server.be(Mood::Well);
    assert_eq!(index(&sandbox).0, 0);
    assert_paid_once(&server, TEXTS);
    assert_eq!(notice(&search(&sandbox, "start the engine")), "");
}

#[test]
fn a_text_that_the_server_refuses_is_not_sent_again() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server).file("src/odd.py", "def odd():\n    return 'unspeakable'\n");
    server.be(Mood::Choosy);
    let (code, said) = index(&sandbox);
    assert_eq!(code, 0, "{said}");
    assert_paid_once(&server, TEXTS);
    let requests = server.requests();
    assert_eq!(index(&sandbox).0, 0);
    assert_eq!(server.requests(), requests);
    assert_eq!(notice(&search(&sandbox, "what is odd about it")), "");
}

#[test]
fn a_running_docent_embeds_new_and_changed_files_in_the_background() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    let ask = |query: &str| asked(&client, query);
    assert_eq!(first(&ask("start the engine")), "src/boat.py");
    let holds = |word: &'static str| {
        move |texts: &BTreeMap<String, usize>| texts.keys().any(|text| text.contains(word))
    };
    server.wait_until("the first build", |texts| texts.len() > TEXTS);
    sandbox.write(
        "src/auto.py",
        AUTO.replace("an automobile has", "every automobile has"),
    );
    server.wait_until("the change", holds("every automobile has"));
    let heard = server.texts();
    assert!(heard.values().all(|times| *times == 1), "{heard:?}");
    let status = status(&sandbox);
    assert_eq!(status["server"]["model"], "counting-words");
}

#[test]
fn secrets_are_not_sent_and_a_project_cannot_choose_the_server() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server)
        .file("src/cloud.py", "KEY = 'AKIAIOSFODNN7EXAMPLE'\n")
        .file(".env", "TOKEN=abc\n")
        .file(
            "notes.txt",
            format!("{}{}", "a line of notes\n".repeat(45), private_key()),
        );
    assert_eq!(index(&sandbox).0, 0);
    let sent: String = server.texts().into_keys().collect();
    assert!(
        sent.contains("cloud.py") && !sent.contains("AKIAIOSFODNN7EXAMPLE") && !sent.contains("TOKEN"),
        "{sent}"
    );

    assert!(sent.contains("notes.txt") && !sent.contains("MIIJKQ"), "{sent}");
    search(&sandbox, "where is AKIAIOSFODNN7EXAMPLE used");
    assert!(
        !server
            .texts()
            .into_keys()
            .any(|text| text.contains("AKIAIOSFODNN7EXAMPLE"))
    );

    // A project has no say in where its user's code goes.
    let other = EmbeddingServer::start();
    let hostile = crate::sandbox().file("src/a.py", BOAT).file(
        ".context/config.toml",
        format!("[embedder]\nurl = \"{}\"\nmodel = \"m\"\n", other.url()),
    );
    assert_eq!(hostile.run(&["index"]).code, 0);
    assert_eq!(other.requests(), 0);
    let said = hostile.run(&["config"]).stderr;
    assert!(
        said.contains("embedder.url is not taken from a project"),
        "{said}"
    );
}

/// Longer than what is cut at a time.
fn private_key() -> String {
    let (kind, line) = (
        "RSA PRIVATE KEY",
        "MIIJKQIBAAKCAgEA7v3kTq9Zb1xWc4yR8mL0pN2sD5fG6hJ7kQ9wE3rT5yU1iO8p\n",
    );
    format!(
        "-----BEGIN {kind}-----\n{}-----END {kind}-----\n",
        line.repeat(50)
    )
}

#[test]
fn an_unrelated_page_is_not_found_with_a_server_either() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(index(&sandbox).0, 0);
    let asked = json!({ "query": "quantum physics lecture" }).to_string();
    let found: Value = serde_json::from_str(&sandbox.run(&["call", "search_docs", &asked]).stdout).unwrap();
    assert_eq!(found["hits"], json!([]), "{found}");
}

#[test]
fn linked_projects_share_one_embedding_of_the_query() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    for number in 0..4 {
        let other = sandbox.outside().join(format!("other{number}"));
        fs::create_dir(&other).unwrap();
        fs::write(other.join("boat.py"), BOAT).unwrap();
        assert_eq!(sandbox.run(&["link", other.to_str().unwrap()]).code, 0);
    }
    let question = json!({ "query": "start the engine", "projectScope": "all_linked", "format": "json" });
    let name = json!({ "query": "launch", "projectScope": "all_linked" });
    server.be(Mood::Held);
    let hurried = StdioClient::start(sandbox.docent_with_running_clock(), Era::Handshake);
    hurried.call("context_search", name.clone());
    let answer = hurried.call("context_search", question.clone()).json();
    assert!(notice(&answer).contains("did not answer in time"), "{answer}");
    drop(hurried);

    server.be(Mood::Well);
    let client = StdioClient::start(sandbox.docent(), Era::Handshake);
    client.call("context_search", name);
    client.call("context_search", question);
    // The process that was told too late may have asked as well.
    let times = server.texts()["start the engine"];
    assert!((1..=2).contains(&times), "{times} times");
}

#[cfg(not(feature = "tls"))]
#[test]
fn without_tls_an_https_address_is_refused_and_the_feature_is_named() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    set(
        &sandbox,
        &format!("url = \"{}\"", server.url().replace("http:", "https:")),
    );
    let answer = search(&sandbox, "start the engine");
    assert_eq!(first(&answer), "src/boat.py");
    assert!(
        notice(&answer).contains("built without TLS (build it with `--features tls`)"),
        "{answer}"
    );
    let (code, said) = index(&sandbox);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("--features tls"), "{said}");
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_paid_server_lowers_the_rate_limit_of_searches() {
    let sandbox = sandbox();
    let limit = |settings: &str| {
        set(&sandbox, settings);
        let shown = sandbox.run(&["config"]).stdout;
        let line = shown
            .lines()
            .find(|line| line.contains("limit.context_search"))
            .unwrap_or_default();
        line.split_whitespace().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(limit(""), "100");
    assert_eq!(limit("url = \"http://localhost:11434/v1\"\nkey = \"k\""), "100");
    assert_eq!(limit("url = \"https://api.example.com/v1\"\nkey = \"k\""), "30");
    assert_eq!(
        limit("url = \"https://api.example.com/v1\"\nkey = \"k\"\n[limit]\ncontext_search = 50"),
        "50"
    );
}

#[test]
fn incomplete_server_settings_are_refused() {
    let sandbox = sandbox();
    let refused = |settings: &str| {
        let finished = sandbox.run(&["--set", settings, "config"]);
        assert_ne!(finished.code, 0);
        finished.stderr
    };
    assert!(refused("embedder.url=localhost:11434").contains("must begin with http"));
    assert!(refused("embedder.url=http://localhost:11434/v1").contains("embedder.model is not"));
    // Nowhere to keep them: nothing is asked for.
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    let blocked: PathBuf = sandbox
        .root()
        .with_file_name("home")
        .join("cache/docent/embeddings");
    fs::create_dir_all(blocked.parent().unwrap()).unwrap();
    fs::write(&blocked, "in the way").unwrap();
    let answer = search(&sandbox, "start the engine");
    assert!(notice(&answer).contains("its vectors cannot be kept"), "{answer}");
    assert_eq!(server.requests(), 0);
}
