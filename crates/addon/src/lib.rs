//! The library that Node loads: the whole engine with its edge to Node.
//!
//! It has a crate of its own because cargo optimizes a library across crates only if nothing else links it, and the tests
//! link the engine.

#[cfg(feature = "node")]
pub use pi_subagent_native as engine;
