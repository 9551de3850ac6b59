//! A server that embeds texts in the form that OpenAI has made common, on loopback, and that fails when it is told to.
//!
//! Its vectors count words, so that texts with the same words are near to each other; words that it takes for the same count as
//! one. It remembers every text that it was sent.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
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

/// How it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    #[default]
    Well,
    /// After so many milliseconds.
    Slow(u64),
    /// Not before it is told to be otherwise.
    Held,
    /// HTTP 429, with so many seconds in `Retry-After`.
    Limited(u64),
    Failing,
    /// One vector of each answer is shorter than the others.
    Uneven,
    /// Every answer ends in its middle.
    Dying,
    /// Texts that hold `unspeakable` are refused, and whatever is sent with them.
    Choosy,
    /// Every text is refused, as where nobody has paid.
    Refusing,
    /// Every so many requests one fails at once; the others take a moment.
    Flaky(usize),
}

#[derive(Default)]
struct ServerShared {
    state: Mutex<ServerState>,
    heard: Condvar,
}

struct ServerState {
    mood: Mood,
    dimensions: usize,
    model: String,
    key: Option<String>,
    same: Vec<[&'static str; 2]>,
    /// How often each text was embedded, and how many requests there were.
    texts: BTreeMap<String, usize>,
    requests: usize,
    /// When the last `Retry-After` ends, and how many requests came before that.
    retry_at: Option<Instant>,
    early_requests: usize,
}

impl Default for ServerState {
    fn default() -> Self {
        Self {
            mood: Mood::Well,
            dimensions: 64,
            model: "counting-words".into(),
            key: None,
            same: Vec::new(),
            texts: BTreeMap::new(),
            requests: 0,
            retry_at: None,
            early_requests: 0,
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
                // A client that goes away is no reason to end.
                thread::spawn(move || drop(shared.serve(stream)));
            }
        });
        server
    }

    /// What `embedder.url` is set to.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn be(&self, mood: Mood) {
        let mut state = self.shared.lock();
        (state.mood, state.retry_at, state.early_requests) = (mood, None, 0);
        drop(state);
        self.shared.heard.notify_all();
    }

    /// Gives vectors of so many numbers from now on.
    pub fn give(&self, dimensions: usize) {
        self.shared.lock().dimensions = dimensions;
    }

    /// Calls its model so from now on.
    pub fn call_model(&self, name: &str) {
        name.clone_into(&mut self.shared.lock().model);
    }

    /// Wants this key from now on.
    pub fn want_key(&self, key: &str) {
        self.shared.lock().key = Some(key.to_owned());
    }

    /// Takes two words for the same.
    pub fn equate(&self, words: [&'static str; 2]) {
        self.shared.lock().same.push(words);
    }

    /// Every text that was embedded, with how often.
    pub fn texts(&self) -> BTreeMap<String, usize> {
        self.shared.lock().texts.clone()
    }

    pub fn requests(&self) -> usize {
        self.shared.lock().requests
    }

    /// Requests since the last change of mood that came before the `Retry-After` of an earlier one was over.
    pub fn early_requests(&self) -> usize {
        self.shared.lock().early_requests
    }

    /// Waits until what it has embedded is as wanted.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&BTreeMap<String, usize>) -> bool) {
        self.wait(what, |state| is_so(&state.texts));
    }

    /// Waits until it has had so many requests.
    pub fn wait_for_requests(&self, count: usize) {
        self.wait("requests", |state| state.requests >= count);
    }

    fn wait(&self, what: &str, is_so: impl Fn(&ServerState) -> bool) {
        let state = self.shared.lock();
        let (state, wait) = self
            .shared
            .heard
            .wait_timeout_while(state, MAX_WAIT, |state| !is_so(state))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!wait.timed_out(), "{what}: {:?}", state.texts.keys());
    }
}

impl ServerShared {
    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        let (mut length, mut key) = (0, None);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let is_right = line.starts_with("POST /v1/embeddings ");
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
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        let mut mood = {
            let mut state = self.lock();
            state.requests += 1;
            if state.retry_at.is_some_and(|at| Instant::now() < at) {
                state.early_requests += 1;
            }
            match state.mood {
                Mood::Flaky(every) if state.requests.is_multiple_of(every) => Mood::Failing,
                Mood::Flaky(_) => Mood::Slow(200),
                mood => mood,
            }
        };
        self.heard.notify_all();
        if mood == Mood::Held {
            let released = self
                .heard
                .wait_while(self.lock(), |state| state.mood == Mood::Held);
            mood = released.unwrap_or_else(PoisonError::into_inner).mood;
        }
        if let Mood::Slow(milliseconds) = mood {
            let until = Instant::now() + Duration::from_millis(milliseconds);
            while Instant::now() < until {
                thread::park_timeout(until.saturating_duration_since(Instant::now()));
            }
        }
        let (status, extra, answer) = if is_right {
            self.lock().answer(mood, key.as_deref(), &request)
        } else {
            (404, String::new(), json!({ "error": "no such place" }))
        };
        self.heard.notify_all();
        let body = answer.to_string();
        let shown = if mood == Mood::Dying {
            &body[..body.len() / 2]
        } else {
            &body
        };
        write!(
            stream,
            "HTTP/1.1 {status} Some Reason\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{extra}connection: close\r\n\r\n{shown}",
            body.len()
        )
    }
}

impl ServerState {
    fn answer(&mut self, mood: Mood, key: Option<&str>, request: &Value) -> (u16, String, Value) {
        let error = |message: String| json!({ "error": { "message": message } });
        if self.key.is_some() && self.key.as_deref() != key {
            let said = format!("Incorrect API key provided: {}", key.unwrap_or_default());
            return (401, String::new(), error(said));
        }
        match mood {
            Mood::Limited(seconds) => {
                self.retry_at = Some(Instant::now() + Duration::from_secs(seconds));
                return (
                    429,
                    format!("retry-after: {seconds}\r\n"),
                    error("slow down".into()),
                );
            }
            Mood::Refusing => return (400, String::new(), error("billing hard limit reached".into())),
            Mood::Failing => return (503, String::new(), error("overloaded".into())),
            _ => {}
        }
        let texts: Vec<&str> = request["input"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if mood == Mood::Choosy && texts.iter().any(|text| text.contains("unspeakable")) {
            return (400, String::new(), error("a text is not acceptable".into()));
        }
        let mut data: Vec<Value> = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            if mood != Mood::Dying {
                *self.texts.entry((*text).to_owned()).or_default() += 1;
            }
            let mut vector = self.vector(text);
            if mood == Mood::Uneven && index == 0 {
                vector.pop();
            }
            data.push(json!({ "object": "embedding", "index": index, "embedding": vector }));
        }
        if mood == Mood::Uneven && data.len() == 1 {
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
        // No text points nowhere.
        vector[0] = 0.01;
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            let word = word.to_lowercase();
            let same = self.same.iter().find(|pair| pair.contains(&word.as_str()));
            let word = same.map_or(word.as_str(), |[first, _]| first);
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            let at = usize::try_from(hasher.finish() % self.dimensions as u64).unwrap_or_default();
            vector[at] += 1.0;
        }
        vector
    }
}
