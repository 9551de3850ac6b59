//! Lookups of single objects through one `git cat-file` process that stays open: the commit of a reference,
//! the content of a file in a commit. Starting a process for each would cost more than most answers.
//!
//! Invariant: a request is one line. Names with line ends or control characters are refused before they get
//! here.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;

use super::GitError;
use super::command::{KilledOnDrop, POLL_INTERVAL, Runner, register, spawn};
use crate::deadline::Deadline;

/// The object database of one repository.
#[derive(Debug)]
pub(super) struct Objects {
    runner: Runner,
    names: Mutex<Option<Batch>>,
    contents: Mutex<Option<Batch>>,
}

/// The object that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResolvedObject {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) size: u64,
}

/// A running `cat-file` and the thread that reads from it.
#[derive(Debug)]
struct Batch {
    child: Arc<Mutex<KilledOnDrop>>,
    stdin: ChildStdin,
    replies: Receiver<(String, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchMode {
    Names,
    Contents,
}

/// Larger objects are not read.
pub(super) const MAX_OBJECT_BYTES: u64 = 16 << 20;

impl Objects {
    pub(super) fn new(runner: Runner) -> Self {
        Self {
            runner,
            names: Mutex::default(),
            contents: Mutex::default(),
        }
    }

    /// The object that `name` stands for. `None` if there is none.
    pub(super) fn find(&self, name: &str, deadline: &Deadline) -> Result<Option<ResolvedObject>, GitError> {
        let (header, _) = self.request(BatchMode::Names, name, deadline)?;
        Ok(ResolvedObject::parse(&header))
    }

    /// The content of an object that [`Self::find`] has returned.
    pub(super) fn content(&self, id: &str, deadline: &Deadline) -> Result<Vec<u8>, GitError> {
        let (_, content) = self.request(BatchMode::Contents, id, deadline)?;
        Ok(content)
    }

    fn request(
        &self,
        mode: BatchMode,
        name: &str,
        deadline: &Deadline,
    ) -> Result<(String, Vec<u8>), GitError> {
        let slot = match mode {
            BatchMode::Names => &self.names,
            BatchMode::Contents => &self.contents,
        };
        let mut slot = slot.lock().expect("nothing panics while it holds the process");
        let opened = slot.take();
        let was_open = opened.is_some();
        let mut batch = opened.map_or_else(|| Batch::open(&self.runner, mode), Ok)?;
        let reply = match batch.request(name, deadline) {
            // The process may have died since the last request. Try once with a new one.
            Err(GitError::Pipe(_)) if was_open => {
                batch = Batch::open(&self.runner, mode)?;
                batch.request(name, deadline)
            }
            reply => reply,
        }?;
        *slot = Some(batch);
        Ok(reply)
    }
}

impl Batch {
    fn open(runner: &Runner, mode: BatchMode) -> Result<Self, GitError> {
        let mut command: Command = runner.command("cat-file");
        command
            .arg(match mode {
                BatchMode::Names => "--batch-check",
                BatchMode::Contents => "--batch",
            })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = KilledOnDrop(spawn(&mut command)?);
        let stdin = child.0.stdin.take().expect("it was piped");
        let mut stdout = BufReader::new(child.0.stdout.take().expect("it was piped"));
        let (send, replies) = mpsc::channel();
        // The thread ends with the child: its pipe closes.
        thread::spawn(move || {
            let mut header = String::new();
            while stdout.read_line(&mut header).is_ok_and(|read| read > 0) {
                let mut content = Vec::new();
                if mode == BatchMode::Contents
                    && let Some(object) = ResolvedObject::parse(header.trim_end())
                {
                    let with_line_end = object.size + 1;
                    let read = stdout.by_ref().take(with_line_end).read_to_end(&mut content);
                    if read.is_err() || content.pop().is_none() {
                        break;
                    }
                }
                if send
                    .send((header.trim_end_matches('\n').to_owned(), content))
                    .is_err()
                {
                    break;
                }
                header.clear();
            }
        });
        let batch = Self {
            child: Arc::new(Mutex::new(child)),
            stdin,
            replies,
        };
        register(&batch.child);
        Ok(batch)
    }

    fn request(&mut self, name: &str, deadline: &Deadline) -> Result<(String, Vec<u8>), GitError> {
        writeln!(self.stdin, "{name}").map_err(GitError::Pipe)?;
        loop {
            match self.replies.recv_timeout(POLL_INTERVAL) {
                Ok(reply) => return Ok(reply),
                Err(RecvTimeoutError::Timeout) => deadline.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(GitError::Pipe(std::io::ErrorKind::BrokenPipe.into()));
                }
            }
        }
    }
}

impl ResolvedObject {
    /// Parses `ID KIND SIZE`. Any other line means that there is no such object.
    fn parse(header: &str) -> Option<Self> {
        let mut words = header.split(' ');
        let object = Self {
            id: words.next()?.to_owned(),
            kind: words.next()?.to_owned(),
            size: words.next()?.parse().ok()?,
        };
        (is_id(&object.id) && words.next().is_none()).then_some(object)
    }
}

/// Whether this is a full object id, SHA-1 or SHA-256.
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_header_names_an_object() {
        let id = "a".repeat(40);
        assert_eq!(
            ResolvedObject::parse(&format!("{id} commit 12")).unwrap().kind,
            "commit"
        );
        assert_eq!(ResolvedObject::parse("main^{commit} missing"), None);
        assert_eq!(ResolvedObject::parse("abc1 commit 12"), None);
        assert_eq!(ResolvedObject::parse(&format!("{id} commit 12 missing")), None);
    }
}
