//! The napi edge: converts in, calls the core, converts out.
