//! A server that embeds texts, spoken to in the form that OpenAI has made common: `POST URL/embeddings`. Ollama, vLLM, TEI and
//! LM Studio understand it too.
//!
//! Invariant: the key goes to the server and nowhere else. It is in no message, no log and no debug output.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docent_core::text::redact::redact;
use serde::Deserialize;
use serde_json::json;
use ureq::Agent;
use ureq::http::{HeaderMap, StatusCode};

use super::quantized::QuantizedVector;

/// Where the server is, and what it is asked for.
#[derive(Clone, Debug)]
pub struct Server {
    /// Up to and without `/embeddings`.
    pub url: String,
    pub model: String,
    /// How many numbers vectors should have; what the model has, where nothing is said.
    pub dimensions: Option<u32>,
    pub key: ApiKey,
}

/// What the server knows its customer by.
#[derive(Clone, Default)]
pub enum ApiKey {
    #[default]
    None,
    Given(String),
    /// Read with each request, so that a new one counts at once.
    File(PathBuf),
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Given(_) => f.write_str("Given"),
            Self::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

/// Why there is no vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("cannot be reached ({0})")]
    Unreachable(String),
    #[error("did not answer in time")]
    Slow,
    #[error("does not take the key (HTTP {0}); see embedder.key and embedder.key_file")]
    Key(u16),
    #[error("gets no key: {0}")]
    NoKey(String),
    #[error(
        "is not asked: its address is https, and this docent was built without TLS (build it with `--features tls`)"
    )]
    NoTls,
    #[error("has had too many requests (HTTP 429)")]
    Limited(Option<Duration>),
    #[error("fails (HTTP {0})")]
    Failing(u16),
    /// It does not take this text, or nothing at all.
    #[error("does not take what it is sent (HTTP {0}: {1})")]
    Refused(u16, String),
    /// It speaks another form.
    #[error("answers in an unknown way: {0}")]
    Odd(String),
    /// It is not the model it was.
    #[error("gives vectors of another model than before: {0}")]
    Changed(String),
    #[error("is of no use, because its vectors cannot be kept: {0}")]
    Unkept(String),
    #[error("has to wait: another process is writing its vectors")]
    Busy,
}

/// What the server said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EmbeddingAnswer {
    pub(super) vectors: Vec<QuantizedVector>,
    /// What it calls the model.
    pub(super) model: Option<String>,
}

/// Bytes of an answer that are read.
const MAX_ANSWER_BYTES: u64 = 128 << 20;
/// Characters of what the server says went wrong.
const MAX_REASON_CHARS: usize = 160;

#[derive(Deserialize)]
struct EmbeddingList {
    data: Vec<EmbeddingItem>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Server {
    /// Whose name people know: the host and port of the URL.
    pub fn host(&self) -> &str {
        let rest = self
            .url
            .split_once("://")
            .map_or(self.url.as_str(), |(_, rest)| rest);
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit_once('@').map_or(host, |(_, host)| host)
    }

    /// Whether texts stay on this machine.
    pub fn is_here(&self) -> bool {
        let host = self.host();
        let name = match host.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let is_loopback = |address: IpAddr| address.is_loopback();
        name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(is_loopback)
    }

    /// Whether questions may cost something.
    pub fn is_paid(&self) -> bool {
        !self.is_here() && !matches!(self.key, ApiKey::None)
    }

    /// Reads an answer to so many texts.
    fn read(&self, body: &str, count: usize) -> Result<EmbeddingAnswer, Trouble> {
        let odd = |what: &str| Trouble::Odd(what.to_owned());
        let mut listed: EmbeddingList =
            serde_json::from_str(body).map_err(|_| odd("it is no list of vectors"))?;
        if listed.data.len() != count {
            return Err(Trouble::Odd(format!(
                "{} vectors for {count} texts",
                listed.data.len()
            )));
        }
        // The order is theirs to choose, as long as they say which is which.
        if listed.data.iter().all(|one| one.index.is_some()) {
            listed.data.sort_by_key(|one| one.index);
            let in_order = listed
                .data
                .iter()
                .enumerate()
                .all(|(at, one)| one.index == Some(at));
            if !in_order {
                return Err(odd("its vectors are not numbered as the texts are"));
            }
        }
        let length = listed.data.first().map_or(0, |one| one.embedding.len());
        if listed.data.iter().any(|one| one.embedding.len() != length) {
            return Err(odd("its vectors have different lengths"));
        }
        if let Some(asked) = self.dimensions.filter(|asked| *asked as usize != length) {
            return Err(Trouble::Odd(format!(
                "vectors of {length} numbers, where embedder.dimensions is {asked}"
            )));
        }
        let vectors = listed.data.iter().map(|one| QuantizedVector::of(&one.embedding));
        Ok(EmbeddingAnswer {
            vectors: vectors
                .collect::<Option<_>>()
                .ok_or_else(|| odd("a vector that points nowhere"))?,
            model: listed.model,
        })
    }
}

/// Speaks with a server, over connections that stay open.
#[derive(Debug)]
pub(super) struct EmbeddingClient {
    pub(super) server: Server,
    agent: Agent,
}

impl EmbeddingClient {
    pub(super) fn new(server: Server) -> Self {
        let mut config = Agent::config_builder()
            // Where a server sends us is not where the user wants the texts to go.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false);
        if server.is_here() {
            config = config.proxy(None);
        }
        Self {
            agent: Agent::new_with_config(config.build()),
            server,
        }
    }

    /// A vector for each text, in order.
    pub(super) fn embed(&self, texts: &[&str], time: Duration) -> Result<EmbeddingAnswer, Trouble> {
        let server = &self.server;
        if cfg!(not(feature = "tls")) && server.url.starts_with("https://") {
            return Err(Trouble::NoTls);
        }
        let mut request = json!({ "model": server.model, "input": texts, "encoding_format": "float" });
        if let Some(dimensions) = server.dimensions {
            request["dimensions"] = dimensions.into();
        }
        let key = self.key()?;
        let mut post = self
            .agent
            .post(format!("{}/embeddings", server.url))
            .config()
            .timeout_global(Some(time))
            .build()
            .header("content-type", "application/json");
        if let Some(key) = &key {
            post = post.header("authorization", format!("Bearer {key}"));
        }
        let mut response = post.send(request.to_string()).map_err(of_transport)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response
            .body_mut()
            .with_config()
            .limit(MAX_ANSWER_BYTES)
            .read_to_string()
            .map_err(of_transport)?;
        if status != StatusCode::OK {
            return Err(refused(status, &headers, &body, key.as_deref()));
        }
        server.read(&body, texts.len())
    }

    /// What the server knows its customer by.
    pub(super) fn key(&self) -> Result<Option<String>, Trouble> {
        let key = match &self.server.key {
            ApiKey::None => return Ok(None),
            ApiKey::Given(key) => key.clone(),
            ApiKey::File(path) => {
                read_key(path).map_err(|error| Trouble::NoKey(format!("{}: {error}", path.display())))?
            }
        };
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let whose = match &self.server.key {
                ApiKey::File(path) => path.display().to_string(),
                _ => "embedder.key".to_owned(),
            };
            return Err(Trouble::NoKey(format!(
                "{whose} is empty, or has characters that no key has"
            )));
        }
        Ok(Some(key.to_owned()))
    }
}

/// A file that holds a key and nothing else. A pipe would be waited for, and might never end.
fn read_key(path: &Path) -> io::Result<String> {
    const MAX_KEY_BYTES: u64 = 64 << 10;
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's own file, outside of any project"
    )]
    let file = fs::File::open(path)?;
    let mut key = String::new();
    file.take(MAX_KEY_BYTES).read_to_string(&mut key)?;
    Ok(key)
}

fn of_transport(error: ureq::Error) -> Trouble {
    match error {
        ureq::Error::Timeout(_) => Trouble::Slow,
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => Trouble::Slow,
        ureq::Error::BodyExceedsLimit(_) => Trouble::Odd("its answer is too long".into()),
        error => Trouble::Unreachable(brief(&error.to_string(), None)),
    }
}

fn refused(status: StatusCode, headers: &HeaderMap, body: &str, key: Option<&str>) -> Trouble {
    match status.as_u16() {
        code @ (401 | 403) => Trouble::Key(code),
        429 => Trouble::Limited(wait(headers)),
        code @ 500.. => Trouble::Failing(code),
        300..=399 => Trouble::Odd(format!("it leads elsewhere (HTTP {})", status.as_u16())),
        code => Trouble::Refused(code, brief(&reason(body), key)),
    }
}

/// How long to wait, as the server says it: in seconds. Dates are as good as nothing, because clocks differ.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds: f64 = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// What the server says went wrong.
fn reason(body: &str) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let said = parsed.as_ref().and_then(|value| {
        ["/error/message", "/message", "/error", "/detail"]
            .iter()
            .find_map(|place| value.pointer(place)?.as_str())
    });
    said.unwrap_or(body).to_owned()
}

/// One line, without the key or any other secret.
fn brief(text: &str, key: Option<&str>) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = match key {
        Some(key) => line.replace(key, "…"),
        None => line,
    };
    redact(&line).chars().take(MAX_REASON_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Server {
        Server {
            url: url.into(),
            model: "m".into(),
            dimensions: None,
            key: ApiKey::None,
        }
    }

    #[test]
    fn what_is_here_and_what_is_paid() {
        let paid = |url: &str| {
            let server = Server {
                key: ApiKey::Given("k".into()),
                ..server(url)
            };
            server.is_paid()
        };
        assert!(paid("https://api.openai.com/v1"));
        assert!(paid("https://127.0.0.1@evil.example/v1"));
        assert!(!paid("http://localhost:11434/v1"));
        assert!(!paid("http://127.0.0.1:8080/v1"));
        assert!(!paid("http://[::1]:8080/v1") && !paid("http://LOCALHOST/v1"));
        assert!(paid("http://127.evil.example/v1"));
        assert!(!server("https://api.openai.com/v1").is_paid());
    }

    #[test]
    fn vectors_are_as_many_as_texts_and_of_one_length() {
        let read = |body: &str| server("http://localhost").read(body, 2);
        let vectors = |body: &str| read(body).map(|answer| answer.vectors);
        let (x, y) = (
            QuantizedVector::of(&[1.0, 0.0]).unwrap(),
            QuantizedVector::of(&[0.0, 1.0]).unwrap(),
        );
        let given = r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}"#;
        assert_eq!(vectors(given), Ok(vec![x.clone(), y.clone()]));
        let unnumbered = r#"{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}"#;
        assert_eq!(vectors(unnumbered), Ok(vec![x, y]));
        for odd in [
            "[]",
            "<html>",
            r#"{"data":[]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[0,1]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,1,0]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}"#,
            r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1e99,0]}]}"#,
        ] {
            assert!(matches!(read(odd), Err(Trouble::Odd(_))), "{odd}");
        }
    }

    #[test]
    fn nothing_that_is_said_holds_the_key() {
        let key = "sk-live-0123456789abcdefghijklmnop";
        let body = format!(r#"{{"error":{{"message":"no model for {key}"}}}}"#);
        let said = refused(StatusCode::BAD_REQUEST, &HeaderMap::new(), &body, Some(key)).to_string();
        assert!(!said.contains("0123456789"), "{said}");
        let secret = ApiKey::Given(key.into());
        assert_eq!(format!("{secret:?}"), "Given");
    }
}
