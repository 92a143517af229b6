//! Limits that end a child once it has made enough progress.

/// The first is enough on an idle machine. Each costs its whole time if a child never ends by itself.
const LIMITS_MS: [u64; 3] = [1_500, 6_000, 24_000];

/// Plays a scene with longer and longer limits, until its child made enough progress before the limit ended it: the start time
/// depends on the load of the machine. `play` gets milliseconds and returns whether the child got far enough.
pub(crate) async fn with_longer_limits(case: &str, mut play: impl AsyncFnMut(u64) -> bool) {
    for limit in LIMITS_MS {
        if play(limit).await {
            return;
        }
    }
    panic!("{case}: the child did not reach the expected state in {LIMITS_MS:?} ms");
}
