//! The time for which this process remembers the cost of a session. The test has its own file, because all tests of one program
//! share the accounts.

#![expect(clippy::float_cmp, reason = "the sums are promised to be exact")]

use pi_subagent_native::run::account_of;

/// Asks for a session's cost. Returns 1 if this process knew it, and 2 if the store was asked.
fn known(session: &str) -> f64 {
    account_of(session, || 2.0).spent()
}

fn ask_for(sessions: std::ops::Range<usize>) {
    for number in sessions {
        account_of(&format!("session {number}"), || 0.0);
    }
}

#[test]
fn a_session_is_forgotten_after_64_others_and_not_before() {
    account_of("idle", || 1.0);
    ask_for(0..63);
    assert_eq!(known("idle"), 1.0, "the session is kept after 63 others");
    // Each request makes its session the newest.
    ask_for(100..163);
    assert_eq!(known("idle"), 1.0, "the session is kept after 63 more");
    ask_for(200..264);
    assert_eq!(known("idle"), 2.0, "the session is forgotten after 64 others");

    let used = account_of("in use", || 1.0);
    ask_for(300..500);
    assert_eq!(known("in use"), 1.0, "a session in use is kept");
    drop(used);
    ask_for(500..563);
    assert_eq!(known("in use"), 1.0, "a released session counts as the newest");
    ask_for(600..664);
    assert_eq!(known("in use"), 2.0, "an unused session is forgotten");
}
