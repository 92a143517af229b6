//! Single agent files: their fields and restrictions.

use agents::{RESTRICTION_UNCLEAR, Source, parse};

#[test]
fn lines_of_examples_may_repeat_between_fields() {
    let front = "name: a\ndescription: Use: x\nmodel: inherit\nuser: one\ntools: [read]\nuser: two\n";
    let parsed = parse(format!("---\n{front}---\nBody\n").as_bytes(), Source::User, None);
    let agent = parsed.agent.expect("the file loads");
    assert_eq!(agent.tools, Some(vec!["read".to_owned()]));
}

#[test]
fn a_list_of_forbidden_tools_with_an_exception_makes_an_agent_read_only() {
    for front in ["permissions:\n  deny: [\"!bash\"]\n", "permission:\n  deny: [write, \"!bash\"]\n"] {
        let parsed = parse(format!("---\nname: a\n{front}---\nBody\n").as_bytes(), Source::User, None);
        let found = parsed.diagnostics.iter().map(|found| found.code).collect::<Vec<_>>();
        let agent = parsed.agent.expect("the file loads");
        assert!(agent.readonly, "{front} {found:?}");
        assert!(found.contains(&RESTRICTION_UNCLEAR.1), "{front} {found:?}");
    }
}
