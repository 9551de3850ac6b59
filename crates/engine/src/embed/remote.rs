//! A model on a server: asked for what is not known yet, a batch at a time, and left alone while it fails.
//!
//! It orders what words and the built-in table have found; an index does not depend on it. So another model, or none, changes
//! nothing of the index, and what the server does not know yet is ordered as if there were no server.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use docent_core::redact::redact;
use xxhash_rust::xxh3::xxh3_64;

use super::direction::Direction;
use super::http::{Answer, Server, Trouble};
use super::kept::{Kept, Known, Others, Sort};
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
}

/// A model on a server, with what is known of its vectors.
#[derive(Debug)]
pub struct Remote {
    r#use: Use,
    file: Option<PathBuf>,
    kept: Mutex<Option<Kept>>,
    health: Mutex<Health>,
    /// The server gave vectors since this process began.
    accepted: AtomicBool,
    renewals: AtomicU64,
}

/// How the server fares.
#[derive(Debug, Default)]
struct Health {
    /// How often in a row it failed.
    failures: u32,
    /// It is left alone until then, because of this.
    pause: Option<(Instant, Trouble)>,
}

/// A text that needs a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) key: u64,
    pub(crate) text: String,
}

/// How long a question waits for its vector, and a batch for its.
const PATIENCE: Duration = Duration::from_millis(1_500);
const LONGEST: Duration = Duration::from_mins(1);

/// Batches that are under way at a time.
const AT_ONCE: usize = 4;

/// How long the server is left alone after it failed once; twice as long after each further time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);
/// What does not go away by itself is tried again now and then: the user may have mended it.
const LONG_PAUSE: Duration = Duration::from_mins(10);
/// No server may ask for more.
const MOST_WAIT: Duration = Duration::from_hours(1);

impl Remote {
    pub fn new(r#use: Use) -> Self {
        let server = &r#use.server;
        let name: String = server
            .model
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(60)
            .collect();
        // Whatever changes a vector makes another file.
        let sort = format!(
            "{}\0{}\0{:?}\0{}\0{}",
            server.url, server.model, server.dimensions, r#use.before_query, r#use.before_text
        );
        let file = r#use
            .folder
            .as_ref()
            .map(|folder| folder.join(format!("{name}-{:016x}.db", xxh3_64(sort.as_bytes()))));
        Self {
            r#use,
            file,
            kept: Mutex::default(),
            health: Mutex::default(),
            accepted: AtomicBool::new(false),
            renewals: AtomicU64::new(0),
        }
    }

    pub fn server(&self) -> &Server {
        &self.r#use.server
    }

    /// Where its vectors are kept.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// How many vectors are kept.
    pub fn count(&self) -> Result<u64, Trouble> {
        self.with_kept(|kept| kept.count())
    }

    /// What is wrong with the server, and for how long it is left alone because of it.
    pub fn trouble(&self) -> Option<(Trouble, Duration)> {
        let health = self.health();
        let (until, trouble) = health.pause.as_ref()?;
        let left = until.saturating_duration_since(Instant::now());
        (!left.is_zero()).then(|| (trouble.clone(), left))
    }

    /// Asks for one vector and takes no time to speak of where it works: for who wants to know whether it does.
    pub fn probe(&self) -> Result<usize, Trouble> {
        let answer = self.r#use.server.embed(&["docent"], LONGEST)?;
        Ok(answer.vectors.first().map_or(0, Direction::dimensions))
    }

    /// The vector of a question, within a moment. One that takes longer is kept for the next time.
    pub(crate) fn query(self: &Arc<Self>, query: &str, deadline: &Deadline) -> Result<Direction, Trouble> {
        const STEP: Duration = Duration::from_millis(20);
        let text = Text {
            key: xxh3_64(format!("query\0{query}").as_bytes()),
            text: format!("{}{query}", self.r#use.before_query),
        };
        if let Some(known) = self.with_kept(|kept| kept.get(text.key))? {
            return match known {
                Known::Vector(vector) => Ok(vector),
                Known::Refused => Err(Trouble::Refused(
                    400,
                    "it did not take this question before".into(),
                )),
            };
        }
        if let Some((trouble, _)) = self.trouble() {
            return Err(trouble);
        }
        let (tell, told) = channel();
        let remote = self.clone();
        let ask = move || {
            let outcome = remote
                .ask(std::slice::from_ref(&text))
                .and_then(|()| remote.with_kept(|kept| kept.get(text.key)));
            // Whoever asked may have gone on without.
            let _ = tell.send(outcome);
        };
        if thread::Builder::new().name("query".into()).spawn(ask).is_err() {
            return Err(Trouble::Slow);
        }
        let until = Instant::now() + PATIENCE;
        loop {
            match told.recv_timeout(STEP) {
                Ok(Ok(Some(Known::Vector(vector)))) => return Ok(vector),
                Ok(Err(trouble)) => return Err(trouble),
                Ok(Ok(_)) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(Trouble::Odd("no vector".into()));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() > until || deadline.check().is_err() => {
                    return Err(Trouble::Slow);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// How near each of these is to a vector, nothing where that is not known; and how many may be known later.
    pub(crate) fn nearness(
        &self,
        to: &Direction,
        keys: &[u64],
    ) -> Result<(Vec<Option<f32>>, usize), Trouble> {
        self.with_kept(|kept| {
            let mut unknown = 0;
            let mut near = Vec::with_capacity(keys.len());
            for key in keys {
                near.push(match kept.get(*key)? {
                    Some(Known::Vector(vector)) => vector.nearness(to),
                    Some(Known::Refused) => None,
                    None => {
                        unknown += 1;
                        None
                    }
                });
            }
            Ok((near, unknown))
        })
    }

    /// How often all vectors had to be asked for anew.
    pub(crate) fn renewals(&self) -> u64 {
        self.renewals.load(Ordering::Relaxed)
    }

    /// Those that have no vector yet.
    pub(crate) fn missing(&self, texts: Vec<Text>) -> Result<Vec<Text>, Trouble> {
        self.with_kept(|kept| {
            let mut missing = Vec::new();
            for text in texts {
                if kept.get(text.key)?.is_none() {
                    missing.push(text);
                }
            }
            Ok(missing)
        })
    }

    /// Files that have all their vectors.
    pub(crate) fn files(&self) -> Result<std::collections::HashSet<u64>, Trouble> {
        self.with_kept(|kept| kept.files())
    }

    pub(crate) fn add_file(&self, key: u64) -> Result<(), Trouble> {
        self.with_kept(|kept| kept.add_file(key))
    }

    /// How many texts are asked for at a time.
    pub(crate) fn most(&self) -> usize {
        self.r#use.batch * AT_ONCE
    }

    /// Asks for the vectors of texts, and keeps them. What was kept stays, whatever goes wrong with the rest. Only one process
    /// asks at a time, so that none pays for what another is about to get.
    pub(crate) fn fill(&self, texts: Vec<Text>) -> Result<(), Trouble> {
        let _lock = self.lock()?;
        let mut texts = self.missing(texts)?;
        texts.sort_unstable_by_key(|text| text.key);
        texts.dedup_by_key(|text| text.key);
        for text in &mut texts {
            // A secret in a file is nothing that a server needs to know.
            text.text = format!("{}{}", self.r#use.before_text, redact(&text.text));
        }
        let batches: Vec<&[Text]> = texts.chunks(self.r#use.batch).collect();
        let outcomes: Vec<Result<(), Trouble>> = thread::scope(|scope| {
            let asked: Vec<_> = batches
                .iter()
                .map(|batch| scope.spawn(|| self.ask(batch)))
                .collect();
            asked
                .into_iter()
                .map(|asked| {
                    asked
                        .join()
                        .unwrap_or_else(|_| Err(Trouble::Odd("it broke off".into())))
                })
                .collect()
        });
        outcomes.into_iter().collect()
    }

    /// Asks for a batch and keeps it. What the server does not take is asked for in halves, until it is known which text it is.
    fn ask(&self, texts: &[Text]) -> Result<(), Trouble> {
        let plain: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        match self.r#use.server.embed(&plain, LONGEST) {
            Ok(answer) => self
                .take(texts, answer)
                .inspect_err(|trouble| self.failed(trouble)),
            Err(Trouble::Refused(400 | 413 | 422, _)) if texts.len() > 1 => {
                let (one, other) = texts.split_at(texts.len() / 2);
                self.ask(one)?;
                self.ask(other)
            }
            // Who takes others does not take this one.
            Err(Trouble::Refused(400 | 413 | 422, _)) if self.accepted.load(Ordering::Relaxed) => {
                self.with_kept(|kept| kept.refuse(texts[0].key))
            }
            Err(trouble) => {
                self.failed(&trouble);
                Err(trouble)
            }
        }
    }

    fn take(&self, texts: &[Text], answer: Answer) -> Result<(), Trouble> {
        let Some(first) = answer.vectors.first() else {
            return Ok(());
        };
        let sort = Sort {
            dimensions: first.dimensions(),
            model: answer.model,
        };
        let vectors: Vec<(u64, Direction)> = texts.iter().map(|text| text.key).zip(answer.vectors).collect();
        // A server that was changed while docent was away has another model; one that changes now is out of order.
        let is_first = !self.accepted.load(Ordering::Relaxed);
        let others = if is_first { Others::Replace } else { Others::Reject };
        if !self.with_kept(|kept| kept.add(&vectors, &sort, others))? {
            self.renewals.fetch_add(1, Ordering::Relaxed);
        }
        self.accepted.store(true, Ordering::Relaxed);
        *self.health() = Health::default();
        Ok(())
    }

    /// Leaves the server alone for as long as the trouble asks for.
    fn failed(&self, trouble: &Trouble) {
        let mut health = self.health();
        let now = Instant::now();
        // Several at once fail together, and are one failure.
        if health.pause.as_ref().is_none_or(|(until, _)| *until <= now) {
            health.failures += 1;
        }
        let step = FIRST_PAUSE
            .saturating_mul(1 << (health.failures - 1).min(12))
            .min(LONGEST_PAUSE);
        let pause = match trouble {
            Trouble::Limited(Some(wait)) => (*wait).min(MOST_WAIT).max(Duration::from_millis(100)),
            Trouble::Limited(None) | Trouble::Unreachable(_) | Trouble::Slow | Trouble::Failing(_) => step,
            _ => LONG_PAUSE,
        };
        let until = now + pause;
        if health.pause.as_ref().is_none_or(|(before, _)| *before < until) {
            health.pause = Some((until, trouble.clone()));
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_kept<T>(&self, work: impl FnOnce(&mut Kept) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match &mut *kept {
            Some(opened) => opened,
            none => {
                let file = self
                    .file
                    .as_ref()
                    .ok_or_else(|| Trouble::Unkept("there is no directory for caches".into()))?;
                none.insert(Kept::open(file)?)
            }
        };
        work(opened)
    }

    /// Waits until no other process asks for vectors of this model.
    fn lock(&self) -> Result<File, Trouble> {
        let file = self.file.as_ref().map(|file| file.with_extension("lock"));
        let file = file.ok_or_else(|| Trouble::Unkept("there is no directory for caches".into()))?;
        let locked = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&file)
            .and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| Trouble::Unkept(format!("{}: {error}", file.display())))
    }
}

impl Trouble {
    /// Whether waiting may help.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_) | Self::Slow | Self::Limited(_) | Self::Failing(_)
        )
    }
}
