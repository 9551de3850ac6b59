//! An embedding server of the user: it reranks results and embeds no text twice. Searches answer without it.

use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

use docent_testkit::{Behaviour, EmbeddingServer, Era, MAX_WAIT, Sandbox, StdioClient, first_path, notice};
use serde_json::{Value, json};

use crate::sandbox;

const BOAT: &str = "def launch(engine):\n    # start the engine of the boat, start it twice\n    engine.start()\n    engine.start()\n";
const AUTO: &str =
    "def drive(engine):\n    # an automobile has an engine, as an automobile should\n    engine.start()\n";

/// A project of two functions and two pages, whose user has an embedding server.
fn project(server: &EmbeddingServer) -> Sandbox {
    let sandbox = sandbox()
        .file("src/auto.py", AUTO)
        .file("src/boat.py", BOAT)
        .file("docs/auto.md", "# Automobile\n\nHow to get it going.\n")
        .file("docs/boat.md", "# Boat\n\nHow to start the boat.\n");
    write_settings(&sandbox, &format!("url = \"{}\"", server.url()));
    sandbox
}

/// Writes the `[embedder]` section of the settings of the user.
fn write_settings(sandbox: &Sandbox, settings: &str) {
    let file = sandbox.home().join("config/docent/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(
        file,
        format!("[embedder]\nmodel = \"counting-words\"\n{settings}\n"),
    )
    .unwrap();
}

fn search_by_client(client: &StdioClient, query: &str) -> Value {
    let arguments = json!({ "query": query, "format": "json" });
    client.call("context_search", arguments).json()
}

/// Runs `docent index`: its exit code and its messages.
fn run_index(sandbox: &Sandbox) -> (i32, String) {
    let finished = sandbox.run(&["index"]);
    (finished.code, finished.stderr)
}

/// Fails unless this many texts were embedded, each once.
fn assert_embedded_once(server: &EmbeddingServer, texts: usize) {
    let mut embedded = server.embedded_texts();
    // docent sends its name to test the connection.
    embedded.remove("docent");
    assert_eq!(embedded.len(), texts, "{:?}", embedded.keys());
    assert!(embedded.values().all(|times| *times == 1), "{embedded:?}");
}

/// Number of texts in [`project`]: two functions and two pages, and each page is searched as code, too.
const TEXT_COUNT: usize = 6;

#[test]
fn the_embedding_server_changes_the_order_of_results() {
    let server = EmbeddingServer::start();
    server.add_synonyms(["automobile", "car"]);
    let sandbox = project(&server);
    let query = "the engine of a car";
    write_settings(&sandbox, "");
    assert_eq!(first_path(&sandbox.search(query)), "src/boat.py");
    let first_page = |query: &str| {
        let answer = sandbox.call_by_cli("search_docs", json!({ "query": query }));
        answer.json()["hits"][0]["filepath"].clone()
    };
    assert_eq!(first_page("how to start the car"), "docs/boat.md");

    write_settings(&sandbox, &format!("url = \"{}\"", server.url()));
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 0, "{messages}");
    assert!(
        messages.contains("counting-words has given 6 vectors"),
        "{messages}"
    );
    assert_embedded_once(&server, TEXT_COUNT);
    let answer = sandbox.search(query);
    assert_eq!((first_path(&answer), notice(&answer)), ("src/auto.py", ""));
    assert_eq!(first_page("how to get the car going"), "docs/auto.md");
    // A query that is a symbol name is answered without the server.
    let requests = server.request_count();
    assert_eq!(first_path(&sandbox.search("launch")), "src/boat.py");
    assert_eq!(server.request_count(), requests);
}

#[test]
fn no_text_is_embedded_twice() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    write_settings(&sandbox, &format!("url = \"{}\"\nbatch = 1", server.url()));
    server.set_behaviour(Behaviour::Slow(50));
    // One of three processes is killed while it waits. Only its open requests are sent again.
    let mut killed = sandbox.docent().arg("index").spawn().unwrap();
    server.wait_until_embedded("a first text", |texts| !texts.is_empty());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let others = [0, 1].map(|_| sandbox.docent().arg("index").spawn().unwrap());
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    let embedded = server.embedded_texts();
    assert_eq!(embedded.len(), TEXT_COUNT);
    assert!(embedded.values().sum::<usize>() <= TEXT_COUNT + 4, "{embedded:?}");
    let before = embedded.values().sum::<usize>();
    // The same query twice, a new index, and a copy of the project use the stored vectors.
    sandbox.search("start the engine of the boat");
    sandbox.search("start the engine of the boat");
    assert_eq!(sandbox.run(&["clear"]).code, 0);
    let copy = sandbox.outside().join("copy");
    fs::create_dir_all(copy.join("src")).unwrap();
    fs::write(copy.join("src/boat.py"), BOAT).unwrap();
    let indexed = sandbox.run(&["--root", copy.to_str().unwrap(), "index"]);
    assert_eq!(indexed.code, 0, "{indexed:?}");
    assert_eq!(run_index(&sandbox).0, 0);
    // Only the query was new.
    assert_eq!(server.embedded_texts().values().sum::<usize>(), before + 1);
}

#[test]
fn a_search_does_not_wait_for_a_slow_server_and_uses_its_answer_later() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(run_index(&sandbox).0, 0);
    let client = StdioClient::start(sandbox.docent_with_running_clock(), Era::Handshake);
    let ask = || search_by_client(&client, "start the engine");
    server.set_behaviour(Behaviour::Blocked);
    // The search is answered although the server sends nothing.
    let answer = ask();
    assert!(
        notice(&answer).contains("did not answer in time; results are ordered without it"),
        "{answer}"
    );
    assert_eq!(first_path(&answer), "src/boat.py");
    server.set_behaviour(Behaviour::Normal);
    server.wait_until_embedded("the query", |texts| texts.contains_key("start the engine"));
    let until = Instant::now() + MAX_WAIT;
    while !notice(&ask()).is_empty() {
        assert!(Instant::now() < until, "{}", ask());
    }
    assert_embedded_once(&server, TEXT_COUNT + 1);
}

#[test]
fn a_rate_limited_server_is_not_called_before_retry_after() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    server.set_behaviour(Behaviour::RateLimited(1));
    let answer = sandbox.search("start the engine");
    let expected = "has had too many requests (HTTP 429); results are ordered without it";
    assert!(notice(&answer).contains(expected), "{answer}");
    assert_eq!(first_path(&answer), "src/boat.py");
    // A new process, which does not know of the limit yet.
    server.set_behaviour(Behaviour::RateLimited(1));
    let before = server.request_count();
    let indexing = sandbox.docent().arg("index").spawn().unwrap();
    server.wait_for_requests(before + 3);
    assert_eq!(server.early_request_count(), 0);
    server.set_behaviour(Behaviour::Normal);
    assert!(indexing.wait_with_output().unwrap().status.success());
    assert_embedded_once(&server, TEXT_COUNT);
}

#[test]
fn a_server_that_fails_in_the_middle_loses_no_vectors() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(run_index(&sandbox).0, 0);
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    for behaviour in [Behaviour::CutOff, Behaviour::Unavailable] {
        server.set_behaviour(behaviour);
        let answer = sandbox.search("walk with the horse");
        assert!(
            notice(&answer).contains("results are ordered without it"),
            "{answer}"
        );
        assert_eq!(first_path(&answer), "src/cart.py");
    }
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 1, "{messages}");
    assert!(messages.contains("fails (HTTP 503)"), "{messages}");
    server.set_behaviour(Behaviour::Normal);
    assert_eq!(run_index(&sandbox).0, 0);
    let answer = sandbox.search("walk with the horse");
    assert_eq!((first_path(&answer), notice(&answer)), ("src/cart.py", ""));
    assert_embedded_once(&server, TEXT_COUNT + 2);
}

#[test]
fn a_wrong_key_is_reported_and_never_printed() {
    const KEY: &str = "sk-wrong-5f2a9c7e1b3d4f60";
    let server = EmbeddingServer::start();
    server.require_key("sk-right-0123456789");
    let sandbox = project(&server);
    let log = sandbox.outside().join("log");
    let file = sandbox.outside().join("key");
    fs::write(&file, format!("{KEY}\n")).unwrap();
    write_settings(
        &sandbox,
        &format!(
            "url = \"{}\"\nkey_file = {file:?}\n[log]\nfile = {log:?}\nlevel = \"trace\"",
            server.url()
        ),
    );
    let answer = sandbox.search("start the engine");
    assert!(
        notice(&answer).contains("does not take the key (HTTP 401)"),
        "{answer}"
    );
    assert_eq!(first_path(&answer), "src/boat.py");
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 1);
    let shown = [
        messages,
        answer.to_string(),
        fs::read_to_string(&log).unwrap_or_default(),
    ]
    .into_iter()
    .chain(["status", "config"].map(|command| sandbox.run(&[command]).stdout))
    .collect::<String>();
    assert!(!shown.contains("5f2a9c7e"), "{shown}");

    fs::write(&file, "sk-right-0123456789\n").unwrap();
    assert_eq!(run_index(&sandbox).0, 0);
    assert_embedded_once(&server, TEXT_COUNT);
    fs::remove_file(&file).unwrap();
    let answer = sandbox.search("start another engine");
    assert!(notice(&answer).contains("gets no key"), "{answer}");
}

#[test]
fn vectors_of_different_models_are_never_compared() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(run_index(&sandbox).0, 0);
    let client = sandbox.start_client(Era::Handshake);
    let ask = |query: &str| search_by_client(&client, query);
    assert_eq!(notice(&ask("start the engine")), "");
    // A running process reports the change as an error. A new process embeds all texts again.
    server.set_dimensions(32);
    let answer = ask("start the other engine");
    assert!(
        notice(&answer).contains(
            "gives vectors of another model than before: 32 numbers of counting-words where it gave 64"
        ),
        "{answer}"
    );
    assert_eq!(first_path(&answer), "src/boat.py");
    let count_embedded = |often: usize| {
        server
            .embedded_texts()
            .values()
            .filter(|times| **times == often)
            .count()
    };
    let unknown = "counting-words does not know enough of the results yet; they are ordered without it";
    assert_eq!(notice(&sandbox.search("start the engine of nobody")), unknown);
    assert_eq!(run_index(&sandbox).0, 0);
    assert_eq!(count_embedded(2), TEXT_COUNT);
    // A model of another name. A running server embeds all texts again in the background.
    drop(client);
    server.set_model_name("counting-words-2");
    let client = sandbox.start_client(Era::Handshake);
    let ask = |query: &str| search_by_client(&client, query);
    assert_eq!(notice(&ask("the engine of nobody")), unknown);
    let thrice =
        |texts: &BTreeMap<String, usize>| texts.values().filter(|times| **times == 3).count() == TEXT_COUNT;
    server.wait_until_embedded("all texts again", thrice);
    // Vectors of different lengths are not stored.
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    server.set_behaviour(Behaviour::UnevenVectors);
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 1);
    assert!(messages.contains("answers in an unknown way"), "{messages}");
}

#[test]
fn a_changed_model_embeds_all_texts_again() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    assert_eq!(run_index(&sandbox).0, 0);
    server.set_model_name("another");
    sandbox.write("src/cart.py", "def pull(horse):\n    return horse.walk()\n");
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 0, "{messages}");
    let status = sandbox.index_status();
    assert_eq!(
        (&status["server"]["missing"], &status["server"]["vectors"]),
        (&json!(0), &json!(TEXT_COUNT + 1))
    );
    assert_eq!(notice(&sandbox.search("walk with the horse")), "");
}

#[test]
fn a_flaky_server_embeds_every_text_once() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    write_settings(&sandbox, &format!("url = \"{}\"\nbatch = 1", server.url()));
    server.set_behaviour(Behaviour::Flaky(3));
    let client = sandbox.start_client(Era::Handshake);
    let ask = || search_by_client(&client, "launch");
    assert_eq!(first_path(&ask()), "src/boat.py");
    server.wait_until_embedded("all of it", |texts| texts.len() == TEXT_COUNT);
    assert_embedded_once(&server, TEXT_COUNT);
}

#[test]
fn a_server_that_refuses_every_text_is_called_again_later() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    server.set_behaviour(Behaviour::RefusesAll);
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 1);
    assert!(
        messages.contains("HTTP 400: billing hard limit reached"),
        "{messages}"
    );
    assert!(server.request_count() < 6, "{}", server.request_count());
    let answer = sandbox.search("start the engine");
    assert!(notice(&answer).contains("billing hard limit reached"), "{answer}");
    server.set_behaviour(Behaviour::Normal);
    assert_eq!(run_index(&sandbox).0, 0);
    assert_embedded_once(&server, TEXT_COUNT);
    assert_eq!(notice(&sandbox.search("start the engine")), "");
}

#[test]
fn a_text_that_the_server_refuses_is_not_sent_again() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server).file("src/odd.py", "def odd():\n    return 'unspeakable'\n");
    server.set_behaviour(Behaviour::RefusesOneText);
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 0, "{messages}");
    assert_embedded_once(&server, TEXT_COUNT);
    let requests = server.request_count();
    assert_eq!(run_index(&sandbox).0, 0);
    assert_eq!(server.request_count(), requests);
    assert_eq!(notice(&sandbox.search("what is odd about it")), "");
}

#[test]
fn a_running_docent_embeds_new_and_changed_files_in_the_background() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    let client = sandbox.start_client(Era::Handshake);
    let ask = |query: &str| search_by_client(&client, query);
    assert_eq!(first_path(&ask("start the engine")), "src/boat.py");
    let holds = |word: &'static str| {
        move |texts: &BTreeMap<String, usize>| texts.keys().any(|text| text.contains(word))
    };
    server.wait_until_embedded("the first build", |texts| texts.len() > TEXT_COUNT);
    sandbox.write(
        "src/auto.py",
        AUTO.replace("an automobile has", "every automobile has"),
    );
    server.wait_until_embedded("the change", holds("every automobile has"));
    let embedded = server.embedded_texts();
    assert!(embedded.values().all(|times| *times == 1), "{embedded:?}");
    let status = sandbox.index_status();
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
    assert_eq!(run_index(&sandbox).0, 0);
    let sent: String = server.embedded_texts().into_keys().collect();
    assert!(
        sent.contains("cloud.py") && !sent.contains("AKIAIOSFODNN7EXAMPLE") && !sent.contains("TOKEN"),
        "{sent}"
    );

    assert!(sent.contains("notes.txt") && !sent.contains("MIIJKQ"), "{sent}");
    sandbox.search("where is AKIAIOSFODNN7EXAMPLE used");
    assert!(
        !server
            .embedded_texts()
            .into_keys()
            .any(|text| text.contains("AKIAIOSFODNN7EXAMPLE"))
    );

    // A project cannot choose the server that its code is sent to.
    let other = EmbeddingServer::start();
    let hostile = crate::sandbox().file("src/a.py", BOAT).file(
        ".context/config.toml",
        format!("[embedder]\nurl = \"{}\"\nmodel = \"m\"\n", other.url()),
    );
    assert_eq!(hostile.run(&["index"]).code, 0);
    assert_eq!(other.request_count(), 0);
    let messages = hostile.run(&["config"]).stderr;
    assert!(
        messages.contains("embedder.url is not taken from a project"),
        "{messages}"
    );
}

/// A private key longer than one chunk.
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
    assert_eq!(run_index(&sandbox).0, 0);
    let arguments = json!({ "query": "quantum physics lecture" });
    let answer = sandbox.call_by_cli("search_docs", arguments).json();
    assert_eq!(answer["hits"], json!([]), "{answer}");
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
    let query = json!({ "query": "start the engine", "projectScope": "all_linked", "format": "json" });
    let symbol = json!({ "query": "launch", "projectScope": "all_linked" });
    server.set_behaviour(Behaviour::Blocked);
    let impatient = StdioClient::start(sandbox.docent_with_running_clock(), Era::Handshake);
    impatient.call("context_search", symbol.clone());
    let answer = impatient.call("context_search", query.clone()).json();
    assert!(notice(&answer).contains("did not answer in time"), "{answer}");
    drop(impatient);

    server.set_behaviour(Behaviour::Normal);
    let client = sandbox.start_client(Era::Handshake);
    client.call("context_search", symbol);
    client.call("context_search", query);
    // The process that got its answer too late may have sent the query as well.
    let times = server.embedded_texts()["start the engine"];
    assert!((1..=2).contains(&times), "{times} times");
}

#[cfg(not(feature = "tls"))]
#[test]
fn without_tls_an_https_address_is_refused_and_the_feature_is_named() {
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    write_settings(
        &sandbox,
        &format!("url = \"{}\"", server.url().replace("http:", "https:")),
    );
    let answer = sandbox.search("start the engine");
    assert_eq!(first_path(&answer), "src/boat.py");
    assert!(
        notice(&answer).contains("built without TLS (build it with `--features tls`)"),
        "{answer}"
    );
    let (code, messages) = run_index(&sandbox);
    assert_eq!(code, 1, "{messages}");
    assert!(messages.contains("--features tls"), "{messages}");
    assert_eq!(server.request_count(), 0);
}

#[test]
fn a_paid_server_lowers_the_rate_limit_of_searches() {
    let sandbox = sandbox();
    let limit = |settings: &str| {
        write_settings(&sandbox, settings);
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
    let refuse = |settings: &str| {
        let finished = sandbox.run(&["--set", settings, "config"]);
        assert_ne!(finished.code, 0);
        finished.stderr
    };
    assert!(refuse("embedder.url=localhost:11434").contains("must begin with http"));
    assert!(refuse("embedder.url=http://localhost:11434/v1").contains("embedder.model is not"));
    // Without a place to store vectors the server is not called.
    let server = EmbeddingServer::start();
    let sandbox = project(&server);
    let blocked = sandbox.home().join("cache/docent/embeddings");
    fs::create_dir_all(blocked.parent().unwrap()).unwrap();
    fs::write(&blocked, "in the way").unwrap();
    let answer = sandbox.search("start the engine");
    assert!(notice(&answer).contains("its vectors cannot be kept"), "{answer}");
    assert_eq!(server.request_count(), 0);
}
