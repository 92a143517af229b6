//! The usage of runs, in words.

use serde::Serialize;
use serde_with_macros::skip_serializing_none;

use pi_events::{ContextUse, Usage};
use sanitizer::figures;

/// Each part only where there is something to say.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageText {
    /// `3 turns`.
    pub turns: Option<String>,
    /// `↑12.3k ↓950 R34k W2.1k`: read, written, read from the provider's cache, written to it.
    pub tokens: Option<String>,
    /// `$0.04`.
    pub cost: Option<String>,
}

/// Returns the usage in words.
#[must_use]
pub fn usage_text(usage: &Usage) -> UsageText {
    let Usage { input, output, cache_read, cache_write, turns, cost, .. } = usage;
    let flow = [("↑", *input), ("↓", *output), ("R", *cache_read), ("W", *cache_write)];
    let flow: Vec<String> = flow
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!("{sign}{}", figures::tokens(*count)))
        .collect();
    let has_spent = cost.total > 0.0;
    // A request that failed counts as a turn, but is no news where the model has neither read nor said a word.
    let has_turned = *turns > 0 && (!flow.is_empty() || has_spent);
    UsageText {
        turns: has_turned.then(|| figures::counted(usize::try_from(*turns).unwrap_or(usize::MAX), "turn")),
        tokens: (!flow.is_empty()).then(|| flow.join(" ")),
        cost: has_spent.then(|| figures::money(cost.total)),
    }
}

/// `12.3%/200k`, as pi shows how full a context is, and `?/200k` where pi does not know it.
#[must_use]
pub(super) fn context_text(context: ContextUse) -> String {
    let percent = context.percent().map_or_else(|| "?".to_owned(), |percent| format!("{percent:.1}%"));
    format!("{percent}/{}", figures::tokens(context.window))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pi_events::Cost;

    #[test]
    fn a_context_is_shown_as_in_pi() {
        let text = |tokens| context_text(ContextUse { tokens, window: 200_000 });
        assert_eq!([text(Some(24_680)), text(Some(0)), text(None)], ["12.3%/200k", "0.0%/200k", "?/200k"]);
    }

    #[test]
    fn only_used_resources_are_shown() {
        let texts = |input, cache_read, turns, total| {
            let cost = Cost { total, ..Cost::default() };
            let text = usage_text(&Usage { input, cache_read, cost, turns, ..Usage::default() });
            [text.turns, text.tokens, text.cost].map(Option::unwrap_or_default).join("|")
        };
        assert_eq!(texts(12_340, 999_600, 1, 0.045), "1 turn|↑12.3k R1.0M|$0.04");
        assert_eq!(texts(0, 0, 2, 0.0001), "2 turns||$0.0001");
        assert_eq!(texts(0, 0, 2, 0.0), "||");
        assert_eq!(texts(5, 0, 0, 0.0), "|↑5|");
    }
}
