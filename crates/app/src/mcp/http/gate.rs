//! Access control of the HTTP server.
//!
//! A web page can make a browser send requests to any address (DNS rebinding), so the Host and Origin headers
//! must name this server or one that its user has allowed. If a token is set, it is required as well. Bodies
//! are read here, within a size and a time, so that no handler waits for a slow client.
//!
//! Invariant: every route passes the gate; only `/health` needs no token.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::settings::HttpSettings;

pub(super) struct Gate {
    token: Option<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
    max_body_bytes: usize,
    body_time: Duration,
}

/// Why a request is refused.
struct Refusal(StatusCode, &'static str);

impl Gate {
    pub(super) fn new(local: SocketAddr, settings: HttpSettings) -> Self {
        let mut hosts = settings.allowed_hosts;
        if !local.ip().is_unspecified() {
            hosts.push(local.ip().to_string());
        }
        Self {
            token: settings.token.map(|token| token.trim().to_owned()),
            hosts,
            origins: settings.allowed_origins,
            max_body_bytes: settings.max_body_bytes,
            body_time: settings.body_time,
        }
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let headers = request.headers();
        if !self.host_is_ours(headers, request.uri()) {
            return Err(Refusal(
                StatusCode::FORBIDDEN,
                "Host is not allowed; add it to http.allowed_hosts",
            ));
        }
        // A browser sends one Origin. If a proxy or a script adds a second, it is unclear which one counts.
        let mut origins = headers.get_all(header::ORIGIN).iter();
        if let Some(origin) = origins.next()
            && (origins.next().is_some() || !origin.to_str().is_ok_and(|origin| self.origin_is_ours(origin)))
        {
            return Err(Refusal(
                StatusCode::FORBIDDEN,
                "Origin is not allowed; add it to http.allowed_origins",
            ));
        }
        // Only the fact that the server is alive is public.
        if request.uri().path() != "/health" && !self.token_is_right(headers) {
            return Err(Refusal(StatusCode::UNAUTHORIZED, "A bearer token is required"));
        }
        let declared = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse().ok());
        if declared.is_some_and(|length: usize| length > self.max_body_bytes) {
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large"));
        }
        Ok(())
    }

    fn host_is_ours(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let authority = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok().and_then(|host| host.parse::<Authority>().ok()),
            (None, _) => uri.authority().cloned(),
            (Some(_), Some(_)) => None,
        };
        authority.is_some_and(|authority| {
            let (whole, host) = (authority.as_str(), authority.host());
            let is_plain = is_plain(&authority);
            let host = strip_brackets(host);
            is_plain
                && (is_loopback(host)
                    || self
                        .hosts
                        .iter()
                        .any(|allowed| is_same_host(allowed, host, whole)))
        })
    }

    fn origin_is_ours(&self, origin: &str) -> bool {
        if self
            .origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        // An origin is a scheme and an authority, with no user, path or query. `http://evil@localhost` names
        // a loopback host only for a parser that skips the user.
        let authority = ["http://", "https://"].iter().find_map(|scheme| {
            let start = origin.get(..scheme.len())?;
            start
                .eq_ignore_ascii_case(scheme)
                .then(|| origin[scheme.len()..].parse::<Authority>().ok())?
        });
        authority
            .is_some_and(|authority| is_plain(&authority) && is_loopback(strip_brackets(authority.host())))
    }

    fn token_is_right(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = &self.token else { return true };
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        given
            .and_then(|value| value.split_once(' '))
            .is_some_and(|(scheme, token)| {
                scheme.eq_ignore_ascii_case("bearer") && is_same_secret(token.trim(), expected)
            })
    }

    async fn read_body(&self, body: Body) -> Result<Body, Refusal> {
        match tokio::time::timeout(self.body_time, to_bytes(body, self.max_body_bytes)).await {
            Ok(Ok(bytes)) => Ok(bytes.into()),
            Ok(Err(_)) => Err(Refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is too large or broke off",
            )),
            Err(_) => Err(Refusal(
                StatusCode::REQUEST_TIMEOUT,
                "The body took too long to arrive",
            )),
        }
    }
}

/// Passes a request on, or answers with the reason for refusing it.
pub(super) async fn admit(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = gate.check(&request) {
        return refusal.into_response();
    }
    let (parts, body) = request.into_parts();
    match gate.read_body(body).await {
        Ok(body) => next.run(Request::from_parts(parts, body)).await,
        Err(refusal) => refusal.into_response(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, message) = self;
        tracing::warn!(status = status.as_u16(), "refused: {message}");
        let body = json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": message } });
        let mut response = (status, Json(body)).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(
                header::WWW_AUTHENTICATE,
                header::HeaderValue::from_static("Bearer"),
            );
        }
        headers.insert(header::CONNECTION, header::HeaderValue::from_static("close"));
        response
    }
}

/// True if the authority is a host, or a host and a port, and nothing else.
fn is_plain(authority: &Authority) -> bool {
    let (whole, host) = (authority.as_str(), authority.host());
    whole == host
        || authority
            .port_u16()
            .is_some_and(|port| whole == format!("{host}:{port}"))
}

/// A host without the brackets of an IPv6 address.
fn strip_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// True if `allowed` names the host, or the host with its port.
fn is_same_host(allowed: &str, host: &str, authority: &str) -> bool {
    strip_brackets(allowed).eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(authority)
}

/// Compares in constant time, so that the duration does not reveal how many bytes were right.
fn is_same_secret(given: &str, expected: &str) -> bool {
    let (given, expected) = (given.as_bytes(), expected.as_bytes());
    let difference = given
        .iter()
        .zip(expected.iter().cycle())
        .fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        let settings = HttpSettings {
            token: Some("s3cret".into()),
            allowed_hosts: vec!["docs.example".into(), "other.example:8080".into()],
            allowed_origins: vec!["https://app.example".into()],
            max_body_bytes: 10,
            body_time: Duration::from_secs(1),
            head_time: Duration::from_secs(1),
            max_connections_per_address: 1,
        };
        Gate::new("192.0.2.7:80".parse().unwrap(), settings)
    }

    fn check(headers: &[(&str, &str)], expected: u16) {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        let status = gate()
            .check(&request)
            .map_or_else(|refusal| refusal.0.as_u16(), |()| 200);
        assert_eq!(status, expected, "{headers:?}");
    }

    #[test]
    fn hosts_are_ours_or_allowed() {
        let token = ("authorization", "Bearer s3cret");
        for host in [
            "localhost",
            "127.0.0.1:7077",
            "[::1]:1",
            "LOCALHOST:9",
            "192.0.2.7",
            "docs.example:1",
            "other.example:8080",
        ] {
            check(&[("host", host), token], 200);
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "other.example",
            "other.example:1",
            "",
            "a b",
            "evil.example@127.0.0.1",
            "127.0.0.1:evil",
        ] {
            check(&[("host", host), token], 403);
        }
        check(&[token], 403);
    }

    #[test]
    fn origins_are_loopback_or_allowed() {
        let base = [("host", "localhost"), ("authorization", "Bearer s3cret")];
        let with = |origin| [base[0], base[1], ("origin", origin)];
        for origin in [
            "http://localhost:3000",
            "http://127.0.0.1",
            "https://[::1]:8",
            "https://app.example",
        ] {
            check(&with(origin), 200);
        }
        for origin in [
            "http://evil.example",
            "null",
            "https://app.example:444",
            "file://localhost",
            "http://localhost.evil.example",
            "",
        ] {
            check(&with(origin), 403);
        }
    }

    #[test]
    fn an_origin_has_no_user_path_or_query() {
        let base = [("host", "localhost"), ("authorization", "Bearer s3cret")];
        for origin in [
            "http://evil@localhost",
            "http://evil:secret@127.0.0.1:3000",
            "http://localhost@evil.example",
            "http://@localhost",
            "http://localhost/",
            "http://localhost/evil",
            "http://localhost:3000?evil.example",
            "http://localhost#evil.example",
            "http://localhost:",
            "http://localhost:99999",
            "http://localhost:03000",
            "http://localhost http://evil.example",
            "http://localhost, http://evil.example",
            "http://localhost\\evil.example",
            "//localhost",
            "localhost",
            "https://app.example/",
            "https://evil@app.example",
        ] {
            check(&[base[0], base[1], ("origin", origin)], 403);
        }
        check(&[base[0], base[1], ("origin", "HTTP://LOCALHOST:3000")], 200);
    }

    #[test]
    fn a_second_origin_header_is_refused() {
        let base = [("host", "localhost"), ("authorization", "Bearer s3cret")];
        for second in ["http://evil.example", "http://localhost", "null", ""] {
            for origins in [["http://localhost", second], [second, "http://localhost"]] {
                let [first, second] = origins.map(|origin| ("origin", origin));
                check(&[base[0], base[1], first, second], 403);
            }
        }
    }

    #[test]
    fn the_token_must_be_right() {
        check(&[("host", "localhost"), ("authorization", "bearer s3cret")], 200);
        for value in [
            "Bearer s3cre",
            "Bearer s3cretx",
            "Bearer ",
            "Basic s3cret",
            "s3cret",
        ] {
            check(&[("host", "localhost"), ("authorization", value)], 401);
        }
        check(&[("host", "localhost")], 401);
    }
}
