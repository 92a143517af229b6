//! Programs: starting them, reading them, and ending the whole of what they started.
