//! Short helper programs: their output within limits, and no remaining process.
#![cfg(target_os = "linux")]

use std::time::Duration;

use crate::support::pids::Pids;
use crate::support::program::fixture;
use supervisor::{Captured, Outcome, capture, exit_code};

const LONG: Duration = Duration::from_secs(20);
/// Long enough for a fixture to begin, even on a machine under load.
const SHORT: Duration = Duration::from_secs(2);

fn pids_of(captured: &Captured) -> Pids {
    let mut pids = Pids::default();
    for line in String::from_utf8_lossy(&captured.stdout).lines() {
        if let Some(pid) = line.strip_prefix("pid ") {
            pids.push(pid.parse().expect("the ID is a number"));
        }
    }
    pids
}

#[tokio::test]
async fn output_and_status_of_a_helper_are_known() {
    let good = capture(fixture("shows", &["one"]), LONG, 1024).await.expect("the program starts");
    assert!(good.is_success() && !good.truncated);
    assert!(good.stdout.ends_with(b"\none\n"));
    let bad = capture(fixture("exits", &["7"]), LONG, 1024).await.expect("the program starts");
    assert!(!bad.is_success());
    assert!(matches!(bad.outcome, Outcome::Exited(status) if exit_code(status) == 7));
}

#[tokio::test]
async fn output_beyond_the_limit_is_dropped() {
    let captured = capture(fixture("counts_input", &[]), LONG, 1000).await.expect("the program starts");
    assert!(captured.is_success() && captured.truncated);
    assert_eq!(captured.stdout, [b'\n'; 1000]);
}

#[tokio::test]
async fn a_helper_that_takes_too_long_is_ended_with_its_tree() {
    let ends = async |name, count| {
        let captured = capture(fixture(name, &[]), SHORT, 4096).await.expect("the program starts");
        assert_eq!(captured.outcome, Outcome::HardTimeout { limit: SHORT }, "{name}");
        let pids = pids_of(&captured);
        assert_eq!(pids.len(), count, "{name}");
        pids.gone(name).await;
    };
    tokio::join!(ends("forks", 5), ends("floods", 1), ends("stubborn", 1));
}
