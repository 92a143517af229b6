//! Truncation: limits, ends and counts.
