//! Texts with secrets of every kind, and texts that only look like it.

use super::*;

/// Joined at run time, so that no scanner takes a fixture for a real secret.
fn token(prefix: &str, body: &str) -> String {
    format!("{prefix}{}", body.repeat(8))
}

#[test]
fn secrets_of_known_shapes_are_redacted() {
    for secret in [
        token("AKIA", "AB")[..20].to_owned(),
        token("ghp_", "abcD1"),
        token("sk-", "abcD1"),
        token("xoxb-", "12345"),
        token("eyJ", "abcd") + "." + &"abcd".repeat(4) + ".sig",
    ] {
        let text = format!("found {secret} here");
        assert_eq!(redact(&text), "found [redacted] here", "{secret}");
    }
}

#[test]
fn the_name_that_a_secret_is_assigned_to_stays() {
    assert_eq!(redact(r#"password = "hunter22""#), r#"password = "[redacted]""#);
    assert_eq!(redact("API_KEY: abcdef, x"), "API_KEY: [redacted], x");
    assert_eq!(
        redact("https://user:pass@host/p"),
        "https://user:[redacted]@host/p"
    );
    assert_eq!(
        redact("Authorization: Bearer abcdef123456"),
        "Authorization: Bearer [redacted]"
    );
}

#[test]
fn a_private_key_is_redacted_even_if_its_end_is_missing() {
    let begin = ["-----BEGIN RSA PRIVATE", " KEY-----"].concat();
    assert_eq!(redact(&format!("a {begin}\nMIIE\nxyz")), "a [redacted]");
}

/// Text, the secret in it, and its description.
fn shaped() -> Vec<(String, String, &'static str)> {
    let mixed = |chars: usize| "aB3dE5gH7jK9".repeat(chars / 12 + 1)[..chars].to_owned();
    let digits = "1234567890";
    let web_token = format!("eyJ{}.eyJ{}.{}", mixed(20), mixed(30), mixed(43));
    let discord = format!("M{}.{}.{}", mixed(24), mixed(6), mixed(27));
    let telegram = format!("{digits}:AA{}", mixed(33));
    let in_text =
        |before: &str, secret: String, after: &str, kind| (format!("{before}{secret}{after}"), secret, kind);
    vec![
        in_text("", web_token.clone(), "", "a JSON web token"),
        in_text(r"sent\n", web_token, r"\n", "a JSON web token"),
        in_text(
            "key ",
            format!("pat{}.{}", mixed(14), "0a".repeat(32)),
            "",
            "an Airtable token",
        ),
        in_text("bot ", discord, " here", "a Discord token"),
        in_text("url/bot", telegram, "/getMe", "a Telegram token"),
        in_text(
            "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=",
            mixed(86) + "==",
            ";EndpointSuffix=core",
            "an Azure access key",
        ),
        in_text(
            "Endpoint=sb://x/;SharedAccessKey=",
            mixed(43) + "=",
            "",
            "an Azure access key",
        ),
        in_text(
            "https://x/y?sv=2022&sig=",
            mixed(43) + "%3D",
            "&se=1",
            "an Azure signature",
        ),
        in_text("secret abc8Q~", mixed(34), "\n", "an Azure client secret"),
        in_text("/api/webhooks/123456789012/", mixed(68), "", "a Discord webhook"),
        in_text(
            "aB3dE5gH7jK9aB.atlasv1.",
            mixed(67),
            "",
            "a Terraform Cloud token",
        ),
        in_text(
            "https://shop.webhook.office.com/webhookb2/",
            mixed(73),
            "",
            "a Teams webhook",
        ),
        in_text(
            "postgres://shop:",
            "hunter2".to_owned(),
            "@db/shop",
            "a password in a URL",
        ),
        in_text("amqp://:", "hunter2".to_owned(), "@queue", "a password in a URL"),
    ]
}

#[test]
fn secrets_of_every_shape_are_named_and_redacted() {
    for (text, secret, kind) in shaped() {
        assert_eq!(find_secret(&text), Some(kind), "{text}");
        assert_eq!(redact(&text), text.replace(&secret, MARK), "{text}");
    }
}

#[test]
fn a_private_key_is_redacted_in_every_armour() {
    for name in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let armour = |end: &str| format!("-----{end} {name}PRIVATE{}", " KEY-----");
        for line in ["\n", "\\n"] {
            let key = format!("{}{line}MIIEow{line}{}", armour("BEGIN"), armour("END"));
            assert_eq!(redact(&format!("a {key} b")), "a [redacted] b", "{key}");
            assert_eq!(find_secret(&key), Some("a private key"));
        }
    }
    let block = ["-----BEGIN PGP PRIVATE", " KEY BLOCK-----\nxyz"].concat();
    assert_eq!(redact(&block), MARK);
}

#[test]
fn a_value_after_a_name_is_found_in_every_notation() {
    for text in [
        "DB_PASS=§",
        "export PGPASSWORD='§'",
        "pass=§",
        "SMTP_PASS: \"§\"",
        "password: \"§\"",
        r#"{\"password\":\"§\"}"#,
        r#""{\\\"password\\\": \\\"§\\\"}""#,
        "config['api_key'] = \"§\"",
        "$config[\"auth_key\"] => '§'",
        "Server=db;User Id=sa;Password=§;Encrypt=yes",
        "aws_secret_access_key = §",
        "encryption-key := `§`",
        "the password is §",
        "The API key is: §",
        "their passphrase was \"§\".",
        "curl -H 'X-Api-Key: §'",
        "?access_token=§&page=2",
    ] {
        let text = text.replace('§', "hunter2x9k4Q");
        assert_eq!(find_secret(&text), Some("a password or token"), "{text}");
        assert_eq!(redact(&text), text.replace("hunter2x9k4Q", MARK), "{text}");
    }
    assert_eq!(
        redact("password = \"correct horse battery\" # why"),
        "password = \"[redacted]\" # why"
    );
    assert_eq!(
        redact("the password is Tr0ub4dor&3."),
        "the password is [redacted]&3."
    );
    assert_eq!(
        redact("Authorization: Basic dXNlcjpodW50ZXIy"),
        "Authorization: Basic [redacted]"
    );
}

#[test]
fn words_after_a_name_are_no_secret() {
    for text in [
        "a basic understanding of bearer authentication",
        "the password is required",
        "the token is base64-encoded",
        "The secret is 32 bytes",
        "the password is not empty (see 2.1)",
        "make test pass: everything",
        "tests pass in 2024",
    ] {
        assert!(matches!(redact(text), Cow::Borrowed(_)), "{text}");
    }
    for text in [
        "password=$DB_PASSWORD1",
        "token = process.env.TOKEN_1",
        "secret: {{ vault.secret1 }}",
        "api_key=<your-key-1>",
        "password=xxxxxxx1",
        "token=sha256",
        "token = 4096000",
        "secret=load_secret(2)",
    ] {
        assert_eq!(find_secret(text), None, "{text}");
    }
}

#[test]
fn prose_about_secrets_is_no_secret() {
    let github = token("ghp_", "abcD1");
    for (text, expected) in [
        (github.as_str(), Some("a GitHub token")),
        ("password=hunter22x", Some("a password or token")),
        ("\"password\": \"hunter22x\"", Some("a password or token")),
        ("Authorization: Bearer a1b2c3d4e5f6", Some("a password or token")),
        ("https://user:pass@host/p", Some("a password in a URL")),
        ("password: hashed with argon2id", None),
        ("password: argon2id everywhere", None),
        ("Auth token: RS256-signed JWT", None),
        ("token: refresh it before it ends", None),
        ("Use bearer authentication everywhere", None),
    ] {
        assert_eq!(find_secret(text), expected, "{text}");
    }
}

#[test]
fn ordinary_text_is_untouched() {
    let text = "fn token_count(limit: usize) -> usize";
    assert!(matches!(redact(text), Cow::Borrowed(same) if same == text));
}

#[test]
fn a_dot_behind_a_backslash_is_no_token() {
    for text in [r"\.2c3d4e5f.abcdef", r".2c3d4e5f.abcdef", r"a \..aaaaaaaa."] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_credential_before_a_bracket_is_found_and_redacted() {
    let text = "{Authorization: Bearer abc.deASS=x1y2z3}";
    assert!(find_secret(text).is_some());
    assert_ne!(redact(text), text);
}
