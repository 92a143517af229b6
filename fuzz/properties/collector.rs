//! The collector gives the same result for any chunking of a stream, within bounded memory.

use std::fmt::Write as _;

use pi_events::{Collected, Collector, Live};

use super::draw::Draw;
use super::heap::held;

/// The limit in the collector's documentation.
const MAX_MEMORY: usize = 3 * 1024 * 1024;
/// The documented limit for the live text.
const MAX_LIVE: usize = 64 * 1024;
/// The documented limit for the live items.
const MAX_ITEMS: usize = 48 * 1024;

/// Checks that any chunking gives the same final view and the same result, and that the view and the memory stay within
/// their limits.
pub(crate) fn collector(stream: &[u8]) {
    let mut draw = Draw::from(stream);
    // Some streams are repeated, so that short inputs reach the limits too.
    let again = if draw.upto(7) == 0 { 1 + draw.upto(40) } else { 1 };
    let stream = stream.repeat(again.min(1 + 60_000 / stream.len().max(1)));
    let expected = collect([stream.as_slice()]);
    let counts = expected.1.counts;
    assert_eq!(counts.lines, counts.events + counts.invalid_lines, "each line is an event or invalid");
    assert_eq!(counts.bytes, stream.len() as u64);
    // Single bytes are the slowest, so they are only tried on short streams.
    let sizes: &[usize] = if stream.len() <= 4096 { &[1, 16, 4096] } else { &[16, 4096] };
    for &most in sizes {
        assert_eq!(collect(draw.chunks(&stream, most)), expected, "chunks of at most {most}");
    }
}

fn collect<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (String, Collected) {
    let before = held();
    let mut collector = Collector::new();
    let mut events = 0;
    for chunk in chunks {
        events += u64::from(collector.push(chunk).events);
        let held = held() - before;
        assert!(held < MAX_MEMORY, "the collector uses {held} bytes");
    }
    let live = collector.live();
    assert!(live.text.len() <= MAX_LIVE, "the live text has {} bytes", live.text.len());
    let items = serde_json::to_string(live.display_items).expect("the items are serialized");
    assert!(items.len() <= MAX_ITEMS, "the live items have {} bytes", items.len());
    // The end of a retry's pause depends on the time of reading.
    let retry = live.retry.map(|retry| (retry.attempt, retry.max_attempts, &retry.error));
    let mut view = format!("{:?} {retry:?}", Live { retry: None, ..live });
    let asked = collector.take_questions();
    assert!(asked.len() <= 16, "{} questions", asked.len());
    let answered = collector.take_responses();
    assert!(answered.len() <= 16, "{} answers", answered.len());
    let dropped = collector.take_dropped_questions();
    write!(view, "{asked:?} {answered:?} {dropped:?} {:?}", collector.take_rate_limit())
        .expect("writing to a string succeeds");
    events += u64::from(collector.finish().events);
    let collected = collector.into_collected();
    assert_eq!(collected.counts.events, events, "every event is delivered once");
    (view, collected)
}
