//! The configuration files: known keys, their bounds, and what a project may tighten.
