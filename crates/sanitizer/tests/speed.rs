//! The time that a text takes, also a hostile one.

use std::time::Duration;

use sanitizer::settled_length;

use crate::sanitize::plain;

/// Returns the processor time that `work` takes. Other programs on the machine do not count.
#[cfg(unix)]
pub(crate) fn processor_time(work: impl FnOnce()) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("the time is not negative");
    let begin = now();
    work();
    now().saturating_sub(begin)
}

#[cfg(not(unix))]
pub(crate) fn processor_time(work: impl FnOnce()) -> Duration {
    let begin = std::time::Instant::now();
    work();
    begin.elapsed()
}

/// Pieces of texts on which a careless rule would take long.
const HOSTILE: &[&str] = &[
    " ",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJ-",
    "\\\"kind\\\":\\\"Secret\\\",\\\"foo\\\"kind\":\"Secret\"",
    "a",
    "a=",
    "key=",
    "api_key=",
    "token: ",
    "password=\"",
    "pwd=\\\"pwd=\\\\\\\"pwd=\"",
    "at foo(bar)\n",
    "  File \"x\", line 1, in f\n",
    "\\\"",
    "\"",
    "\x1b[",
    "\x1b[1",
    "\x1b]",
    "\x1b]0;",
    "\x1b",
    "\r",
    "\u{9d}",
    "-----BEGIN RSA PRIVATE KEY-----\n",
    "\"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\n",
    "-----END RSA PRIVATE KEY-----\n",
    "aaaa\n-----END RSA PRIVATE KEY-----\n",
    "Authorization: ",
    "Authorization: Bearer ",
    "Authorization: Digest a=\"",
    "Cookie: a=",
    "://",
    "://a:b/",
    "://a@",
    "curl -u ",
    " -u a:b",
    "/home/",
    "/home/a",
    "sk-a",
    "12345678:AA",
    "bearer ",
    "<password>",
    "keykeykey",
    "key-",
    "secret_",
    "secret_a1B",
    "漢字",
    "password=[",
    "--token ",
    " -p",
    "mysql -p",
    "docker login -p \"",
    "openssl -passin ",
    "- name: a_key\n  value: ",
    "variable \"key\" { default = ",
    "password is a ",
    "密码：",
    "passwort ",
    "password: !a ",
    "token = String::from(\"",
    "CREATE USER a IDENTIFIED BY '",
    "identified with \"",
    "h:5432:a:b:c ",
    "h:5432:a:",
    "| password |\n|---|\n| k9x2m4p7 |\n",
    "|---|\n",
    "---",
    "| password ",
    "password=a;b1;",
    "\"-----BEGIN RSA PRIVATE KEY-----\" +\n",
    "\"MIIEowIBAAKCAQEAMIIEowIBAAKCAQEAMIIEowIBAAKCAQEA\\n\" +\n",
    "Authorization: a b=",
    "password:\n  ",
    "password: |\n  ",
    " password: |\n  a b is\n",
    "password = <<A\n",
    "password = <<A\nx1y2 is\n",
    "<key>a_key</key>\n<string>",
    "<password a=\"",
    "%3Fpassword%3D",
    "password%25253D",
    "\\u0022password\\u0022:\\u0022",
    "&amp;amp;password&amp;#61;",
    "password==a1b2 ",
    "password[0]=",
    "password='a''",
    ";PWD={a}};",
    "kind: Secret\n",
    "data:\n  a: b\nkind: Secret\n",
    "kind: Secret\ndata:\n  a: |\n    b\n---\n",
    "\"data\":{\"a\":\"b\"},\"kind\":\"Secret\",",
    "\"kind\":\"Secret\",\"data\":{",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl\n",
    "eyJhdXRocyI6eyJyZWdpc3RyeS5leGFtcGxl\\n",
    "    a\n",
    "password: |\\n  a1\\n",
];

/// The scanned part of a huge text is as long as the scanned part of a text that is a thousandth of it.
#[test]
fn a_line_of_a_huge_text_costs_as_much_as_its_beginning() {
    let sanitizer = plain();
    let piece = "word ghp_0123456789abcdefghijklmnopqrstuvwxyzAB\n";
    let short = piece.repeat(1 << 10);
    let huge = piece.repeat(1 << 20);
    let least = |text: &str| {
        let shown = || assert!(sanitizer.line(text, 100).chars().count() <= 100);
        (0..5).map(|_| processor_time(shown)).min().expect("the time is measured five times")
    };
    assert!(least(&huge) < least(&short) * 20, "{:?}, {:?}", least(&huge), least(&short));
}

/// A long text takes as long as eight texts of an eighth of its length. With a quadratic rule it takes eight times as long. A busy
/// machine has cold caches, so the smallest time counts, and a bad result is measured again.
#[test]
fn hostile_text_is_settled_at_once() {
    let sanitizer = plain();
    for piece in HOSTILE {
        let text = |length: usize| piece.repeat(length / piece.len());
        let clean = sanitizer.sanitize(&format!("{}://a:b@c", text(4_000)));
        assert!(sanitizer.sanitize(&clean) == clean, "{piece:?} changes when sanitized twice");
        let time = |text: &str| {
            processor_time(|| {
                assert!(
                    settled_length(text) <= text.len() && sanitizer.sanitize(text).len() <= 2 * text.len()
                );
            })
        };
        let short = text(3_000);
        let long = text(24_000);
        let mut eight = Duration::MAX;
        let mut whole = Duration::MAX;
        let is_linear = (0..30).any(|_| {
            eight = eight.min((0..8).map(|_| time(&short)).sum());
            whole = whole.min(time(&long));
            whole < eight * 3
        });
        assert!(is_linear, "{piece:?} takes {whole:?}, and in eight parts {eight:?}");
    }
}

#[test]
fn many_values_with_the_same_beginning_are_searched_in_linear_time() {
    let lines =
        (0..4000).map(|number| format!("api_key=k9x2m4p7q1Zz77Qw{number}\nk9x2m4p7q1Zz77Qv{number}\n"));
    let text: String = lines.collect();
    let clean = plain().sanitize(&text);
    assert!(!clean.contains("77Qw") && clean.contains("77Qv3999"));
}
