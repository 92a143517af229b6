//! Home directories in text.

use sanitizer::{HomePaths, Sanitizer, SanitizerOptions};

use crate::sanitize::{knowing, plain};

#[test]
fn homes_become_a_tilde_at_a_path_boundary_only() {
    let sanitizer = knowing();
    for (input, expected) in [
        ("/home/ann/a.rs:3", "~/a.rs:3"),
        ("in /home/ann.", "in ~."),
        ("/home/anna-b/x /home/bob/x", "/home/anna-b/x /home/bob/x"),
        ("/Users/ann/x y", "~/x y"),
        (r"C:\Users\ann\x", r"~\x"),
        (r#""C:\\Users\\ann\\x""#, r#""~\\x""#),
        ("file:///home/ann/x", "file://~/x"),
        ("PATH=/bin:/home/ann/bin", "PATH=/bin:~/bin"),
        ("-I/home/ann/include", "-I~/include"),
        (r#""a\n/home/ann/x""#, r#""a\n~/x""#),
        ("/root/x and /root", "~/x and ~"),
        ("/rooted /root-x /a/root/x", "/rooted /root-x /a/root/x"),
        ("/srv/people/ann/x", "~/x"),
        ("/srv/people/anna/x", "/srv/people/anna/x"),
        (
            "/homework/x /mnt/home/ann/x ./home/ann ~/home/ann",
            "/homework/x /mnt/home/ann/x ./home/ann ~/home/ann",
        ),
        ("/Users/Shared/x /home/ /home", "/Users/Shared/x /home/ /home"),
    ] {
        assert_eq!(&*sanitizer.sanitize(input), expected, "{input}");
    }
    assert_eq!(&*plain().sanitize("/root/x"), "/root/x", "a path outside the known homes is unchanged");
}

#[test]
fn homes_stay_in_code_where_an_edit_would_not_match() {
    let sanitizer = knowing();
    for (label, input, expected) in [
        (
            "fenced",
            "see /home/ann/a\n```sh\ncd /home/ann/a\n```\nsee /home/ann/a",
            "see ~/a\n```sh\ncd /home/ann/a\n```\nsee ~/a",
        ),
        (
            "tildes",
            "~~~\n/home/ann/a\n```\n/home/ann/b\n~~~\n/home/ann/c",
            "~~~\n/home/ann/a\n```\n/home/ann/b\n~~~\n~/c",
        ),
        (
            "indented",
            "x\n    cd /home/ann\n\tcd /home/ann\n  cd /home/ann",
            "x\n    cd /home/ann\n\tcd /home/ann\n  cd ~",
        ),
        (
            "a patch",
            "-    a = /home/ann\n+\tb = /home/ann\n- /home/ann",
            "-    a = /home/ann\n+\tb = /home/ann\n- ~",
        ),
        ("assigned", "const a = \"/home/ann/x\"; // /home/ann/x", "const a = \"/home/ann/x\"; // ~/x"),
        ("passed", "open('/home/ann/x', \"cd /home/ann\")", "open('/home/ann/x', \"cd /home/ann\")"),
        ("an entry", "{\"cwd\":\"/home/ann\"}", "{\"cwd\":\"/home/ann\"}"),
        ("imported", "import x from '/home/ann/x.js';", "import x from '/home/ann/x.js';"),
        ("a message", "ENOENT: no such file, open '/home/ann/x'", "ENOENT: no such file, open '~/x'"),
        ("prose", "it's in `/home/ann/x` and \"/home/ann/y\"", "it's in `~/x` and \"~/y\""),
        ("others", "/home/bob/x and docker's /home/node/app", "/home/bob/x and docker's /home/node/app"),
    ] {
        assert_eq!(&*sanitizer.sanitize(input), expected, "{label}");
        let arrived = (0..=input.len()).map(|end| sanitizer.sanitize_growing(&input[..end]).into_string());
        for shown in arrived {
            let whole = expected.starts_with(shown.trim_end_matches("/home/ann").trim_end_matches('~'));
            assert!(
                whole
                    || shown.ends_with("/home/an")
                    || expected.starts_with(&shown[..shown.len().saturating_sub(9)]),
                "{label}: {shown}"
            );
        }
    }
}

#[test]
fn homes_are_own_all_or_off() {
    let text = "/home/ann/x /home/bob/y /Users/eve\n```\n/home/ann/x\n```";
    for (paths, expected) in [
        (HomePaths::Own, "~/x /home/bob/y /Users/eve\n```\n/home/ann/x\n```"),
        (HomePaths::All, "~/x ~/y ~\n```\n~/x\n```"),
        (HomePaths::Off, text),
    ] {
        let homes = vec!["/home/ann".to_owned()];
        let options = SanitizerOptions { homes, home_paths: paths, ..SanitizerOptions::default() };
        assert_eq!(&*Sanitizer::new(options).sanitize(text), expected, "{paths}");
    }
}
