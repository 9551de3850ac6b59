//! Who worked with docent, when and on what: one session for each connection, or for each run of the command line.
//!
//! Kept with the user's own state, on this machine, and bounded. It is written beside the calls, by a thread of its own: a
//! call never waits for it, and a process that is killed loses the last moment of it and nothing else.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, ToSql, params};

use crate::clock::Clock;
use crate::files::make_private;

/// The sessions of one project.
#[derive(Debug)]
pub struct Sessions {
    /// Nothing where the user has no place for state.
    folder: Option<PathBuf>,
    clock: Clock,
    /// To the thread that writes, once there is one.
    writer: Mutex<Option<Sender<Event>>>,
}

/// What a session did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionUse {
    /// Called a tool.
    Tool,
    /// Read a file.
    File,
    /// Searched for something.
    Search,
    /// Looked into a linked project.
    Project,
}

/// A session as it is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    pub id: String,
    /// What the client calls itself.
    pub client: Option<String>,
    pub started: Timestamp,
    /// When it was last heard of.
    pub last: Timestamp,
    /// Nothing while it goes on, and where it was killed.
    pub ended: Option<Timestamp>,
    /// Each with how often, the most used first; searches the last one first.
    pub tools: Vec<(String, u64)>,
    pub files: Vec<(String, u64)>,
    pub searches: Vec<(String, u64)>,
    pub projects: Vec<(String, u64)>,
}

/// Why sessions cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the folder of sessions cannot be used: {0}")]
    Folder(#[from] std::io::Error),
    #[error("the table of sessions cannot be used: {0}")]
    Table(#[from] rusqlite::Error),
}

#[derive(Debug)]
enum Event {
    Used {
        session: String,
        client: Option<String>,
        started: Timestamp,
        at: Timestamp,
        how: SessionUse,
        name: String,
    },
    Ended {
        session: String,
        at: Timestamp,
    },
    /// Says so when everything before it is written.
    Flush(Sender<()>),
}

/// Sessions that are remembered, and for how long, in seconds.
const MAX_SESSIONS: i64 = 500;
const RETENTION_SECONDS: i64 = 90 * 24 * 60 * 60;

/// Different names of each kind that are remembered of a session.
const MAX_NAMES: i64 = 200;

/// Whoever waits for what was written waits no longer.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(300);

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA max_page_count = 20000;
    CREATE TABLE IF NOT EXISTS session (
        id TEXT PRIMARY KEY, client TEXT, started INTEGER NOT NULL, last INTEGER NOT NULL, ended INTEGER
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS used (
        session TEXT NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, times INTEGER NOT NULL, last INTEGER NOT NULL,
        PRIMARY KEY (session, kind, name)
    ) WITHOUT ROWID;";

impl Sessions {
    pub fn new(folder: Option<PathBuf>, clock: Clock) -> Self {
        Self {
            folder,
            clock,
            writer: Mutex::default(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Remembers that a session did something.
    pub fn used(&self, session: &str, client: Option<&str>, started: Timestamp, how: SessionUse, name: &str) {
        self.tell(Event::Used {
            session: session.to_owned(),
            client: client.map(str::to_owned),
            started,
            at: self.now(),
            how,
            name: name.to_owned(),
        });
    }

    /// Remembers that a session has ended.
    pub fn ended(&self, session: &str) {
        // One that did nothing was none.
        if self.writer().is_some() {
            self.tell(Event::Ended {
                session: session.to_owned(),
                at: self.now(),
            });
        }
    }

    /// Waits until what was told is written, but not for long.
    pub fn flush(&self) {
        // Whoever else has something to tell does not wait meanwhile.
        let Some(writer) = self.writer().clone() else {
            return;
        };
        let (done, written) = channel();
        if writer.send(Event::Flush(done)).is_ok() {
            let waited = self.clock.stopwatch();
            // An event that takes longer is written later, or lost with the process.
            while written.recv_timeout(FLUSH_TIMEOUT) == Err(RecvTimeoutError::Timeout) {
                if waited.elapsed() >= FLUSH_TIMEOUT {
                    break;
                }
            }
        }
    }

    /// The sessions heard of last, the last one first.
    pub fn recent(&self, most: usize) -> Result<Vec<Past>, SessionError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.read("ORDER BY last DESC, id LIMIT ?1", &most)
    }

    /// One session; nothing where it did nothing yet.
    pub fn session(&self, id: &str) -> Result<Option<Past>, SessionError> {
        Ok(self.read("WHERE id = ?1", &id)?.pop())
    }

    /// The sessions that the end of a query means.
    fn read(&self, which: &str, parameter: &dyn ToSql) -> Result<Vec<Past>, SessionError> {
        self.flush();
        let Some(folder) = self.folder.as_deref().filter(|folder| folder.join(FILE).exists()) else {
            return Ok(Vec::new());
        };
        let connection = open(folder)?;
        let mut query = connection.prepare(&format!(
            "SELECT id, client, started, last, ended FROM session {which}"
        ))?;
        let rows = query.query_map([parameter], |row| {
            Ok(Past {
                id: row.get(0)?,
                client: row.get(1)?,
                started: moment(row.get(2)?),
                last: moment(row.get(3)?),
                ended: row.get::<_, Option<i64>>(4)?.map(moment),
                ..Past::default()
            })
        })?;
        let mut sessions: Vec<Past> = rows.collect::<Result<_, _>>()?;
        for session in &mut sessions {
            complete(&connection, session)?;
        }
        Ok(sessions)
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, Option<Sender<Event>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: Event) {
        let Some(folder) = self.folder.clone() else { return };
        let mut writer = self.writer();
        let sender = writer.get_or_insert_with(|| {
            let (sender, events) = channel();
            let write = move || write(&folder, &events);
            // Without a thread nothing is remembered, which is no reason not to answer.
            let _ = thread::Builder::new().name("sessions".into()).spawn(write);
            sender
        });
        let _ = sender.send(event);
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.flush();
    }
}

const FILE: &str = "sessions-1.db";

fn open(folder: &Path) -> Result<Connection, SessionError> {
    make_private(folder)?;
    let file = folder.join(FILE);
    let connect = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(&file)?;
        connection.busy_timeout(Duration::from_secs(2))?;
        connection.execute_batch(SCHEMA)?;
        Ok(connection)
    };
    match connect() {
        // What is broken is thrown away: it is a log.
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) => {
            std::fs::remove_file(&file)?;
            Ok(connect()?)
        }
        opened => Ok(opened?),
    }
}

/// Writes what is told, as much at once as there is.
fn write(folder: &Path, events: &Receiver<Event>) {
    let Ok(mut connection) = open(folder) else { return };
    let mut batches = 0_u64;
    while let Ok(event) = events.recv() {
        let mut batch = vec![event];
        batch.extend(events.try_iter());
        // A log that cannot be written is not written; the next batch may be.
        let _ = write_batch(&mut connection, &batch);
        // After the first, so that it is among the newest; and then now and again.
        if batches.is_multiple_of(TRIM_EVERY) {
            let _ = trim(&connection);
        }
        batches += 1;
        for event in batch {
            if let Event::Flush(done) = event {
                let _ = done.send(());
            }
        }
    }
}

fn write_batch(connection: &mut Connection, batch: &[Event]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for event in batch {
        match event {
            Event::Used {
                session,
                client,
                started,
                at,
                how,
                name,
            } => {
                transaction
                    .prepare_cached(
                        "INSERT INTO session (id, client, started, last) VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (id) DO UPDATE SET last = ?4, client = coalesce(client, ?2)",
                    )?
                    .execute(params![
                        session,
                        client,
                        started.as_millisecond(),
                        at.as_millisecond()
                    ])?;
                transaction
                    .prepare_cached(
                        "INSERT INTO used (session, kind, name, times, last)
                         SELECT ?1, ?2, ?3, 1, ?4
                         WHERE (SELECT count(*) FROM used WHERE session = ?1 AND kind = ?2) < ?5
                            OR EXISTS (SELECT 1 FROM used WHERE session = ?1 AND kind = ?2 AND name = ?3)
                         ON CONFLICT (session, kind, name) DO UPDATE SET times = times + 1, last = ?4",
                    )?
                    .execute(params![
                        session,
                        *how as i64,
                        name,
                        at.as_millisecond(),
                        MAX_NAMES
                    ])?;
            }
            Event::Ended { session, at } => {
                transaction
                    .prepare_cached("UPDATE session SET ended = ?2, last = max(last, ?2) WHERE id = ?1")?
                    .execute(params![session, at.as_millisecond()])?;
            }
            Event::Flush(_) => {}
        }
    }
    transaction.commit()
}

/// Batches between two looks at how much is kept.
const TRIM_EVERY: u64 = 100;

/// Throws away what is too old or too much.
fn trim(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM session WHERE last < (SELECT max(last) FROM session) - ?1 * 1000 OR id NOT IN
         (SELECT id FROM session ORDER BY last DESC LIMIT ?2)",
        [RETENTION_SECONDS, MAX_SESSIONS],
    )?;
    connection.execute(
        "DELETE FROM used WHERE session NOT IN (SELECT id FROM session)",
        [],
    )?;
    Ok(())
}

/// Adds what a session did.
fn complete(connection: &Connection, session: &mut Past) -> rusqlite::Result<()> {
    let mut query = connection.prepare_cached(
        "SELECT kind, name, times FROM used WHERE session = ?1
         ORDER BY kind, CASE kind WHEN ?2 THEN -last ELSE -times END, name",
    )?;
    let rows = query.query_map(params![session.id, SessionUse::Search as i64], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get(1)?,
            row.get::<_, i64>(2)?.unsigned_abs(),
        ))
    })?;
    for row in rows {
        let (kind, name, times) = row?;
        let list = match kind {
            kind if kind == SessionUse::Tool as i64 => &mut session.tools,
            kind if kind == SessionUse::File as i64 => &mut session.files,
            kind if kind == SessionUse::Search as i64 => &mut session.searches,
            _ => &mut session.projects,
        };
        list.push((name, times));
    }
    Ok(())
}

fn moment(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64, folder: &Path) -> Sessions {
        let clock = Clock::Fixed(Timestamp::from_second(1_700_000_000 + seconds).unwrap());
        Sessions::new(Some(folder.to_owned()), clock)
    }

    fn used(sessions: &Sessions, id: &str, how: SessionUse, name: &str) {
        sessions.used(id, Some("testkit"), sessions.now(), how, name);
    }

    #[test]
    fn a_session_is_what_it_did_whichever_process_asks() {
        let folder = tempfile::tempdir().unwrap();
        let early = at(0, folder.path());
        used(&early, "one", SessionUse::Tool, "read_file");
        used(&early, "one", SessionUse::File, "a.rs");
        drop(early);
        let late = at(60, folder.path());
        for (how, name) in [
            (SessionUse::Tool, "read_file"),
            (SessionUse::Tool, "hello"),
            (SessionUse::File, "a.rs"),
            (SessionUse::File, "b.rs"),
            (SessionUse::Search, "tokens"),
        ] {
            used(&late, "one", how, name);
        }
        used(&late, "two", SessionUse::Tool, "hello");
        late.ended("one");
        late.flush();
        let recent = at(90, folder.path()).recent(10).unwrap();
        let ids: Vec<&str> = recent.iter().map(|session| session.id.as_str()).collect();
        assert_eq!(ids, ["one", "two"]);
        let one = &recent[0];
        assert_eq!(one.last.duration_since(one.started).as_secs(), 60);
        assert_eq!(one.ended, Some(one.last));
        assert_eq!(one.tools, [("read_file".into(), 2), ("hello".into(), 1)]);
        assert_eq!(one.files, [("a.rs".into(), 2), ("b.rs".into(), 1)]);
        assert_eq!(one.searches, [("tokens".into(), 1)]);
        assert_eq!(recent[1].ended, None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = at(0, folder.path());
        for number in 0..MAX_NAMES + 50 {
            used(&sessions, "long", SessionUse::File, &format!("{number}.rs"));
        }
        used(&sessions, "long", SessionUse::File, "0.rs");
        let long = sessions.session("long").unwrap().unwrap();
        assert_eq!(i64::try_from(long.files.len()).unwrap(), MAX_NAMES);
        assert_eq!(long.files[0], ("0.rs".into(), 2));
        drop(sessions);
        // A long time later.
        let sessions = at(RETENTION_SECONDS + 1, folder.path());
        used(&sessions, "new", SessionUse::Tool, "hello");
        let ids: Vec<String> = sessions
            .recent(10)
            .unwrap()
            .into_iter()
            .map(|one| one.id)
            .collect();
        assert_eq!(ids, ["new"]);
    }

    #[test]
    fn without_a_place_nothing_is_remembered_and_nothing_fails() {
        let sessions = Sessions::new(None, Clock::System);
        used(&sessions, "one", SessionUse::Tool, "hello");
        sessions.ended("one");
        assert_eq!(sessions.recent(5).unwrap(), []);
    }
}
