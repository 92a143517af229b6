//! The guardian of one child's process tree. The crate's documentation says what it is told and what it answers.

fn main() {}
