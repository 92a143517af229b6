//! The properties of the fuzz targets, on generated input and on their seeds.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pi_subagent_warden::{
    Ending, LimitKind, Limits, Mechanism, Options, Order, OverLimit, Report, Sandbox, Stage, Tally,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

#[path = "../fuzz/properties/mod.rs"]
mod shared;

/// Pieces of records, so that many of a generated stream's lines are events.
const RECORDS: [&str; 29] = [
    "{\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n",
    "{\"type\":\"message_update\",\"usage\":{\"input\":1},\"assistantMessageEvent\":{\"type\":\"text_delta\",\"contentIndex\":0,\"delta\":\"",
    "\"}}\n",
    "{\"type\":\"message_update\",\"assistantMessageEvent\":{\"type\":\"text_start\",\"contentIndex\":1}}\n",
    "{\"type\":\"message_end\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"",
    "\"}],\"stopReason\":\"stop\"}}\n",
    "{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"bash\",\"arguments\":{\"a\":[1,{\"b\":\"",
    "\"}]}}],\"stopReason\":\"toolUse\",\"usage\":{\"input\":3,\"cost\":{\"total\":0.5}}}}\n",
    "{\"type\":\"tool_execution_start\",\"toolCallId\":\"a\",\"toolName\":\"read\",\"args\":{}}\n",
    "{\"type\":\"tool_execution_end\",\"toolCallId\":\"a\"}\n",
    "{\"type\":\"agent_end\",\"messages\":[]}\n",
    "{\"type\":\"agent_settled\"}\n",
    "{\"type\":\"auto_retry_start\",\"attempt\":1}\n",
    "{\"type\":\"auto_retry_start\",\"delayMs\":9,\"errorMessage\":\"429: try again in 3s",
    "\"}\n",
    "{\"id\":\"1\",\"type\":\"response\",\"command\":\"prompt\",\"success\":true,\"data\":{\"disposition\":\"",
    "{\"type\":\"extension_ui_request\",\"id\":\"2\",\"method\":\"select\",\"options\":[\"a\",\"",
    "\"],\"title\":\"",
    "{\"type\":\"extension_ui_request\",\"id\":\"1\",\"method\":\"confirm\"}\n",
    "{\"type\":\"from_the_future\",\"a\":[[{}]]}\n",
    "npm WARN noise",
    "\n",
    "\r\n",
    "\u{feff}",
    "\\ud83d",
    "\\ude00",
    "token: hunter",
    "漢",
    "}",
];

const FIELDS: [&str; 28] = [
    "---\n",
    "name: a\n",
    "name: ",
    "description: |\n  ",
    "readonly: true\n",
    "tools: [read, grep]\n",
    "tools: ",
    "model: x\n",
    "timeoutMs: 1000\n",
    "maxCost: .5\n",
    "context: none\n",
    "skills: ",
    "unknown: 1\n",
    "&a ",
    "*a",
    "!t ",
    "- ",
    "? ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\r\n",
    "\r",
    "body",
    "\u{feff}",
];

const WORDS: [&str; 30] = [
    "started",
    "failed",
    "ended",
    "over",
    "gone",
    "code",
    "signal",
    "exec",
    "landlock",
    "memoryBytes",
    "7",
    "-1",
    "18446744073709551616",
    " ",
    " ",
    " ",
    "\n",
    "\0",
    "--grace-ms\0",
    "--read-only\0",
    "--writable\0/a\0",
    "--\0",
    "/bin/sh",
    "warden 1\n",
    "landlock yes 7\n",
    "cgroup no because\n",
    "ask",
    "kill",
    "é",
    "\r\n",
];

const TEXTS: [&str; 46] = [
    "api_key=",
    "password: ",
    "token",
    "Authorization: Digest a=\"",
    "Bearer ",
    "Cookie: a=",
    "\"",
    "'",
    "\\",
    "\\n",
    "\n",
    "\r",
    " ",
    "k9x2m4p7q1Zz",
    "hunter2",
    "Kn0wn-",
    "Value-77",
    "multi\nline-Kn0wn",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----END RSA PRIVATE KEY-----",
    "MIIEowIBAAKCAQEA0Z3VS5JJ\n",
    "://u:",
    "@h",
    "mysql -p",
    "docker login -p ",
    "- name: DB_PASSWORD\n  value: ",
    "variable \"secret\" { default = ",
    "密码：",
    "passwort ",
    "\x1b[1m",
    "\x1b]0;",
    "漢",
    "    at f (a.js:1:2)\n",
    "/home/ann/",
    "[REDACTED]",
    "is generated for x: ",
    "password: |\n  ",
    "api_key = <<EOT\n",
    "EOT\n",
    "<key>Password</key>\n<string>",
    "password%3D",
    "\\u0022token\\u0022:\\u0022",
    "&quot;password&quot;: &quot;",
    "kind: Secret\ndata:\n  a: ",
    "eyJwYXNzd29yZCI6Ims5eDJtNHA3cTFaeiJ9",
    "S24wd24tVmFsdWUtNzc=",
];

fn joined(pieces: &[&'static str], max: usize) -> impl Strategy<Value = String> + use<> {
    let piece = prop_oneof![12 => select(pieces.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    vec(piece, 0..max).prop_map(|pieces| pieces.concat())
}

fn mechanism() -> impl Strategy<Value = Mechanism> {
    use Mechanism::{Cgroup, Landlock, MountNamespace, PidNamespace, Seccomp, ToolSandbox};
    select(vec![Landlock, MountNamespace, Seccomp, ToolSandbox, PidNamespace, Cgroup])
}

fn report() -> impl Strategy<Value = Report> {
    let stage = select(vec![Stage::Warden, Stage::Sandbox, Stage::Namespace, Stage::Exec]);
    let limit = select(vec![LimitKind::Memory, LimitKind::Processes, LimitKind::Cpu, LimitKind::OpenFiles]);
    // Words of printable characters, as the warden cleans a process name.
    let name = "([!-~]{1,8}( [!-~]{1,8}){0,2})?";
    prop_oneof![
        "\\PC{0,20}".prop_map(|path| Report::Grouped(path.into())),
        vec(mechanism(), 0..5).prop_map(Report::Started),
        (stage, any::<i32>(), prop::option::of("[^\\p{Cc} ][^\\p{Cc}]{0,40}"))
            .prop_map(|(stage, errno, path)| Report::Failed { stage, errno, path: path.map(Into::into) }),
        any::<i32>().prop_map(|code| Report::Ended(Ending::Code(code))),
        (any::<i32>(), any::<bool>())
            .prop_map(|(number, core)| Report::Ended(Ending::Signal { number, core })),
        (limit, any::<u64>(), any::<u64>(), any::<u32>(), name).prop_map(
            |(limit, value, allowed, pid, name)| {
                Report::OverLimit(OverLimit { limit, value, allowed, pid, name })
            }
        ),
        (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
            |(peak_rss_bytes, cpu_ms, processes, remaining)| Report::TreeEnded(Tally {
                peak_rss_bytes,
                cpu_ms,
                processes,
                remaining
            })
        ),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let word =
        || prop_oneof!["\\PC{0,8}", select(vec!["--", "--grace-ms", "-x", ""]).prop_map(str::to_owned)];
    let limit = || proptest::option::of(any::<u64>());
    let paths = || vec(word().prop_map(Into::into), 0..3);
    let bytes = (limit(), limit());
    let sandbox = (paths(), paths(), any::<bool>(), paths(), paths(), paths(), paths(), bytes).prop_map(
        |(writable, protected, metadata, hidden, shown, unreadable, readable, bytes)| Sandbox {
            writable,
            protected,
            metadata,
            hidden,
            shown,
            unreadable,
            readable,
            file_bytes: bytes.0,
            temporary_bytes: bytes.1,
        },
    );
    let limits = (limit(), limit(), limit(), limit());
    let kept = (vec(word(), 0..3), proptest::option::of(word()), vec(word(), 0..3));
    let command = vec(word(), 1..4);
    (0_u64..1 << 40, proptest::option::of(sandbox), limits, vec(word(), 0..3), kept, any::<bool>(), command)
        .prop_map(
            |(
                grace,
                sandbox,
                (memory_bytes, processes, cpu_seconds, open_files),
                scratch,
                (unless_kept, directory, last_command),
                pid_namespace,
                command,
            )| Options {
                grace: Duration::from_millis(grace),
                sandbox,
                limits: Limits { memory_bytes, processes, cpu_seconds, open_files },
                scratch: scratch.into_iter().map(Into::into).collect(),
                unless_kept: unless_kept.into_iter().map(Into::into).collect(),
                directory: directory.map(Into::into),
                last_command: last_command.into_iter().map(Into::into).collect(),
                pid_namespace,
                command: command.into_iter().map(Into::into).collect(),
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_do_not_depend_on_chunks(stream in vec(select(b"\n\n\xef\xbb\xbf\rab".to_vec()), 0..40)) {
        shared::framer(&stream);
    }

    #[test]
    fn a_collected_state_does_not_depend_on_chunks(stream in joined(&RECORDS, 24)) {
        shared::collector(stream.as_bytes());
    }

    #[test]
    fn an_agent_file_is_read_whole_or_not_at_all(content in joined(&FIELDS, 16)) {
        shared::frontmatter(content.as_bytes());
        shared::frontmatter(format!("---\nname: a\n{content}\n---\n{content}").as_bytes());
    }

    #[test]
    fn sanitized_text_is_clean_and_stays_clean(text in joined(&TEXTS, 16)) {
        shared::sanitizer(text.as_bytes());
    }

    #[test]
    fn no_bytes_crash_a_warden_or_its_host(message in joined(&WORDS, 12)) {
        shared::warden(message.as_bytes());
    }

    #[test]
    fn a_report_survives_its_encoding(report in report()) {
        prop_assert_eq!(Report::parse(report.to_string().as_bytes()), Some(report));
    }

    #[test]
    fn options_survive_their_encoding(options in options()) {
        prop_assert_eq!(Options::from_args(options.to_args()), Ok(options));
    }
}

#[test]
fn seeds_satisfy_the_properties() {
    type Target = (&'static str, fn(&[u8]));
    let targets: [Target; 2] = [("frontmatter", shared::frontmatter), ("warden", shared::warden)];
    for (name, property) in targets {
        let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(name);
        for seed in fs::read_dir(seeds).expect("seeds are part of the repository") {
            property(&fs::read(seed.expect("the entry is readable").path()).expect("the file is readable"));
        }
    }
    assert_eq!(Order::parse(b"kill"), Some(Order::Kill));
}
