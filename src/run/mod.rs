//! One run: one agent, one task, one child, one result.
