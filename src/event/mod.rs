//! The event stream of a child, folded into a small state as its bytes arrive.
