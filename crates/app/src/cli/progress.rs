//! How far long work is, and how fast: a progress bar, rates and sizes.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use docent_engine::index::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::markdown::count;

/// A progress bar on stderr, drawn only on a terminal. It moves forward only, and disappears when it is
/// dropped.
pub(super) struct IndexProgress {
    bar: Mutex<Option<ProgressBar>>,
    started: Instant,
}

/// Steps of the bar. Its length does not depend on the number of files, which may grow during a build.
const STEPS: u64 = 1_000;

impl Default for IndexProgress {
    fn default() -> Self {
        Self {
            bar: Mutex::default(),
            started: Instant::now(),
        }
    }
}

impl IndexProgress {
    /// Draws how far the index is, how fast it grows, and what can be searched already.
    pub(super) fn show(&self, progress: Progress) {
        let Progress {
            done,
            total,
            searchable,
            ..
        } = progress;
        let searchable = match searchable {
            0 => String::new(),
            files => format!(" · {} can be searched", count(files)),
        };
        let rate = count(per_second(done, self.started.elapsed().as_secs_f64()));
        let message = format!("{} of {} files · {rate}/s{searchable}", count(done), count(total));
        self.draw(done, total, &message);
    }

    /// Says that the files are done and commits are read. The bar stays where it is.
    pub(super) fn show_history(&self) {
        self.draw(0, 1, "files are done · reading commits");
    }

    pub(super) fn draw(&self, done: u64, total: u64, message: &str) {
        if !std::io::stderr().is_terminal() || total == 0 {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{bar:24} {msg}").expect("a literal template");
            ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr()).with_style(style)
        });
        // A second round of files, such as those that were saved meanwhile, does not set the bar back.
        bar.set_position((done * STEPS / total).max(bar.position()));
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

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number, shown without decimals"
)]
fn per_second(number: u64, seconds: f64) -> u64 {
    (number as f64 / seconds.max(0.001)) as u64
}
