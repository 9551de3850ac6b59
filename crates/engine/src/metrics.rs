//! Metrics of tool calls: counts, errors and latencies, in memory.
//!
//! They are not stored: a new process starts at zero.
//!
//! Invariant: memory is bounded by the number of tools, because latencies go into a histogram with two
//! significant digits and not into a list.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Upper bound of the histogram: ten minutes.
const MAX_LATENCY_MICROSECONDS: u64 = 600_000_000;

/// The metrics since the process started.
#[derive(Debug, Default)]
pub struct Metrics {
    tools: Mutex<BTreeMap<&'static str, ToolMetrics>>,
}

#[derive(Debug)]
struct ToolMetrics {
    latencies: Histogram<u64>,
    errors: BTreeMap<&'static str, u64>,
}

/// The figures of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub tool: &'static str,
    pub calls: u64,
    pub errors: BTreeMap<&'static str, u64>,
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
}

impl Metrics {
    /// Counts a call that took `time` and failed with `error`, if it did.
    pub fn record(&self, tool: &'static str, time: Duration, error: Option<&'static str>) {
        let mut tools = self
            .tools
            .lock()
            .expect("no call panics while it holds the figures");
        let metrics = tools.entry(tool).or_insert_with(ToolMetrics::new);
        metrics.latencies.saturating_record(
            u64::try_from(time.as_micros())
                .unwrap_or(MAX_LATENCY_MICROSECONDS)
                .max(1),
        );
        if let Some(kind) = error {
            *metrics.errors.entry(kind).or_default() += 1;
        }
    }

    /// The figures of every tool that was called, by name.
    pub fn figures(&self) -> Vec<Figures> {
        let tools = self
            .tools
            .lock()
            .expect("no call panics while it holds the figures");
        tools
            .iter()
            .map(|(tool, metrics)| metrics.figures(tool))
            .collect()
    }
}

impl ToolMetrics {
    fn new() -> Self {
        let latencies =
            Histogram::new_with_bounds(1, MAX_LATENCY_MICROSECONDS, 2).expect("the bounds are valid");
        Self {
            latencies,
            errors: BTreeMap::new(),
        }
    }

    fn figures(&self, tool: &'static str) -> Figures {
        let quantile = |q| Duration::from_micros(self.latencies.value_at_quantile(q));
        Figures {
            tool,
            calls: self.latencies.len(),
            errors: self.errors.clone(),
            p50: quantile(0.50),
            p95: quantile(0.95),
            p99: quantile(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_errors_and_quantiles_are_kept_per_tool() {
        let metrics = Metrics::default();
        for ms in 1..=100 {
            metrics.record(
                "grep",
                Duration::from_millis(ms),
                (ms > 98).then_some("timed_out"),
            );
        }
        metrics.record("hello", Duration::ZERO, None);

        let figures = metrics.figures();
        assert_eq!(
            figures.iter().map(|f| (f.tool, f.calls)).collect::<Vec<_>>(),
            [("grep", 100), ("hello", 1)]
        );
        assert_eq!(figures[0].errors, BTreeMap::from([("timed_out", 2)]));
        let near = |time: Duration, ms: u64| time.as_millis().abs_diff(u128::from(ms)) <= 1;
        assert!(
            near(figures[0].p50, 50) && near(figures[0].p95, 95) && near(figures[0].p99, 99),
            "{figures:?}"
        );
    }
}
