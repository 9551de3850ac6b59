//! A model on a server: asked for what is not known yet, a batch at a time, and left alone while it fails.
//!
//! It orders what words and the built-in table have found; an index does not depend on it. So another model, or none, changes
//! nothing of the index, and what the server does not know yet is ordered as if there were no server.
//!
//! Invariant: no search waits for more than a moment, whatever the server or the disk does.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docent_core::text::redact::redact;
use xxhash_rust::xxh3::xxh3_64;

use super::http::{EmbeddingAnswer, EmbeddingClient, Server, Trouble};
use super::quantized::QuantizedVector;
use super::vector_cache::{CachedVector, Others, Sort, VectorCache};
use crate::clock::Clock;
use crate::deadline::Deadline;

/// How a server is used.
#[derive(Clone, Debug)]
pub struct Use {
    pub server: Server,
    /// Where vectors are kept; without, nothing is asked for, because it would be lost.
    pub folder: Option<PathBuf>,
    /// Texts that are sent at a time.
    pub batch: usize,
    /// What stands before a question, and before what is searched, for models that are to be told which is which.
    pub before_query: String,
    pub before_text: String,
    /// Measures how long a query has waited for its vector.
    pub clock: Clock,
}

/// A model on a server, with what is known of its vectors.
#[derive(Debug)]
pub struct Remote {
    caller: EmbeddingClient,
    before_query: String,
    before_text: String,
    clock: Clock,
    file: Option<PathBuf>,
    /// Searches read, and whoever asks for vectors writes; neither waits for the other.
    reader: Mutex<Option<VectorCache>>,
    writer: Mutex<Option<VectorCache>>,
    health: Mutex<Health>,
    /// Questions that somebody has asked for.
    under_way: Mutex<HashSet<u64>>,
    /// Texts that the server fails on; not sent again by this process.
    set_aside: Mutex<HashSet<u64>>,
    /// Texts that are sent at a time now, and batches that are under way at once: fewer where the server is slow.
    batch: AtomicUsize,
    at_once: AtomicUsize,
}

/// How the server fares.
#[derive(Debug, Default)]
struct Health {
    /// How often in a row it failed.
    failures: u32,
    /// It is left alone from one moment until another, because of this.
    pause: Option<(Instant, Instant, Trouble)>,
    /// Questions go on without it until then, because one took too long.
    unasked: Option<Instant>,
    /// It gave vectors since this process began.
    has_answered: bool,
    /// What is asked for could be kept; nothing is before that is known.
    can_keep: bool,
}

/// A text that needs a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) key: u64,
    pub(crate) text: String,
}

/// How long a question waits for its vector, and a batch for its.
const QUERY_TIMEOUT: Duration = Duration::from_millis(1_500);
const BATCH_TIMEOUT: Duration = Duration::from_mins(1);
/// How long questions go on without a server that took longer.
const SLOW_SERVER_PAUSE: Duration = Duration::from_secs(10);

/// Batches that are under way at a time.
const MAX_CONCURRENT_BATCHES: usize = 4;

/// How long the server is left alone after it failed once; twice as long after each further time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_mins(5);
/// What does not go away by itself is tried again now and then: the user may have mended it.
const LONG_PAUSE: Duration = Duration::from_mins(10);
/// No server may ask for more.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// What every server takes: where it does not, it takes nothing.
const PROBE_TEXT: &str = "docent";

/// Changes with what is sent of a text, so that older vectors are not taken for it.
const TEXT_FORM_VERSION: u32 = 1;

impl Remote {
    pub fn new(r#use: Use) -> Self {
        let Use {
            mut server,
            folder,
            batch,
            before_query,
            before_text,
            clock,
        } = r#use;
        server.url.truncate(server.url.trim_end_matches('/').len());
        let name: String = server
            .model
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        // Whatever changes the vector of a text makes another file.
        let sort = format!(
            "{TEXT_FORM_VERSION}\0{}\0{}\0{:?}\0{before_text}",
            server.url, server.model, server.dimensions
        );
        let file = folder.map(|folder| folder.join(format!("{name}-{:016x}.db", xxh3_64(sort.as_bytes()))));
        Self {
            caller: EmbeddingClient::new(server),
            before_query,
            before_text,
            clock,
            file,
            reader: Mutex::default(),
            writer: Mutex::default(),
            health: Mutex::default(),
            under_way: Mutex::default(),
            set_aside: Mutex::default(),
            batch: AtomicUsize::new(batch),
            at_once: AtomicUsize::new(MAX_CONCURRENT_BATCHES),
        }
    }

    pub fn server(&self) -> &Server {
        &self.caller.server
    }

    /// Where its vectors are kept.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// How many vectors are kept.
    pub fn count(&self) -> Result<u64, Trouble> {
        self.read(VectorCache::count)
    }

    /// What is wrong with the server, and for how long it is left alone because of it.
    pub fn trouble(&self) -> Option<(Trouble, Duration)> {
        let health = lock(&self.health);
        let (_, until, trouble) = health.pause.as_ref()?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| (trouble.clone(), left))
    }

    /// Asks for one vector, for who wants to know whether it works; says how many numbers it has.
    pub fn probe(&self) -> Result<usize, Trouble> {
        let answer = self.caller.embed(&[PROBE_TEXT], BATCH_TIMEOUT)?;
        Ok(answer.vectors.first().map_or(0, QuantizedVector::dimensions))
    }

    /// The vector of a question, within a moment. One that takes longer is kept for the next time.
    pub(crate) fn query(
        self: &Arc<Self>,
        query: &str,
        deadline: &Deadline,
    ) -> Result<QuantizedVector, Trouble> {
        const STEP: Duration = Duration::from_millis(10);
        let text = Text {
            key: xxh3_64(format!("query\0{}\0{query}", self.before_query).as_bytes()),
            text: format!("{}{}", self.before_query, redact(query)),
        };
        let key = text.key;
        let known = || -> Result<Option<QuantizedVector>, Trouble> {
            match self.read(|kept| kept.get(key))? {
                Some(CachedVector::Vector(vector)) => Ok(Some(vector)),
                Some(CachedVector::Refused) | None => Ok(None),
            }
        };
        if let Some(vector) = known()? {
            return Ok(vector);
        }
        if let Some((trouble, _)) = self.trouble() {
            return Err(trouble);
        }
        if lock(&self.health)
            .unasked
            .is_some_and(|until| until > Instant::now())
        {
            return Err(Trouble::Slow);
        }
        // Who asks the same meanwhile waits for the same answer.
        if lock(&self.under_way).insert(key) {
            let remote = self.clone();
            let ask = move || {
                let started = Instant::now();
                let asked = remote.caller.embed(&[&text.text], BATCH_TIMEOUT);
                let outcome =
                    asked.and_then(|answer| remote.take(std::slice::from_ref(&text), answer, started));
                if let Err(trouble) = outcome {
                    remote.failed(&trouble);
                }
                lock(&remote.under_way).remove(&key);
            };
            if thread::Builder::new().name("query".into()).spawn(ask).is_err() {
                lock(&self.under_way).remove(&key);
                return Err(Trouble::Slow);
            }
        }
        let waited = self.clock.stopwatch();
        loop {
            thread::park_timeout(STEP);
            if !lock(&self.under_way).contains(&key) {
                let trouble = || self.trouble().map_or(Trouble::Slow, |(trouble, _)| trouble);
                return known()?.ok_or_else(trouble);
            }
            if waited.elapsed() > QUERY_TIMEOUT || deadline.check().is_err() {
                lock(&self.health).unasked = Some(Instant::now() + SLOW_SERVER_PAUSE);
                return Err(Trouble::Slow);
            }
        }
    }

    /// How near each of these is to a vector, nothing where that is not known; and how many may be known later.
    pub(crate) fn similarity(
        &self,
        to: &QuantizedVector,
        keys: &[u64],
    ) -> Result<(Vec<Option<f32>>, usize), Trouble> {
        self.read(|kept| {
            let mut unknown = 0;
            let mut near = Vec::with_capacity(keys.len());
            for key in keys {
                near.push(match kept.get(*key)? {
                    Some(CachedVector::Vector(vector)) => vector.similarity(to),
                    Some(CachedVector::Refused) => None,
                    None => {
                        unknown += 1;
                        None
                    }
                });
            }
            Ok((near, unknown))
        })
    }

    /// Changes when all vectors have to be asked for anew, whichever process has found that out.
    pub(crate) fn epoch(&self) -> Result<u64, Trouble> {
        self.read(VectorCache::epoch)
    }

    /// Those that have no vector yet, and are not set aside.
    pub(crate) fn missing(&self, texts: Vec<Text>) -> Result<Vec<Text>, Trouble> {
        let set_aside = lock(&self.set_aside).clone();
        self.read(|kept| {
            let mut missing = Vec::new();
            for text in texts {
                if !set_aside.contains(&text.key) && kept.get(text.key)?.is_none() {
                    missing.push(text);
                }
            }
            Ok(missing)
        })
    }

    /// Whether all of these are known.
    pub(crate) fn knows(&self, keys: &[u64]) -> Result<bool, Trouble> {
        self.read(|kept| {
            for key in keys {
                if kept.get(*key)?.is_none() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// Files that have all their vectors.
    pub(crate) fn files(&self) -> Result<HashSet<u64>, Trouble> {
        self.read(VectorCache::files)
    }

    /// Notes that a file has all its vectors, unless they have had to go meanwhile.
    pub(crate) fn add_file(&self, key: u64, epoch: u64) -> Result<(), Trouble> {
        self.write(|kept| kept.add_file(key, epoch))
    }

    /// How many texts are asked for at a time.
    pub(crate) fn most(&self) -> usize {
        self.batch.load(Ordering::Relaxed) * self.at_once.load(Ordering::Relaxed)
    }

    /// Asks for the vectors of texts, and keeps them. What was kept stays, whatever goes wrong with the rest. Only one process
    /// asks at a time, so that none pays for what another is about to get.
    pub(crate) fn fill(&self, texts: Vec<Text>) -> Result<(), Trouble> {
        self.caller.key()?;
        let _lock = self.lock()?;
        self.prove()?;
        let mut texts = self.missing(texts)?;
        texts.sort_unstable_by_key(|text| text.key);
        texts.dedup_by_key(|text| text.key);
        for text in &mut texts {
            text.text.insert_str(0, &self.before_text);
        }
        let batches: Vec<&[Text]> = texts.chunks(self.batch.load(Ordering::Relaxed)).collect();
        for some in batches.chunks(self.at_once.load(Ordering::Relaxed)) {
            let outcomes: Vec<Result<(), Trouble>> = thread::scope(|scope| {
                let asked: Vec<_> = some.iter().map(|batch| scope.spawn(|| self.ask(batch))).collect();
                asked
                    .into_iter()
                    .map(|asked| asked.join().unwrap_or(Err(Trouble::Slow)))
                    .collect()
            });
            outcomes.into_iter().collect::<Result<(), Trouble>>()?;
        }
        Ok(())
    }

    /// Asks for a batch and keeps it.
    fn ask(&self, texts: &[Text]) -> Result<(), Trouble> {
        let outcome = self.ask_in_parts(texts, false);
        if let Err(trouble) = &outcome {
            if *trouble == Trouble::Slow {
                // It may be slow rather than dead.
                let half = (texts.len() / 2).max(1);
                self.batch.fetch_min(half, Ordering::Relaxed);
                self.at_once.store(1, Ordering::Relaxed);
            }
            self.failed(trouble);
        }
        outcome
    }

    /// What the server does not take, or fails on, is asked for in halves, until it is known which text it is. A server that takes
    /// nothing else either has another trouble than a text.
    fn ask_in_parts(&self, texts: &[Text], takes_others: bool) -> Result<(), Trouble> {
        let started = Instant::now();
        let plain: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        let trouble = match self.caller.embed(&plain, BATCH_TIMEOUT) {
            Ok(answer) => return self.take(texts, answer, started),
            Err(trouble) => trouble,
        };
        let is_refused = matches!(trouble, Trouble::Refused(400 | 413 | 422, _));
        let may_be_a_text = is_refused || matches!(trouble, Trouble::Failing(500) | Trouble::Odd(_));
        if !may_be_a_text || !(takes_others || self.probe().is_ok()) {
            return Err(trouble);
        }
        if let [one] = texts {
            if is_refused {
                return self.write(|kept| kept.refuse(one.key));
            }
            lock(&self.set_aside).insert(one.key);
            return Ok(());
        }
        let (one, other) = texts.split_at(texts.len() / 2);
        self.ask_in_parts(one, true)?;
        self.ask_in_parts(other, true)
    }

    fn take(&self, texts: &[Text], answer: EmbeddingAnswer, started: Instant) -> Result<(), Trouble> {
        let Some(first) = answer.vectors.first() else {
            return Ok(());
        };
        let sort = Sort {
            dimensions: first.dimensions(),
            model: answer.model,
        };
        let vectors: Vec<(u64, QuantizedVector)> =
            texts.iter().map(|text| text.key).zip(answer.vectors).collect();
        // A server that was changed while docent was away has another model; one that changes now is out of order.
        let others = if lock(&self.health).has_answered {
            Others::Reject
        } else {
            Others::Replace
        };
        self.write(|kept| kept.add(&vectors, &sort, others))?;
        let mut health = lock(&self.health);
        health.has_answered = true;
        // What failed after this was asked for is not mended by it.
        if health.pause.as_ref().is_none_or(|(began, ..)| *began < started) {
            health.failures = 0;
            health.pause = None;
            health.unasked = None;
        }
        Ok(())
    }

    /// Leaves the server alone for as long as the trouble asks for.
    fn failed(&self, trouble: &Trouble) {
        let mut health = lock(&self.health);
        let now = Instant::now();
        // Several at once fail together, and are one failure.
        if health.pause.as_ref().is_none_or(|(_, until, _)| *until <= now) {
            health.failures += 1;
        }
        let step = FIRST_PAUSE
            .saturating_mul(1 << (health.failures - 1).min(12))
            .min(MAX_PAUSE);
        let pause = match trouble {
            Trouble::Limited(Some(wait)) => (*wait).min(MAX_RETRY_AFTER).max(step),
            trouble if trouble.is_passing() => step,
            _ => LONG_PAUSE,
        };
        health.can_keep &= !matches!(trouble, Trouble::Unkept(_));
        let until = now + pause;
        if health.pause.as_ref().is_none_or(|(_, before, _)| *before < until) {
            health.pause = Some((now, until, trouble.clone()));
        }
    }

    /// Makes sure, in the beginning and after it could not be done, that what will be paid for can be kept.
    fn prove(&self) -> Result<(), Trouble> {
        const ROOM: usize = 2 << 20;
        if !lock(&self.health).can_keep {
            let proven = self.write(|kept| kept.prove(ROOM));
            proven.inspect_err(|trouble| self.failed(trouble))?;
            lock(&self.health).can_keep = true;
        }
        Ok(())
    }

    fn read<T>(&self, work: impl FnOnce(&VectorCache) -> Result<T, Trouble>) -> Result<T, Trouble> {
        self.with(&self.reader, Duration::from_millis(200), |kept| work(kept))
    }

    fn write<T>(&self, work: impl FnOnce(&mut VectorCache) -> Result<T, Trouble>) -> Result<T, Trouble> {
        self.with(&self.writer, Duration::from_secs(5), work)
    }

    fn with<T>(
        &self,
        connection: &Mutex<Option<VectorCache>>,
        patience: Duration,
        work: impl FnOnce(&mut VectorCache) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut kept = lock(connection);
        let opened = match &mut *kept {
            Some(opened) => opened,
            none => none.insert(VectorCache::open(self.place()?, patience)?),
        };
        work(opened)
    }

    fn place(&self) -> Result<&Path, Trouble> {
        let file = self.file.as_deref();
        file.ok_or_else(|| Trouble::Unkept("there is no directory for caches".into()))
    }

    /// Waits until no other process asks for vectors of this model.
    fn lock(&self) -> Result<File, Trouble> {
        // It makes the directory, too.
        self.write(|_| Ok(()))?;
        let file = self.place()?.with_extension("lock");
        let locked = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&file)
            .and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| Trouble::Unkept(format!("{}: {error}", file.display())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trouble {
    /// Whether waiting may help.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Slow | Self::Limited(_) | Self::Failing(_) | Self::Busy
        )
    }
}
