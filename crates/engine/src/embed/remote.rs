//! An embedding model on a server: sends it the texts that have no cached vector, in batches, and pauses
//! while it fails.
//!
//! Its vectors only rerank candidates; no index depends on them. So another model, or none, leaves the index
//! as it is, and candidates without a vector are ordered as if there were no server.
//!
//! Invariant: no search waits longer than [`QUERY_TIMEOUT`], whatever the server or the disk does.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docent_core::text::redact::redact;
use xxhash_rust::xxh3::xxh3_64;

use super::http::{EmbeddingAnswer, EmbeddingClient, EmbeddingError, Server};
use super::quantized::QuantizedVector;
use super::vector_cache::{CachedVector, ModelSignature, OnModelChange, VectorCache};
use crate::clock::Clock;
use crate::deadline::Deadline;

/// A server, and how it is used.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    pub server: Server,
    /// Directory of the vector cache. Without one no request is sent, because its vectors would be lost.
    pub folder: Option<PathBuf>,
    /// Texts per request.
    pub batch: usize,
    /// Prefixes of queries and of indexed texts, for models that tell the two apart by them.
    pub query_prefix: String,
    pub text_prefix: String,
    /// Measures how long a query has waited for its vector.
    pub clock: Clock,
}

/// A model on a server, with its cached vectors.
#[derive(Debug)]
pub struct Remote {
    client: EmbeddingClient,
    query_prefix: String,
    text_prefix: String,
    clock: Clock,
    file: Option<PathBuf>,
    /// Two connections, so that a search does not wait for a batch that is being written.
    reader: Mutex<Option<VectorCache>>,
    writer: Mutex<Option<VectorCache>>,
    health: Mutex<Health>,
    /// Keys of the queries that were sent and not answered yet.
    pending_queries: Mutex<HashSet<u64>>,
    /// Keys of texts that the server fails on. This process does not send them again.
    failing_texts: Mutex<HashSet<u64>>,
    /// Texts per request, and requests at a time. Both are lowered if the server is slow.
    batch_size: AtomicUsize,
    concurrency: AtomicUsize,
}

/// The state of the server, as this process has seen it.
#[derive(Debug, Default)]
struct Health {
    /// Failures in a row.
    failures: u32,
    pause: Option<Pause>,
    /// Queries skip the server until then, because one took too long.
    skip_queries_until: Option<Instant>,
    /// It gave vectors since this process started.
    has_answered: bool,
    /// The cache was written successfully. No text is sent before that, because its vector might be lost.
    can_store: bool,
}

/// A time in which no request is sent.
#[derive(Debug)]
struct Pause {
    start: Instant,
    end: Instant,
    reason: EmbeddingError,
}

/// A text that needs a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) key: u64,
    pub(crate) text: String,
}

/// How long a query waits for its vector, and a batch for its answer.
const QUERY_TIMEOUT: Duration = Duration::from_millis(1_500);
const BATCH_TIMEOUT: Duration = Duration::from_mins(1);
/// How long queries skip a server that took longer than that.
const SLOW_SERVER_PAUSE: Duration = Duration::from_secs(10);

/// Requests that are sent at a time.
const MAX_CONCURRENT_BATCHES: usize = 4;

/// Pause after the first failure. It doubles with each further one, up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_mins(5);
/// Pause after an error that waiting does not mend, a rejected key for example. The user may mend it
/// meanwhile.
const LONG_PAUSE: Duration = Duration::from_mins(10);
/// Upper bound for the `Retry-After` of a server.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// A text that every model accepts. If a server refuses it, the reason is not the text.
const PROBE_TEXT: &str = "docent";

/// To be raised when texts are sent in another form, so that cached vectors of the old form are not used.
const TEXT_FORM_VERSION: u32 = 1;

impl Remote {
    pub fn new(options: RemoteOptions) -> Self {
        let RemoteOptions {
            mut server,
            folder,
            batch,
            query_prefix,
            text_prefix,
            clock,
        } = options;
        server.url.truncate(server.url.trim_end_matches('/').len());
        let name: String = server
            .model
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        // Everything that changes the vector of a text is part of the file name.
        let identity = format!(
            "{TEXT_FORM_VERSION}\0{}\0{}\0{:?}\0{text_prefix}",
            server.url, server.model, server.dimensions
        );
        let file =
            folder.map(|folder| folder.join(format!("{name}-{:016x}.db", xxh3_64(identity.as_bytes()))));
        Self {
            client: EmbeddingClient::new(server),
            query_prefix,
            text_prefix,
            clock,
            file,
            reader: Mutex::default(),
            writer: Mutex::default(),
            health: Mutex::default(),
            pending_queries: Mutex::default(),
            failing_texts: Mutex::default(),
            batch_size: AtomicUsize::new(batch),
            concurrency: AtomicUsize::new(MAX_CONCURRENT_BATCHES),
        }
    }

    pub fn server(&self) -> &Server {
        &self.client.server
    }

    /// The database of its vectors.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// How many vectors are cached.
    pub fn count(&self) -> Result<u64, EmbeddingError> {
        self.read(VectorCache::count)
    }

    /// Why no request is sent at the moment, and for how much longer.
    pub fn pause_reason(&self) -> Option<(EmbeddingError, Duration)> {
        let health = lock(&self.health);
        let pause = health.pause.as_ref()?;
        let left = pause.end.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| (pause.reason.clone(), left))
    }

    /// Requests one vector, to see whether the server works. Returns its number of dimensions.
    pub fn probe(&self) -> Result<usize, EmbeddingError> {
        let answer = self.client.embed(&[PROBE_TEXT], BATCH_TIMEOUT)?;
        Ok(answer.vectors.first().map_or(0, QuantizedVector::dimensions))
    }

    /// The vector of a query. If it takes longer than [`QUERY_TIMEOUT`], it is cached for the next time.
    pub(crate) fn query(
        self: &Arc<Self>,
        query: &str,
        deadline: &Deadline,
    ) -> Result<QuantizedVector, EmbeddingError> {
        const STEP: Duration = Duration::from_millis(10);
        let text = Text {
            key: xxh3_64(format!("query\0{}\0{query}", self.query_prefix).as_bytes()),
            text: format!("{}{}", self.query_prefix, redact(query)),
        };
        let key = text.key;
        let cached = || -> Result<Option<QuantizedVector>, EmbeddingError> {
            match self.read(|cache| cache.get(key))? {
                Some(CachedVector::Vector(vector)) => Ok(Some(vector)),
                Some(CachedVector::Refused) | None => Ok(None),
            }
        };
        if let Some(vector) = cached()? {
            return Ok(vector);
        }
        if let Some((reason, _)) = self.pause_reason() {
            return Err(reason);
        }
        if lock(&self.health)
            .skip_queries_until
            .is_some_and(|until| until > Instant::now())
        {
            return Err(EmbeddingError::Slow);
        }
        // A second call with the same query waits for the same answer.
        if lock(&self.pending_queries).insert(key) {
            let remote = self.clone();
            let request = move || {
                let started = Instant::now();
                let answer = remote.client.embed(&[&text.text], BATCH_TIMEOUT);
                let outcome =
                    answer.and_then(|answer| remote.store(std::slice::from_ref(&text), answer, started));
                if let Err(error) = outcome {
                    remote.pause_after(&error);
                }
                lock(&remote.pending_queries).remove(&key);
            };
            if thread::Builder::new()
                .name("query".into())
                .spawn(request)
                .is_err()
            {
                lock(&self.pending_queries).remove(&key);
                return Err(EmbeddingError::Slow);
            }
        }
        let waited = self.clock.stopwatch();
        loop {
            thread::park_timeout(STEP);
            if !lock(&self.pending_queries).contains(&key) {
                let reason = || {
                    self.pause_reason()
                        .map_or(EmbeddingError::Slow, |(reason, _)| reason)
                };
                return cached()?.ok_or_else(reason);
            }
            if waited.elapsed() > QUERY_TIMEOUT || deadline.check().is_err() {
                lock(&self.health).skip_queries_until = Some(Instant::now() + SLOW_SERVER_PAUSE);
                return Err(EmbeddingError::Slow);
            }
        }
    }

    /// The similarity of each of these texts to a vector, `None` without a cached vector; and how many texts
    /// were not sent yet.
    pub(crate) fn similarity(
        &self,
        to: &QuantizedVector,
        keys: &[u64],
    ) -> Result<(Vec<Option<f32>>, usize), EmbeddingError> {
        self.read(|cache| {
            let mut unknown = 0;
            let mut similarities = Vec::with_capacity(keys.len());
            for key in keys {
                similarities.push(match cache.get(*key)? {
                    Some(CachedVector::Vector(vector)) => vector.similarity(to),
                    Some(CachedVector::Refused) => None,
                    None => {
                        unknown += 1;
                        None
                    }
                });
            }
            Ok((similarities, unknown))
        })
    }

    /// A number that changes when any process has deleted all vectors, so that they have to be requested
    /// again.
    pub(crate) fn epoch(&self) -> Result<u64, EmbeddingError> {
        self.read(VectorCache::epoch)
    }

    /// The texts that have no vector yet, without those that the server fails on.
    pub(crate) fn missing(&self, texts: Vec<Text>) -> Result<Vec<Text>, EmbeddingError> {
        let failing = lock(&self.failing_texts).clone();
        self.read(|cache| {
            let mut missing = Vec::new();
            for text in texts {
                if !failing.contains(&text.key) && cache.get(text.key)?.is_none() {
                    missing.push(text);
                }
            }
            Ok(missing)
        })
    }

    /// Whether all of these texts have a cached answer.
    pub(crate) fn knows(&self, keys: &[u64]) -> Result<bool, EmbeddingError> {
        self.read(|cache| {
            for key in keys {
                if cache.get(*key)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// The files whose vectors are complete.
    pub(crate) fn files(&self) -> Result<HashSet<u64>, EmbeddingError> {
        self.read(VectorCache::files)
    }

    /// Notes that the vectors of a file are complete, unless vectors were deleted since that epoch.
    pub(crate) fn add_file(&self, key: u64, epoch: u64) -> Result<(), EmbeddingError> {
        self.write(|cache| cache.add_file(key, epoch))
    }

    /// How many texts are sent at a time, in all requests.
    pub(crate) fn most(&self) -> usize {
        self.batch_size.load(Ordering::Relaxed) * self.concurrency.load(Ordering::Relaxed)
    }

    /// Requests the vectors of texts, and caches them. An error leaves the batches before it in the cache.
    /// Only one process sends requests at a time, so that none pays for vectors that another is about to
    /// receive.
    pub(crate) fn fill(&self, texts: Vec<Text>) -> Result<(), EmbeddingError> {
        self.client.key()?;
        let _lock = self.lock()?;
        self.check_storage()?;
        let mut texts = self.missing(texts)?;
        texts.sort_unstable_by_key(|text| text.key);
        texts.dedup_by_key(|text| text.key);
        for text in &mut texts {
            text.text.insert_str(0, &self.text_prefix);
        }
        let batches: Vec<&[Text]> = texts.chunks(self.batch_size.load(Ordering::Relaxed)).collect();
        for group in batches.chunks(self.concurrency.load(Ordering::Relaxed)) {
            let outcomes: Vec<Result<(), EmbeddingError>> = thread::scope(|scope| {
                let requests: Vec<_> = group
                    .iter()
                    .map(|batch| scope.spawn(|| self.fetch_batch(batch)))
                    .collect();
                requests
                    .into_iter()
                    .map(|request| request.join().unwrap_or(Err(EmbeddingError::Slow)))
                    .collect()
            });
            outcomes.into_iter().collect::<Result<(), EmbeddingError>>()?;
        }
        Ok(())
    }

    /// Requests a batch and caches it.
    fn fetch_batch(&self, texts: &[Text]) -> Result<(), EmbeddingError> {
        let outcome = self.fetch_or_bisect(texts, false);
        if let Err(error) = &outcome {
            if *error == EmbeddingError::Slow {
                // The server may be slow rather than dead: smaller requests can succeed.
                let half = (texts.len() / 2).max(1);
                self.batch_size.fetch_min(half, Ordering::Relaxed);
                self.concurrency.store(1, Ordering::Relaxed);
            }
            self.pause_after(error);
        }
        outcome
    }

    /// Requests a batch. If the server refuses it or fails on it, the batch is bisected until the text is
    /// found that is the reason. A server that refuses [`PROBE_TEXT`] too has another problem than a text.
    fn fetch_or_bisect(&self, texts: &[Text], accepts_others: bool) -> Result<(), EmbeddingError> {
        let started = Instant::now();
        let plain: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let error = match self.client.embed(&plain, BATCH_TIMEOUT) {
            Ok(answer) => return self.store(texts, answer, started),
            Err(error) => error,
        };
        let is_refused = matches!(error, EmbeddingError::Refused(400 | 413 | 422, _));
        let may_be_a_text = is_refused
            || matches!(
                error,
                EmbeddingError::Failing(500) | EmbeddingError::UnexpectedAnswer(_)
            );
        if !may_be_a_text || !(accepts_others || self.probe().is_ok()) {
            return Err(error);
        }
        if let [one] = texts {
            if is_refused {
                return self.write(|cache| cache.add_refused(one.key));
            }
            lock(&self.failing_texts).insert(one.key);
            return Ok(());
        }
        let (one, other) = texts.split_at(texts.len() / 2);
        self.fetch_or_bisect(one, true)?;
        self.fetch_or_bisect(other, true)
    }

    /// Caches an answer. `started` is the time of its request.
    fn store(&self, texts: &[Text], answer: EmbeddingAnswer, started: Instant) -> Result<(), EmbeddingError> {
        let Some(first) = answer.vectors.first() else {
            return Ok(());
        };
        let signature = ModelSignature {
            dimensions: first.dimensions(),
            model: answer.model,
        };
        let vectors: Vec<(u64, QuantizedVector)> =
            texts.iter().map(|text| text.key).zip(answer.vectors).collect();
        // A model that differs at start-up was changed by the user. One that differs in between is a fault.
        let on_change = if lock(&self.health).has_answered {
            OnModelChange::Reject
        } else {
            OnModelChange::Replace
        };
        self.write(|cache| cache.add(&vectors, &signature, on_change))?;
        let mut health = lock(&self.health);
        health.has_answered = true;
        // An answer to an older request does not end a pause that began after it.
        if health.pause.as_ref().is_none_or(|pause| pause.start < started) {
            health.failures = 0;
            health.pause = None;
            health.skip_queries_until = None;
        }
        Ok(())
    }

    /// Starts a pause whose length depends on the error and on the failures before it.
    fn pause_after(&self, error: &EmbeddingError) {
        let mut health = lock(&self.health);
        let now = Instant::now();
        // Concurrent requests fail together. They count as one failure.
        if health.pause.as_ref().is_none_or(|pause| pause.end <= now) {
            health.failures += 1;
        }
        let step = FIRST_PAUSE
            .saturating_mul(1 << (health.failures - 1).min(12))
            .min(MAX_PAUSE);
        let length = match error {
            EmbeddingError::RateLimited(Some(wait)) => (*wait).min(MAX_RETRY_AFTER).max(step),
            error if error.is_temporary() => step,
            _ => LONG_PAUSE,
        };
        health.can_store &= !matches!(error, EmbeddingError::CannotStore(_));
        let end = now + length;
        if health.pause.as_ref().is_none_or(|pause| pause.end < end) {
            health.pause = Some(Pause {
                start: now,
                end,
                reason: error.clone(),
            });
        }
    }

    /// Tests, at first and after each failure, that the cache can be written: the vectors may cost money.
    fn check_storage(&self) -> Result<(), EmbeddingError> {
        const TEST_BYTES: usize = 2 << 20;
        if !lock(&self.health).can_store {
            let written = self.write(|cache| cache.test_write(TEST_BYTES));
            written.inspect_err(|error| self.pause_after(error))?;
            lock(&self.health).can_store = true;
        }
        Ok(())
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&mut VectorCache) -> Result<T, EmbeddingError>,
    ) -> Result<T, EmbeddingError> {
        self.with(&self.reader, Duration::from_millis(200), work)
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&mut VectorCache) -> Result<T, EmbeddingError>,
    ) -> Result<T, EmbeddingError> {
        self.with(&self.writer, Duration::from_secs(5), work)
    }

    fn with<T>(
        &self,
        connection: &Mutex<Option<VectorCache>>,
        busy_timeout: Duration,
        work: impl FnOnce(&mut VectorCache) -> Result<T, EmbeddingError>,
    ) -> Result<T, EmbeddingError> {
        let mut cache = lock(connection);
        let opened = match &mut *cache {
            Some(opened) => opened,
            none => none.insert(VectorCache::open(self.cache_file()?.to_owned(), busy_timeout)?),
        };
        work(opened)
    }

    fn cache_file(&self) -> Result<&Path, EmbeddingError> {
        let file = self.file.as_deref();
        file.ok_or_else(|| EmbeddingError::CannotStore("there is no directory for caches".into()))
    }

    /// Waits until no other process requests vectors of this model.
    fn lock(&self) -> Result<File, EmbeddingError> {
        // Opening the cache creates its directory.
        self.write(|_| Ok(()))?;
        let file = self.cache_file()?.with_extension("lock");
        let locked = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&file)
            .and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| EmbeddingError::CannotStore(format!("{}: {error}", file.display())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EmbeddingError {
    /// Whether waiting may help.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Slow | Self::RateLimited(_) | Self::Failing(_) | Self::Busy
        )
    }
}
