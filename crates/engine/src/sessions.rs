//! The session log: one session per connection or per run of the command line, with what it used.
//!
//! It lies in the user's state directory on this machine, and its size is bounded. A thread writes it, so
//! that no call waits for the disk.
//!
//! Invariant: a process that is killed loses the events of its last moment and nothing else.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, ToSql, params};

use crate::clock::Clock;
use crate::sqlite::{Database, DatabaseError, OnDamage, Schema};

/// The sessions of one project.
#[derive(Debug)]
pub struct Sessions {
    /// The database. `None` if the user has no state directory.
    file: Option<PathBuf>,
    clock: Clock,
    /// To the thread that writes, after the first event.
    writer: Mutex<Option<Sender<Event>>>,
}

/// A kind of thing that a session uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionUse {
    /// A tool that it called.
    Tool,
    /// A file that it read.
    File,
    /// A query that it searched for.
    Search,
    /// A linked project that it searched.
    Project,
}

/// A session as the log has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: String,
    /// The name that the client gives itself.
    pub client: Option<String>,
    pub started: Timestamp,
    /// Time of its last event.
    pub last: Timestamp,
    /// `None` while it is open, and after its process was killed.
    pub ended: Option<Timestamp>,
    /// Names with how often each was used, the most used first; searches the latest first.
    pub tools: Vec<(String, u64)>,
    pub files: Vec<(String, u64)>,
    pub searches: Vec<(String, u64)>,
    pub projects: Vec<(String, u64)>,
}

/// Why sessions cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the session log: {0}")]
pub struct SessionError(#[from] DatabaseError);

#[derive(Debug)]
enum Event {
    Used {
        session: String,
        client: Option<String>,
        started: Timestamp,
        at: Timestamp,
        kind: SessionUse,
        name: String,
    },
    Ended {
        session: String,
        at: Timestamp,
    },
    /// Answered after everything before it is written.
    Flush(Sender<()>),
}

/// Sessions beyond this number, the oldest first, are deleted.
const MAX_SESSIONS: i64 = 500;
/// Sessions without an event for this long before the newest one are deleted.
const RETENTION_SECONDS: i64 = 90 * 24 * 60 * 60;

/// Different names of each kind that are stored per session.
const MAX_NAMES_PER_KIND: i64 = 200;

/// How long [`Sessions::flush`] waits for the thread that writes.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(300);

const FILE: &str = "sessions-1.db";

const SCHEMA: Schema = Schema {
    version: 1,
    pragmas: "PRAGMA synchronous = OFF; PRAGMA max_page_count = 20000;",
    tables: "
        CREATE TABLE IF NOT EXISTS session (
            id TEXT PRIMARY KEY, client TEXT, started INTEGER NOT NULL, last INTEGER NOT NULL, ended INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS used (
            session TEXT NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL,
            times INTEGER NOT NULL, last INTEGER NOT NULL,
            PRIMARY KEY (session, kind, name)
        ) WITHOUT ROWID;",
    on_damage: OnDamage::SetAside,
    after_damage: "",
    busy_timeout: Duration::from_secs(2),
};

impl Sessions {
    pub fn new(folder: Option<PathBuf>, clock: Clock) -> Self {
        Self {
            file: folder.map(|folder| folder.join(FILE)),
            clock,
            writer: Mutex::default(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Records that a session used something.
    pub fn record_use(
        &self,
        session: &str,
        client: Option<&str>,
        started: Timestamp,
        kind: SessionUse,
        name: &str,
    ) {
        self.send(Event::Used {
            session: session.to_owned(),
            client: client.map(str::to_owned),
            started,
            at: self.now(),
            kind,
            name: name.to_owned(),
        });
    }

    /// Records that a session has ended.
    pub fn record_end(&self, session: &str) {
        // A session without an event is not logged.
        if self.writer().is_some() {
            self.send(Event::Ended {
                session: session.to_owned(),
                at: self.now(),
            });
        }
    }

    /// Waits until all events so far are written, at most for `FLUSH_TIMEOUT`.
    pub fn flush(&self) {
        // A clone of the sender, so that other threads can send events while this one waits.
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

    /// The latest sessions, the latest first.
    pub fn recent(&self, limit: usize) -> Result<Vec<SessionRecord>, SessionError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("ORDER BY last DESC, id LIMIT ?1", &limit)
    }

    /// One session. `None` before its first event.
    pub fn session(&self, id: &str) -> Result<Option<SessionRecord>, SessionError> {
        Ok(self.read("WHERE id = ?1", &id)?.pop())
    }

    /// Reads the sessions that a `WHERE` or `ORDER BY` clause with one parameter selects.
    fn read(&self, clause: &str, parameter: &dyn ToSql) -> Result<Vec<SessionRecord>, SessionError> {
        self.flush();
        let Some(file) = self.file.clone().filter(|file| file.exists()) else {
            return Ok(Vec::new());
        };
        let sql = format!("SELECT id, client, started, last, ended FROM session {clause}");
        let sessions = Database::new(file, SCHEMA).run(|connection| {
            let mut query = connection.prepare(&sql)?;
            let rows = query.query_map([parameter], |row| {
                Ok(SessionRecord {
                    id: row.get(0)?,
                    client: row.get(1)?,
                    started: to_timestamp(row.get(2)?),
                    last: to_timestamp(row.get(3)?),
                    ended: row.get::<_, Option<i64>>(4)?.map(to_timestamp),
                    ..SessionRecord::default()
                })
            })?;
            let mut sessions: Vec<SessionRecord> = rows.collect::<Result<_, _>>()?;
            for session in &mut sessions {
                read_uses(connection, session)?;
            }
            Ok(sessions)
        })?;
        Ok(sessions)
    }

    fn writer(&self) -> std::sync::MutexGuard<'_, Option<Sender<Event>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, event: Event) {
        let Some(file) = self.file.clone() else { return };
        let mut writer = self.writer();
        let sender = writer.get_or_insert_with(|| {
            let (sender, events) = channel();
            let write = move || write_events(file, &events);
            // Without a thread there is no log. Calls are answered all the same.
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

/// Writes events until all senders are gone, as many at once as are waiting.
fn write_events(file: PathBuf, events: &Receiver<Event>) {
    let mut log = Database::new(file, SCHEMA);
    let mut batches = 0_u64;
    while let Ok(event) = events.recv() {
        let mut batch = vec![event];
        batch.extend(events.try_iter());
        // A batch that cannot be written is lost: the disk may be full or read-only. The next one is tried
        // again.
        let _ = log.run(|connection| write_batch(connection, &batch));
        // The first time after a batch, so that its session counts as the newest.
        if batches.is_multiple_of(BATCHES_PER_TRIM) {
            let _ = log.run(|connection| trim(connection));
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
                kind,
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
                        *kind as i64,
                        name,
                        at.as_millisecond(),
                        MAX_NAMES_PER_KIND
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

/// Batches between two deletions of old sessions.
const BATCHES_PER_TRIM: u64 = 100;

/// Deletes sessions that are too old or too many.
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

/// Reads the names that a session used into its record.
fn read_uses(connection: &Connection, session: &mut SessionRecord) -> rusqlite::Result<()> {
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

fn to_timestamp(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::sqlite::damage_pages;

    fn at(seconds: i64, folder: &Path) -> Sessions {
        let clock = Clock::Fixed(Timestamp::from_second(1_700_000_000 + seconds).unwrap());
        Sessions::new(Some(folder.to_owned()), clock)
    }

    fn record(sessions: &Sessions, id: &str, kind: SessionUse, name: &str) {
        sessions.record_use(id, Some("testkit"), sessions.now(), kind, name);
    }

    fn recent_ids(sessions: &Sessions) -> Vec<String> {
        let recent = sessions.recent(10).unwrap();
        recent.into_iter().map(|session| session.id).collect()
    }

    #[test]
    fn a_session_is_read_from_any_process() {
        let folder = tempfile::tempdir().unwrap();
        let early = at(0, folder.path());
        record(&early, "one", SessionUse::Tool, "read_file");
        record(&early, "one", SessionUse::File, "a.rs");
        drop(early);
        let late = at(60, folder.path());
        for (kind, name) in [
            (SessionUse::Tool, "read_file"),
            (SessionUse::Tool, "hello"),
            (SessionUse::File, "a.rs"),
            (SessionUse::File, "b.rs"),
            (SessionUse::Search, "tokens"),
        ] {
            record(&late, "one", kind, name);
        }
        record(&late, "two", SessionUse::Tool, "hello");
        late.record_end("one");
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
    fn the_log_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = at(0, folder.path());
        for number in 0..MAX_NAMES_PER_KIND + 50 {
            record(&sessions, "long", SessionUse::File, &format!("{number}.rs"));
        }
        record(&sessions, "long", SessionUse::File, "0.rs");
        let long = sessions.session("long").unwrap().unwrap();
        assert_eq!(i64::try_from(long.files.len()).unwrap(), MAX_NAMES_PER_KIND);
        assert_eq!(long.files[0], ("0.rs".into(), 2));
        drop(sessions);
        // After the retention period.
        let sessions = at(RETENTION_SECONDS + 1, folder.path());
        record(&sessions, "new", SessionUse::Tool, "hello");
        assert_eq!(recent_ids(&sessions), ["new"]);
    }

    #[test]
    fn a_damaged_log_is_set_aside_and_works_again() {
        let garbage = |file: &Path| std::fs::write(file, "not a table".repeat(1_000)).unwrap();
        for damage in [garbage, damage_pages] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(FILE);
            // Without a thread, so that the write-ahead log is gone when this returns.
            let event = Event::Used {
                session: "old".into(),
                client: None,
                started: Timestamp::UNIX_EPOCH,
                at: Timestamp::UNIX_EPOCH,
                kind: SessionUse::Tool,
                name: "hello".into(),
            };
            Database::new(file.clone(), SCHEMA)
                .run(|connection| write_batch(connection, std::slice::from_ref(&event)))
                .unwrap();
            damage(&file);
            let sessions = at(60, folder.path());
            record(&sessions, "new", SessionUse::Tool, "hello");
            assert_eq!(recent_ids(&sessions), ["new"]);
            assert!(folder.path().join("sessions-1.damaged").exists());
        }
    }

    #[test]
    fn the_log_works_again_once_its_folder_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("state");
        std::fs::write(&blocked, "a file where the folder belongs").unwrap();
        let sessions = at(0, &blocked);
        record(&sessions, "lost", SessionUse::Tool, "hello");
        sessions.flush();
        std::fs::remove_file(&blocked).unwrap();
        record(&sessions, "written", SessionUse::Tool, "hello");
        assert_eq!(recent_ids(&sessions), ["written"]);
    }

    #[test]
    fn without_a_state_directory_recording_does_nothing() {
        let sessions = Sessions::new(None, Clock::System);
        record(&sessions, "one", SessionUse::Tool, "hello");
        sessions.record_end("one");
        assert_eq!(sessions.recent(5).unwrap(), []);
    }
}
