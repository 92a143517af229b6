//! The tokens and the cost of a run.

use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// Sums over the assistant messages of a run.
///
/// Providers report floats, negative and absurd counts; a negative count is 0, and sums saturate. It is written as pi
/// writes the usage of a message; [`run_usage`] writes the usage of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens sent, without tokens served from a cache.
    pub input: u64,
    /// Tokens produced.
    pub output: u64,
    /// Tokens sent that the provider's cache served.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// All tokens as the provider counts them.
    pub total_tokens: u64,
    /// Money, as pi computes it from its price list.
    pub cost: Cost,
    /// Assistant messages.
    #[serde(skip_serializing)]
    pub turns: u64,
}

/// Usage as results, progress and records of runs have it: the cost is one number. For `#[serde(with = …)]`.
pub mod run_usage {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RunUsage<Count, Total> {
        input: Count,
        output: Count,
        cache_read: Count,
        cache_write: Count,
        cost: Total,
        turns: Count,
    }

    /// Rows of earlier releases have the whole [`Cost`](super::Cost).
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Total {
        Total(f64),
        Whole { total: f64 },
    }

    /// Writes the usage of a run.
    ///
    /// # Errors
    ///
    /// If the serializer fails.
    pub fn serialize<S: Serializer>(usage: &super::Usage, serializer: S) -> Result<S::Ok, S::Error> {
        let super::Usage { input, output, cache_read, cache_write, turns, ref cost, .. } = *usage;
        let cost = super::rounded(cost.total);
        RunUsage { input, output, cache_read, cache_write, cost, turns }.serialize(serializer)
    }

    /// Reads the usage of a run. JavaScript may have written any number; a negative count is 0.
    ///
    /// # Errors
    ///
    /// If it is not the usage of a run.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<super::Usage, D::Error> {
        let RunUsage { input, output, cache_read, cache_write, cost, turns } =
            RunUsage::<f64, Total>::deserialize(deserializer)?;
        let (Total::Total(total) | Total::Whole { total }) = cost;
        let cost = super::Cost { total, ..super::Cost::default() };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let count = |count: f64| count as u64;
        Ok(super::Usage {
            input: count(input),
            output: count(output),
            cache_read: count(cache_read),
            cache_write: count(cache_write),
            turns: count(turns),
            cost,
            ..super::Usage::default()
        })
    }
}

/// Rounds an amount to billionths, so that a sum has no more digits than its parts.
fn rounded(amount: f64) -> f64 {
    const BILLIONTHS: f64 = 1e9;
    let rounded = (amount * BILLIONTHS).round() / BILLIONTHS;
    if rounded.is_finite() { rounded } else { amount }
}

/// Writes an amount, rounded. For `#[serde(serialize_with = …)]`.
///
/// # Errors
///
/// If the serializer fails.
pub fn rounded_amount<S: Serializer>(amount: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    rounded(*amount).serialize(serializer)
}

/// The fill level of a child's context, as its pi computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ContextUse {
    /// Tokens in the context. `None` after a compaction, until the model has answered.
    pub tokens: Option<u64>,
    /// Tokens that the model's context holds.
    pub window: u64,
}

/// Writes the percentage, too.
impl Serialize for ContextUse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let percent = self.percent();
        let mut fields = serializer.serialize_struct("ContextUse", 3)?;
        if let Some(tokens) = self.tokens {
            fields.serialize_field("tokens", &tokens)?;
        }
        fields.serialize_field("window", &self.window)?;
        if let Some(percent) = percent {
            fields.serialize_field("percent", &percent)?;
        }
        fields.end()
    }
}

impl ContextUse {
    /// Reads a status of the guard in the child: tokens, or a question mark, and the window.
    pub(super) fn parse(status: &str) -> Option<Self> {
        let (tokens, window) = status.split_once('/')?;
        let tokens = if tokens == "?" { None } else { Some(count_of(tokens)?) };
        Some(Self { tokens, window: count_of(window).filter(|window| *window > 0)? })
    }

    /// Returns the used part of the window, in percent.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "contexts have far fewer than 2^52 tokens")]
    pub fn percent(&self) -> Option<f64> {
        Some(self.tokens? as f64 / self.window as f64 * 100.0)
    }
}

/// Reads a token count within the range of a context. pi may report an estimate with decimals.
fn count_of(number: &str) -> Option<u64> {
    /// No context is larger.
    const MAX: f64 = 1e12;
    let number: f64 = number.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (0.0..=MAX).contains(&number).then(|| number.round() as u64)
}

/// The cost of a run in its parts, in the currency of pi's price list.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// For `input` tokens.
    pub input: f64,
    /// For `output` tokens.
    pub output: f64,
    /// For `cache_read` tokens.
    pub cache_read: f64,
    /// For `cache_write` tokens.
    pub cache_write: f64,
    /// Everything.
    pub total: f64,
}

impl Usage {
    /// Returns the tokens sent, including tokens served from a cache.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Returns the number of tokens sent and produced.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.sent().saturating_add(self.output)
    }

    /// Adds other usage; sums saturate.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cost.add(&other.cost);
        self.turns = self.turns.saturating_add(other.turns);
    }
}

impl Cost {
    fn add(&mut self, other: &Self) {
        // An infinite sum could not be written as JSON.
        let sum = |a: f64, b: f64| (a + b).min(f64::MAX);
        self.input = sum(self.input, other.input);
        self.output = sum(self.output, other.output);
        self.cache_read = sum(self.cache_read, other.cache_read);
        self.cache_write = sum(self.cache_write, other.cache_write);
        self.total = sum(self.total, other.total);
    }
}

/// Parses a token count.
pub(super) fn count(number: &str) -> u64 {
    number.parse().unwrap_or_else(|_| {
        let value = amount(number).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, as wanted"
        )]
        let count = value as u64;
        count
    })
}

/// Parses an amount of money.
pub(super) fn amount(number: &str) -> f64 {
    number.parse::<f64>().map_or(0.0, |value| value.clamp(0.0, f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_the_guard_is_tokens_and_a_window() {
        let cases = [
            ("12345/200000", Some((Some(12_345), 200_000)), Some(6.1725)),
            ("0/1000", Some((Some(0), 1000)), Some(0.0)),
            ("10.5/1000", Some((Some(11), 1000)), Some(1.1)),
            ("?/200000", Some((None, 200_000)), None),
            ("1/0", None, None),
            ("-1/1000", None, None),
            ("1e99/1000", None, None),
            ("NaN/1000", None, None),
            ("1000", None, None),
            ("", None, None),
        ];
        for (status, expected, percent) in cases {
            let read = ContextUse::parse(status);
            assert_eq!(read.map(|read| (read.tokens, read.window)), expected, "{status}");
            let shown = read.and_then(|read| read.percent());
            assert_eq!(
                shown.map(|shown| (shown * 1e6).round()),
                percent.map(|percent| percent * 1e6),
                "{status}"
            );
        }
    }

    #[test]
    fn strange_numbers_become_counts() {
        let cases = [
            ("12", 12),
            ("12.6", 13),
            ("-3", 0),
            ("1e3", 1000),
            ("18446744073709551615", u64::MAX),
            ("1e99", u64::MAX),
            ("-1e999", 0),
            ("1e999", u64::MAX),
        ];
        for (written, expected) in cases {
            assert_eq!(count(written), expected, "{written}");
        }
    }
    #[test]
    fn a_sum_of_costs_has_no_more_digits_than_its_parts() {
        #[derive(Serialize)]
        struct Run(#[serde(with = "run_usage")] Usage);
        let run = |total| Run(Usage { cost: Cost { total, ..Cost::default() }, ..Usage::default() });
        for (total, expected) in [(0.1 + 0.2, "0.3"), (0.0004 * 3.0, "0.0012"), (1e308, "1e308")] {
            let json = serde_json::to_value(run(total)).expect("the value is serialized");
            assert_eq!(json["cost"].to_string().replace("e+", "e"), expected);
        }
    }
}
