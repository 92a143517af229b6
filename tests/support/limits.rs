//! Limits that end a child once it has come far enough.

/// The first does on an idle machine; each costs its time where a child never ends by itself.
const LIMITS_MS: [u64; 3] = [1_500, 6_000, 24_000];

/// Plays a scene with longer and longer limits, until its child came as far as the test needs before a limit ended it: how long
/// a start takes depends on what else the machine does. `play` gets milliseconds and says whether the child came so far.
pub(crate) async fn with_longer_limits(case: &str, mut play: impl AsyncFnMut(u64) -> bool) {
    for limit in LIMITS_MS {
        if play(limit).await {
            return;
        }
    }
    panic!("{case}: the child did not come so far in {LIMITS_MS:?} ms");
}
