//! The client's process: when it is gone, this one ends, also if another process holds its end of stdin open.

/// Ends this process soon after the client's.
#[cfg(unix)]
pub(super) fn end_with(process: i32) {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rustix::process::{Pid, test_kill_process};

    /// How often it is looked at.
    const INTERVAL: Duration = Duration::from_secs(2);

    let Some(process) = Pid::from_raw(process).filter(|_| process > 1) else {
        return;
    };
    let watch = move || {
        // Nobody sends: the wait ends when its time is over.
        let (_sender, receiver) = channel::<()>();
        while test_kill_process(process) != Err(rustix::io::Errno::SRCH) {
            let _ = receiver.recv_timeout(INTERVAL);
        }
        docent_engine::git::end_children();
        std::process::exit(1);
    };
    // Without a thread, the end of stdin ends this process.
    let _ = std::thread::Builder::new().name("parent".into()).spawn(watch);
}

/// Elsewhere the end of stdin ends this process.
#[cfg(not(unix))]
pub(super) fn end_with(_process: i32) {}
