//! Formats of access tokens: the fixed beginning that a provider gives its tokens, and the characters after
//! it.
//!
//! The formats are public facts, documented by the providers and collected by secret scanners such as
//! gitleaks. Left out: keys that look like any other hexadecimal number. Only the name that such a key is
//! assigned to gives it away, and `redact.rs` reads those names.
//!
//! Invariant: a format is decided by one pass over the characters after its beginning, so a text is searched
//! in linear time.

use std::sync::LazyLock;

use regex::Regex;

/// The tokens of one provider.
pub(super) struct TokenFormat {
    /// The description that a refusal shows.
    pub(super) kind: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    min_chars: usize,
    max_chars: usize,
    /// True for a beginning that ordinary words share. A random token without a digit is rare, a word with
    /// one is too.
    needs_digit: bool,
}

/// The characters of a token after its beginning.
#[derive(Clone, Copy)]
enum Alphabet {
    Hex,
    HexDash,
    Upper,
    UpperDash,
    Alnum,
    Word,
    WordDash,
    WordDashDot,
    Base64,
}

use Alphabet::{Alnum, Base64, Hex, HexDash, Upper, UpperDash, Word, WordDash, WordDashDot};

const fn format(
    kind: &'static str,
    prefixes: &'static [&'static str],
    alphabet: Alphabet,
    min_chars: usize,
) -> TokenFormat {
    TokenFormat {
        kind,
        prefixes,
        alphabet,
        min_chars,
        max_chars: usize::MAX,
        needs_digit: false,
    }
}

impl TokenFormat {
    const fn up_to(mut self, max_chars: usize) -> Self {
        self.max_chars = max_chars;
        self
    }

    const fn with_digit(mut self) -> Self {
        self.needs_digit = true;
        self
    }
}

/// Every format. The lengths are those of real tokens or shorter, so that a cut token is found too.
static FORMATS: &[TokenFormat] = &[
    format("a 1Password token", &["ops_eyJ"], Base64, 100),
    format("a 1Password secret key", &["A3-"], UpperDash, 30).with_digit(),
    format("an Adobe secret", &["p8e-"], Alnum, 30),
    format(
        "an age key",
        &["AGE-SECRET-KEY-1", "AGE-SECRET-KEY-PQ-1"],
        Upper,
        50,
    ),
    format("an Alibaba access key", &["LTAI"], Alnum, 16)
        .up_to(24)
        .with_digit(),
    format("an API key", &["sk-"], WordDash, 16).with_digit(),
    format("an API key", &["sk_"], Hex, 40),
    format("an Artifactory token", &["AKCp", "cmVmd"], Alnum, 58),
    format("an Atlassian token", &["ATATT3", "ATCTT3"], Base64, 60),
    format("an AWS access key", &["AKIA", "ASIA", "ABIA", "ACCA"], Upper, 16).up_to(16),
    format("an AWS Bedrock key", &["ABSK", "bedrock-api-key-"], Base64, 60),
    format("a Bitbucket password", &["ATBB"], Alnum, 28),
    format("a Brevo key", &["xkeysib-"], WordDash, 64),
    format("a Buildkite token", &["bkua_"], Hex, 40),
    format("a CircleCI token", &["CCIPAT_", "CCIPRJ_"], Word, 40),
    format("a Clojars token", &["CLOJARS_"], Alnum, 50),
    format("a Cloudflare token", &["cfut_", "cfat_", "cfk_"], Word, 36),
    format("a Cloudflare key", &["v1.0-"], HexDash, 100),
    format("a Contentful token", &["CFPAT-"], WordDash, 40),
    format("a crates.io token", &["cio"], Alnum, 32)
        .up_to(32)
        .with_digit(),
    format("a Databricks token", &["dapi"], Hex, 32),
    format("a Deno token", &["ddp_", "ddo_"], Alnum, 36),
    format(
        "a DigitalOcean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Hex,
        40,
    ),
    format("a Docker token", &["dckr_pat_", "dckr_oat_"], WordDash, 20),
    format(
        "a Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."],
        WordDashDot,
        40,
    ),
    format("a Duffel token", &["duffel_live_", "duffel_test_"], WordDash, 40),
    format("a Dynatrace token", &["dt0c01.", "dt0s16."], WordDashDot, 60),
    format("an EasyPost key", &["EZAK", "EZTK"], Alnum, 54),
    format("a Facebook token", &["EAAC", "EAAM"], Alnum, 100),
    format("a Figma token", &["figd_"], WordDash, 40),
    format("a Flutterwave key", &["FLWSECK-", "FLWSECK_TEST-"], WordDash, 12),
    format("a Fly.io token", &["fo1_", "fm1a_", "fm1r_", "fm2_"], Base64, 43),
    format(
        "a GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        Word,
        20,
    ),
    format("a GitHub token", &["github_pat_"], Word, 20),
    format(
        "a GitLab token",
        &[
            "glpat-", "gldt-", "glft-", "glffct-", "glimt-", "glagent-", "gloas-", "glptt-", "glrt-",
            "glrtr-", "glcbt-", "glsoat-", "glwt-",
        ],
        WordDashDot,
        16,
    ),
    format("a GitLab token", &["GR1348941"], WordDash, 20),
    format("a Google API key", &["AIza"], WordDash, 30),
    format("a Google OAuth token", &["ya29."], WordDashDot, 20),
    format("a Google OAuth token", &["1//0"], WordDash, 40).with_digit(),
    format("a Google OAuth secret", &["GOCSPX-"], WordDash, 20),
    format("a Grafana token", &["glsa_", "glc_"], Base64, 32),
    format("a Groq key", &["gsk_"], Alnum, 40),
    format("a Heroku key", &["HRKU-"], WordDash, 30),
    format("a Hugging Face token", &["hf_", "api_org_"], Alnum, 30),
    format("a LangSmith key", &["lsv2_pt_", "lsv2_sk_"], Word, 30),
    format("a Linear key", &["lin_api_", "lin_oauth_"], Alnum, 32),
    format("a Mailgun key", &["key-"], Hex, 32).up_to(32),
    format("a Mapbox token", &["sk.eyJ"], WordDashDot, 50),
    format("a Netlify token", &["nfp_"], Alnum, 36),
    format("a New Relic key", &["NRAK-", "NRII-", "NRJS-"], WordDash, 19),
    format("a Notion token", &["ntn_"], Alnum, 40),
    format("a Notion token", &["secret_"], Alnum, 43)
        .up_to(43)
        .with_digit(),
    format("an npm token", &["npm_"], Alnum, 30),
    format("an Octopus key", &["API-"], Upper, 25)
        .up_to(36)
        .with_digit(),
    format("an OpenShift token", &["sha256~"], WordDash, 43),
    format("a Perplexity key", &["pplx-"], Alnum, 40),
    format("a Pinecone key", &["pcsk_"], Word, 40),
    format(
        "a PlanetScale token",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        WordDashDot,
        30,
    ),
    format("a PostHog key", &["phx_"], Alnum, 40),
    format("a Postman key", &["PMAK-"], HexDash, 50),
    format("a Prefect key", &["pnu_", "pnb_"], Alnum, 36),
    format("a Pulumi token", &["pul-"], Hex, 40),
    format("a PyPI token", &["pypi-AgE", "pypi-AgEN"], WordDash, 50),
    format("a Razorpay key", &["rzp_live_", "rzp_test_"], Alnum, 14),
    format("a ReadMe key", &["rdme_"], Alnum, 60),
    format("a Replicate token", &["r8_"], Alnum, 37),
    format("a RubyGems key", &["rubygems_"], Hex, 48),
    format("a SendGrid key", &["SG."], WordDashDot, 50),
    format("a Sentry token", &["sntrys_", "sntryu_"], Base64, 40),
    format("a Shippo token", &["shippo_live_", "shippo_test_"], Hex, 40),
    format(
        "a Shopify token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"],
        Hex,
        32,
    ),
    format(
        "a Slack token",
        &[
            "xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-",
        ],
        WordDashDot,
        10,
    ),
    format(
        "a Slack webhook",
        &["hooks.slack.com/services/", "hooks.slack.com/workflows/"],
        Base64,
        30,
    ),
    format("a Sourcegraph token", &["sgp_"], Word, 40),
    format("a Square token", &["sq0atp-", "sq0csp-"], WordDash, 22),
    format(
        "a Stripe key",
        &[
            "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_",
        ],
        Alnum,
        10,
    ),
    format("a Stripe webhook secret", &["whsec_"], Base64, 24),
    format("a Supabase key", &["sbp_", "sb_secret_"], WordDash, 20),
    format("a Tailscale key", &["tskey-"], WordDash, 20),
    format("a Tavily key", &["tvly-"], WordDash, 20),
    format("a Twilio key", &["SK"], Hex, 32).up_to(32),
    format("a Typeform token", &["tfp_"], WordDashDot, 40),
    format("a Vault token", &["hvs.", "hvb.", "hvr."], WordDash, 20),
    format("an xAI key", &["xai-"], Alnum, 60),
    format("a Yandex token", &["y0_", "AQVN"], WordDash, 35).with_digit(),
];

/// The beginnings of all tokens: one search for literals, and the formats by the first byte of a beginning,
/// the longer first. A beginning is also a part of many words, so the characters around it are checked.
struct Prefixes {
    search: Regex,
    by_first_byte: Vec<Vec<(&'static str, &'static TokenFormat)>>,
}

static PREFIXES: LazyLock<Prefixes> = LazyLock::new(|| {
    let mut prefixes: Vec<(&str, &TokenFormat)> = FORMATS
        .iter()
        .flat_map(|format| format.prefixes.iter().map(move |prefix| (*prefix, format)))
        .collect();
    prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
    let literals: Vec<String> = prefixes.iter().map(|(prefix, _)| regex::escape(prefix)).collect();
    let mut by_first_byte = vec![Vec::new(); 256];
    for (prefix, format) in prefixes {
        by_first_byte[usize::from(prefix.as_bytes()[0])].push((prefix, format));
    }
    Prefixes {
        search: Regex::new(&literals.join("|")).expect("escaped literals are a pattern"),
        by_first_byte,
    }
});

/// Characters that decide whether a run is a token. Without a limit, `sk-sk-sk-…` would be read to its end
/// from each of its beginnings.
const MAX_DECIDING_CHARS: usize = 256;

/// A token in a text: its description and its bytes.
pub(super) type Found = (&'static str, std::ops::Range<usize>);

/// The tokens of a text, from left to right.
pub(super) fn find_tokens(text: &str) -> impl Iterator<Item = Found> {
    let prefixes = &*PREFIXES;
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let begin = prefixes.search.find_at(text, at)?;
            let range = begin.range();
            at = range.start + 1;
            if !begins_word(text, range.start) {
                continue;
            }
            // A longer beginning was tried first, but a shorter one may fit: `sk_` after `sk_test_`.
            let first = usize::from(text.as_bytes()[range.start]);
            let mut fitting = prefixes.by_first_byte[first]
                .iter()
                .filter(|(prefix, _)| text[range.start..].starts_with(prefix));
            let found = fitting.find_map(|(prefix, format)| format.match_at(text, range.start, prefix));
            if let Some(found) = found {
                at = found.1.end;
                return Some(found);
            }
        }
    })
}

impl TokenFormat {
    /// The token that begins at a position, where its prefix is.
    fn match_at(&self, text: &str, start: usize, prefix: &str) -> Option<Found> {
        let body = &text[start + prefix.len()..];
        let belongs = |byte: &u8| self.alphabet.contains(*byte);
        let mut length = body.bytes().take(MAX_DECIDING_CHARS).take_while(belongs).count();
        let is_mixed = !self.needs_digit || body[..length].bytes().any(|byte| byte.is_ascii_digit());
        if length < self.min_chars || !is_mixed || is_filler(&body[..length]) {
            return None;
        }
        length += body.bytes().skip(length).take_while(belongs).count();
        // A dot or a dash at the end belongs to the sentence.
        let token = body[..length].trim_end_matches(['.', '-']);
        let ends = body[token.len()..]
            .bytes()
            .next()
            .is_none_or(|byte| !is_word(byte));
        let is_long = token.len() >= self.min_chars && token.len() <= self.max_chars;
        (ends && is_long).then(|| (self.kind, start..start + prefix.len() + token.len()))
    }
}

impl Alphabet {
    fn contains(self, byte: u8) -> bool {
        match self {
            Hex => byte.is_ascii_hexdigit(),
            HexDash => byte.is_ascii_hexdigit() || byte == b'-',
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            UpperDash => byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-',
            Alnum => byte.is_ascii_alphanumeric(),
            Word => is_word(byte),
            WordDash => is_word(byte) || byte == b'-',
            WordDashDot => is_word(byte) || matches!(byte, b'-' | b'.'),
            Base64 => is_word(byte) || matches!(byte, b'-' | b'+' | b'/' | b'='),
        }
    }
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True if no word reaches over the position from the left. The letter of `\n` in an escaped text is no word.
pub(super) fn begins_word(text: &str, start: usize) -> bool {
    match text.as_bytes()[..start] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., before] => !is_word(before),
    }
}

/// True for a value that fills a place: one character repeated, or a row of `x`.
fn is_filler(value: &str) -> bool {
    let mut bytes = value.bytes();
    let first = bytes.next();
    bytes.all(|byte| Some(byte) == first) || value.to_ascii_lowercase().contains("xxxx")
}

/// True for the stand-ins of documentation: a filler, or a word that says so.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    is_filler(value)
        || [
            "****",
            "....",
            "example",
            "your",
            "placeholder",
            "redacted",
            "changeme",
            "dummy",
        ]
        .iter()
        .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const HEX: &str = "a1b2c3d4e5f60718";
    const MIXED: &str = "aB3dE5gH7jK9mN1pQ";
    const CAPITALS: &str = "A2C4E6G7JKLMNPQR";

    fn long(part: &str, chars: usize) -> String {
        part.repeat(chars / part.len() + 1)[..chars].to_owned()
    }

    fn token(prefix: &str, part: &str, chars: usize) -> String {
        format!("{prefix}{}", long(part, chars))
    }

    fn parts(prefix: &str, lengths: &[usize], between: &str) -> String {
        let parts: Vec<String> = lengths.iter().map(|chars| long(MIXED, *chars)).collect();
        format!("{prefix}{}", parts.join(between))
    }

    /// Made-up tokens with the lengths of real ones, joined at run time, so that no scanner takes a fixture
    /// for a real secret.
    fn samples() -> Vec<(&'static str, String)> {
        let mut all = samples_before_google();
        all.extend(samples_from_google());
        all
    }

    fn samples_before_google() -> Vec<(&'static str, String)> {
        vec![
            ("a 1Password token", token("ops_eyJ", MIXED, 250)),
            (
                "a 1Password secret key",
                format!("A3-{}", ["AB12CD"; 6].join("-")),
            ),
            ("an Adobe secret", token("p8e-", MIXED, 32)),
            ("an age key", token("AGE-SECRET-KEY-1", CAPITALS, 58)),
            ("an Alibaba access key", token("LTAI", MIXED, 20)),
            ("an API key", token("sk-ant-api03-", MIXED, 93)),
            ("an API key", token("sk-proj-", MIXED, 74)),
            ("an API key", token("sk_", HEX, 48)),
            ("an Artifactory token", token("AKCp", MIXED, 69)),
            ("an Artifactory token", token("cmVmd", MIXED, 59)),
            ("an Atlassian token", token("ATATT3", MIXED, 180)),
            ("an AWS access key", token("AKIA", CAPITALS, 16)),
            ("an AWS Bedrock key", token("ABSK", MIXED, 110)),
            ("a Bitbucket password", token("ATBB", MIXED, 32)),
            (
                "a Brevo key",
                format!("{}-{}", token("xkeysib-", HEX, 64), long(MIXED, 16)),
            ),
            ("a Buildkite token", token("bkua_", HEX, 40)),
            ("a CircleCI token", parts("CCIPAT_", &[22, 40], "_")),
            ("a Clojars token", token("CLOJARS_", HEX, 60)),
            ("a Cloudflare token", token("cfut_", MIXED, 48)),
            (
                "a Cloudflare key",
                format!("{}-{}", token("v1.0-", HEX, 24), long(HEX, 146)),
            ),
            ("a Contentful token", token("CFPAT-", MIXED, 43)),
            ("a crates.io token", token("cio", MIXED, 32)),
            ("a Databricks token", token("dapi", HEX, 32)),
            ("a Deno token", token("ddp_", MIXED, 36)),
            ("a DigitalOcean token", token("dop_v1_", HEX, 64)),
            ("a Docker token", token("dckr_pat_", MIXED, 27)),
            ("a Doppler token", token("dp.pt.", MIXED, 43)),
            ("a Duffel token", token("duffel_live_", MIXED, 43)),
            ("a Dynatrace token", parts("dt0c01.", &[24, 64], ".")),
            ("an EasyPost key", token("EZAK", MIXED, 54)),
            ("a Facebook token", token("EAAC", MIXED, 150)),
            ("a Figma token", token("figd_", MIXED, 40)),
            ("a Flutterwave key", token("FLWSECK_TEST-", HEX, 32)),
            ("a Fly.io token", token("fo1_", MIXED, 43)),
            ("a GitHub token", token("ghp_", MIXED, 36)),
            ("a GitHub token", token("ghs_", MIXED, 36)),
            ("a GitHub token", parts("github_pat_", &[22, 59], "_")),
            ("a GitLab token", token("glpat-", MIXED, 20)),
            ("a GitLab token", token("glrt-", MIXED, 20)),
            ("a GitLab token", token("GR1348941", MIXED, 20)),
        ]
    }

    fn samples_from_google() -> Vec<(&'static str, String)> {
        vec![
            ("a Google API key", token("AIza", MIXED, 35)),
            ("a Google OAuth token", token("ya29.", MIXED, 120)),
            ("a Google OAuth token", token("1//0", MIXED, 60)),
            ("a Google OAuth secret", token("GOCSPX-", MIXED, 28)),
            (
                "a Grafana token",
                format!("{}_{}", token("glsa_", MIXED, 32), long(HEX, 8)),
            ),
            ("a Groq key", token("gsk_", MIXED, 52)),
            ("a Heroku key", token("HRKU-AA", MIXED, 58)),
            ("a Hugging Face token", token("hf_", "aBcDeFgHi", 34)),
            ("a LangSmith key", parts("lsv2_pt_", &[32, 10], "_")),
            ("a Linear key", token("lin_api_", MIXED, 40)),
            ("a Mailgun key", token("key-", HEX, 32)),
            ("a Mapbox token", parts("sk.eyJ", &[60, 22], ".")),
            ("a Netlify token", token("nfp_", MIXED, 36)),
            ("a New Relic key", token("NRAK-", CAPITALS, 27)),
            ("a Notion token", token("ntn_", MIXED, 46)),
            ("a Notion token", token("secret_", MIXED, 43)),
            ("an npm token", token("npm_", MIXED, 36)),
            ("an Octopus key", token("API-", CAPITALS, 26)),
            ("an OpenShift token", token("sha256~", MIXED, 43)),
            ("a Perplexity key", token("pplx-", MIXED, 48)),
            ("a Pinecone key", parts("pcsk_", &[6, 60], "_")),
            ("a PlanetScale token", token("pscale_tkn_", MIXED, 43)),
            ("a PostHog key", token("phx_", MIXED, 43)),
            (
                "a Postman key",
                format!("{}-{}", token("PMAK-", HEX, 24), long(HEX, 34)),
            ),
            ("a Prefect key", token("pnu_", MIXED, 36)),
            ("a Pulumi token", token("pul-", HEX, 40)),
            ("a PyPI token", token("pypi-AgEIcHlwaS5vcmc", MIXED, 120)),
            ("a Razorpay key", token("rzp_live_", MIXED, 14)),
            ("a ReadMe key", token("rdme_", MIXED, 70)),
            ("a Replicate token", token("r8_", MIXED, 37)),
            ("a RubyGems key", token("rubygems_", HEX, 48)),
            ("a SendGrid key", parts("SG.", &[22, 43], ".")),
            ("a Sentry token", token("sntryu_", HEX, 64)),
            ("a Shippo token", token("shippo_live_", HEX, 40)),
            ("a Shopify token", token("shpat_", HEX, 32)),
            (
                "a Slack token",
                format!("{}-{}", token("xoxb-", "123456", 12), long(MIXED, 24)),
            ),
            ("a Slack token", token("xapp-1-A012-", MIXED, 64)),
            (
                "a Slack webhook",
                format!("hooks.slack.com/services/T0AB/B0CD/{}", long(MIXED, 24)),
            ),
            ("a Sourcegraph token", token("sgp_", HEX, 40)),
            ("a Square token", token("sq0atp-", MIXED, 22)),
            ("a Stripe key", token("sk_live_", MIXED, 24)),
            ("a Stripe webhook secret", token("whsec_", MIXED, 32)),
            ("a Supabase key", token("sbp_", HEX, 40)),
            ("a Tailscale key", parts("tskey-auth-", &[16, 32], "-")),
            ("a Tavily key", token("tvly-", MIXED, 32)),
            ("a Twilio key", token("SK", HEX, 32)),
            ("a Typeform token", token("tfp_", MIXED, 59)),
            ("a Vault token", token("hvs.", MIXED, 92)),
            ("an xAI key", token("xai-", MIXED, 80)),
            ("a Yandex token", token("y0_", MIXED, 55)),
        ]
    }

    #[test]
    fn a_token_of_every_format_is_found_whole_in_any_surroundings() {
        for (kind, token) in samples() {
            for (before, after) in [
                ("", ""),
                ("use ", " here"),
                ("key=\"", "\"\n"),
                ("(", ")."),
                (r"first\n", r"\nlast"),
                ("см. ", "…"),
            ] {
                let text = format!("{before}{token}{after}");
                let expected = vec![(kind, before.len()..before.len() + token.len())];
                let found: Vec<Found> = find_tokens(&text).collect();
                assert_eq!(found, expected, "{text}");
            }
        }
    }

    #[test]
    fn every_format_has_a_sample() {
        let sampled: BTreeSet<&str> = samples().iter().map(|(kind, _)| *kind).collect();
        let formats: BTreeSet<&str> = FORMATS.iter().map(|format| format.kind).collect();
        assert_eq!(sampled, formats);
    }

    #[test]
    fn words_and_stand_ins_are_no_tokens() {
        let dashes = "sk-".repeat(2_000);
        for text in [
            "sk-toggleable__content-arrow",
            "task-0123456789abcdef0",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "glpat-short",
            "AKIAABCDEFGHIJKLMNOPQRST",
            "my_hf_abcdefghijklmnopqrstuvwxyzabcdefgh",
            "dapi0123456789abcdef0123456789abcdefghij",
            "secret_token_of_the_application_and_of_the_user_1",
            "path/to/pattern.example.rs",
            "npm_config_registry_and_other_variables_of_npm",
            &dashes,
        ] {
            assert_eq!(find_tokens(text).next(), None, "{text}");
        }
    }
}
