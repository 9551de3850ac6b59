//! How far long work is, and how fast: a progress bar, rates and sizes.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use docent_engine::index::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::markdown::count;

/// A progress bar on stderr, drawn only on a terminal. It disappears when it is dropped.
pub(super) struct IndexProgress {
    bar: Mutex<Option<ProgressBar>>,
    started: Instant,
}

impl Default for IndexProgress {
    fn default() -> Self {
        Self {
            bar: Mutex::default(),
            started: Instant::now(),
        }
    }
}

impl IndexProgress {
    /// Draws how far the index is.
    pub(super) fn show(&self, progress: Progress) {
        let Progress {
            done,
            total,
            chunks,
            bytes,
        } = progress;
        let rate = format_rate(bytes, self.started.elapsed().as_secs_f64());
        let message = match chunks {
            0 => String::new(),
            chunks => format!(" · {} chunks · {rate}", count(chunks)),
        };
        self.draw(done, total, &message);
    }

    pub(super) fn draw(&self, done: u64, total: u64, message: &str) {
        if !std::io::stderr().is_terminal() || total == 0 {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{bar:24} {pos}/{len} files{msg}").expect("a literal template");
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
        });
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(message.to_owned());
    }
}

impl Drop for IndexProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(super) fn format_rate(bytes: u64, seconds: f64) -> String {
    format!("{:.1} MB/s", bytes as f64 / 1e6 / seconds.max(0.001))
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(super) fn format_size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
