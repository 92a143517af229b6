//! Pure functions on text and bytes.
