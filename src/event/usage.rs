//! Tokens and money that a run used.

use serde::{Deserialize, Serialize};

/// Sums over the assistant messages of a run.
///
/// Providers report floats, negative and absurd counts; a negative one counts as 0, a sum saturates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens sent, without those that a cache served.
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
    pub turns: u64,
}

/// The cost of a run in its parts, in the currency of pi's price list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// Tokens sent, those that a cache served included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Tokens sent and produced.
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

/// A token count as written.
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

/// An amount of money as written.
pub(super) fn amount(number: &str) -> f64 {
    number.parse::<f64>().map_or(0.0, |value| value.clamp(0.0, f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
