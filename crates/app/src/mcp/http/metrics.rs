//! `/metrics`: calls, errors and times by tool, in the text format of Prometheus.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use docent_engine::metrics::Figures;

use crate::tools::dispatch::Dispatch;

pub(super) async fn serve_metrics(State(dispatch): State<Arc<Dispatch>>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        format_figures(&dispatch.metrics.figures()),
    )
}

fn format_figures(figures: &[Figures]) -> String {
    let mut calls = family("docent_tool_calls_total", "counter", "Tool calls.");
    let mut errors = family(
        "docent_tool_errors_total",
        "counter",
        "Tool calls that failed, by kind.",
    );
    let mut seconds = family("docent_tool_seconds", "gauge", "Time of tool calls, by quantile.");
    for Figures {
        tool,
        calls: count,
        errors: kinds,
        p50,
        p95,
        p99,
    } in figures
    {
        calls += &format!("docent_tool_calls_total{{tool=\"{tool}\"}} {count}\n");
        for (kind, count) in kinds {
            errors += &format!("docent_tool_errors_total{{tool=\"{tool}\",kind=\"{kind}\"}} {count}\n");
        }
        for (quantile, time) in [("0.5", p50), ("0.95", p95), ("0.99", p99)] {
            let time = time.as_secs_f64();
            seconds += &format!("docent_tool_seconds{{tool=\"{tool}\",quantile=\"{quantile}\"}} {time}\n");
        }
    }
    calls + &errors + &seconds
}

fn family(name: &str, kind: &str, about: &str) -> String {
    format!("# HELP {name} {about}\n# TYPE {name} {kind}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn figures_are_written_by_family() {
        let ms = Duration::from_millis;
        let figures = Figures {
            tool: "hello",
            calls: 3,
            errors: [("invalid", 1)].into(),
            p50: ms(1),
            p95: ms(2),
            p99: ms(3),
        };
        insta::assert_snapshot!(format_figures(&[figures]), @r#"
        # HELP docent_tool_calls_total Tool calls.
        # TYPE docent_tool_calls_total counter
        docent_tool_calls_total{tool="hello"} 3
        # HELP docent_tool_errors_total Tool calls that failed, by kind.
        # TYPE docent_tool_errors_total counter
        docent_tool_errors_total{tool="hello",kind="invalid"} 1
        # HELP docent_tool_seconds Time of tool calls, by quantile.
        # TYPE docent_tool_seconds gauge
        docent_tool_seconds{tool="hello",quantile="0.5"} 0.001
        docent_tool_seconds{tool="hello",quantile="0.95"} 0.002
        docent_tool_seconds{tool="hello",quantile="0.99"} 0.003
        "#);
    }
}
