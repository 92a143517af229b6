//! Many runs: who may start, and when.
//!
//! It joins runs and knows nothing of what one of them does.

pub mod lane;
