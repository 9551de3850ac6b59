//! An embedding server on loopback that speaks OpenAI's protocol, and that fails in the ways a test asks for.
//!
//! A vector counts the words of its text, so that texts with the same words are similar. Synonyms count as
//! one word. The server remembers every text that it has embedded.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::MAX_WAIT;

/// A running server. It ends with the process.
pub struct EmbeddingServer {
    address: String,
    shared: Arc<ServerShared>,
}

/// How the server answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behaviour {
    #[default]
    Normal,
    /// Answers after this many milliseconds.
    Slow(u64),
    /// Holds every answer back until the behaviour changes.
    Blocked,
    /// HTTP 429, with this many seconds in `Retry-After`.
    RateLimited(u64),
    /// HTTP 503.
    Unavailable,
    /// One vector of each answer is shorter than the others.
    UnevenVectors,
    /// Closes the connection in the middle of every answer.
    CutOff,
    /// HTTP 400 for a request with a text that contains `unspeakable`.
    RefusesOneText,
    /// HTTP 400 for every request, as for an account without credit.
    RefusesAll,
    /// Every n-th request fails at once; the others take a moment.
    Flaky(usize),
}

#[derive(Default)]
struct ServerShared {
    state: Mutex<ServerState>,
    changed: Condvar,
}

struct ServerState {
    behaviour: Behaviour,
    dimensions: usize,
    model: String,
    key: Option<String>,
    synonyms: Vec<[&'static str; 2]>,
    /// How often each text was embedded.
    texts: BTreeMap<String, usize>,
    request_count: usize,
    /// The end of the last `Retry-After`.
    retry_at: Option<Instant>,
    /// Requests that came before `retry_at`.
    early_request_count: usize,
}

impl Default for ServerState {
    fn default() -> Self {
        Self {
            behaviour: Behaviour::Normal,
            dimensions: 64,
            model: "counting-words".into(),
            key: None,
            synonyms: Vec::new(),
            texts: BTreeMap::new(),
            request_count: 0,
            retry_at: None,
            early_request_count: 0,
        }
    }
}

impl EmbeddingServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let shared = Arc::new(ServerShared::default());
        let server = Self {
            address,
            shared: shared.clone(),
        };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                // An I/O error means that the client has left. The server goes on.
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        server
    }

    /// The value for the setting `embedder.url`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn set_behaviour(&self, behaviour: Behaviour) {
        let mut state = self.shared.lock();
        (state.behaviour, state.retry_at, state.early_request_count) = (behaviour, None, 0);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Answers with vectors of this length from now on.
    pub fn set_dimensions(&self, dimensions: usize) {
        self.shared.lock().dimensions = dimensions;
    }

    /// Answers with this model name from now on.
    pub fn set_model_name(&self, name: &str) {
        name.clone_into(&mut self.shared.lock().model);
    }

    /// Refuses requests without this key from now on.
    pub fn require_key(&self, key: &str) {
        self.shared.lock().key = Some(key.to_owned());
    }

    /// Counts two words as one.
    pub fn add_synonyms(&self, words: [&'static str; 2]) {
        self.shared.lock().synonyms.push(words);
    }

    /// Every text that was embedded, and how often.
    pub fn embedded_texts(&self) -> BTreeMap<String, usize> {
        self.shared.lock().texts.clone()
    }

    pub fn request_count(&self) -> usize {
        self.shared.lock().request_count
    }

    /// Requests since the last change of behaviour that came before an earlier `Retry-After` was over.
    pub fn early_request_count(&self) -> usize {
        self.shared.lock().early_request_count
    }

    /// Waits until `is_done` is true of the embedded texts. `what` names them if the wait fails.
    pub fn wait_until_embedded(&self, what: &str, is_done: impl Fn(&BTreeMap<String, usize>) -> bool) {
        self.wait(what, |state| is_done(&state.texts));
    }

    /// Waits until this many requests have come.
    pub fn wait_for_requests(&self, count: usize) {
        self.wait("requests", |state| state.request_count >= count);
    }

    fn wait(&self, what: &str, is_done: impl Fn(&ServerState) -> bool) {
        let state = self.shared.lock();
        let (state, wait) = self
            .shared
            .changed
            .wait_timeout_while(state, MAX_WAIT, |state| !is_done(state))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!wait.timed_out(), "{what}: {:?}", state.texts.keys());
    }
}

impl ServerShared {
    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let request = EmbeddingRequest::read(&mut BufReader::new(stream.try_clone()?))?;
        let behaviour = self.count_request();
        self.changed.notify_all();
        let behaviour = self.wait_as(behaviour);
        let (status, extra, answer) = if request.is_right_path {
            self.lock()
                .answer(behaviour, request.key.as_deref(), &request.body)
        } else {
            (404, String::new(), json!({ "error": "no such place" }))
        };
        self.changed.notify_all();
        let body = answer.to_string();
        let sent = if behaviour == Behaviour::CutOff {
            &body[..body.len() / 2]
        } else {
            &body
        };
        let head = format!("HTTP/1.1 {status} Some Reason\r\ncontent-type: application/json\r\n");
        let length = format!("content-length: {}\r\n", body.len());
        let mut stream = stream;
        write!(stream, "{head}{length}{extra}connection: close\r\n\r\n{sent}")
    }

    /// Counts a request and returns how it is to be answered.
    fn count_request(&self) -> Behaviour {
        let mut state = self.lock();
        state.request_count += 1;
        if state.retry_at.is_some_and(|at| Instant::now() < at) {
            state.early_request_count += 1;
        }
        match state.behaviour {
            Behaviour::Flaky(every) if state.request_count.is_multiple_of(every) => Behaviour::Unavailable,
            Behaviour::Flaky(_) => Behaviour::Slow(200),
            behaviour => behaviour,
        }
    }

    /// Waits as a blocked or slow server does, and returns how it answers then.
    fn wait_as(&self, behaviour: Behaviour) -> Behaviour {
        match behaviour {
            Behaviour::Blocked => {
                let released = self
                    .changed
                    .wait_while(self.lock(), |state| state.behaviour == Behaviour::Blocked);
                let next = released.unwrap_or_else(PoisonError::into_inner).behaviour;
                self.wait_as(next)
            }
            Behaviour::Slow(milliseconds) => {
                let until = Instant::now() + Duration::from_millis(milliseconds);
                while Instant::now() < until {
                    thread::park_timeout(until.saturating_duration_since(Instant::now()));
                }
                behaviour
            }
            _ => behaviour,
        }
    }
}

/// A request as far as the server reads it.
struct EmbeddingRequest {
    is_right_path: bool,
    key: Option<String>,
    body: Value,
}

impl EmbeddingRequest {
    fn read(reader: &mut impl BufRead) -> std::io::Result<Self> {
        let (mut length, mut key) = (0, None);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let is_right_path = line.starts_with("POST /v1/embeddings ");
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim().split_once(": ") else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap_or_default(),
                "authorization" => key = value.strip_prefix("Bearer ").map(str::to_owned),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Self {
            is_right_path,
            key,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        })
    }
}

impl ServerState {
    fn answer(&mut self, behaviour: Behaviour, key: Option<&str>, request: &Value) -> (u16, String, Value) {
        let error = |message: String| json!({ "error": { "message": message } });
        if self.key.is_some() && self.key.as_deref() != key {
            let message = format!("Incorrect API key provided: {}", key.unwrap_or_default());
            return (401, String::new(), error(message));
        }
        match behaviour {
            Behaviour::RateLimited(seconds) => {
                self.retry_at = Some(Instant::now() + Duration::from_secs(seconds));
                return (
                    429,
                    format!("retry-after: {seconds}\r\n"),
                    error("slow down".into()),
                );
            }
            Behaviour::RefusesAll => return (400, String::new(), error("billing hard limit reached".into())),
            Behaviour::Unavailable => return (503, String::new(), error("overloaded".into())),
            _ => {}
        }
        let texts: Vec<&str> = request["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if behaviour == Behaviour::RefusesOneText && texts.iter().any(|text| text.contains("unspeakable")) {
            return (400, String::new(), error("a text is not acceptable".into()));
        }
        let mut data: Vec<Value> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if behaviour != Behaviour::CutOff {
                *self.texts.entry((*text).to_owned()).or_default() += 1;
            }
            let mut vector = self.vector(text);
            if behaviour == Behaviour::UnevenVectors && index == 0 {
                vector.pop();
            }
            data.push(json!({ "object": "embedding", "index": index, "embedding": vector }));
        }
        if behaviour == Behaviour::UnevenVectors && data.len() == 1 {
            data.push(data[0].clone());
        }
        (
            200,
            String::new(),
            json!({ "object": "list", "model": self.model, "data": data }),
        )
    }

    fn vector(&self, text: &str) -> Vec<f64> {
        let mut vector = vec![0.0; self.dimensions];
        // An empty text has a direction, too: a vector of zeros has no cosine.
        vector[0] = 0.01;
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            let word = word.to_lowercase();
            let pair = self.synonyms.iter().find(|pair| pair.contains(&word.as_str()));
            let word = pair.map_or(word.as_str(), |[first, _]| first);
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            let at = usize::try_from(hasher.finish() % self.dimensions as u64).unwrap_or_default();
            vector[at] += 1.0;
        }
        vector
    }
}
