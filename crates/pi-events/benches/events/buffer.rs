//! The buffer that pipes are read with, the same as in `supervisor`.

/// The default capacity of a pipe, in bytes.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// Aligned to a cache line: copies by the kernel into an unaligned buffer ran up to 4 times slower.
#[repr(align(64))]
pub(crate) struct Buffer(pub(crate) [u8; READ_BYTES]);

impl Buffer {
    #[expect(
        clippy::large_stack_arrays,
        reason = "safe code has no other way to an aligned array on the heap"
    )]
    pub(crate) fn new() -> Box<Self> {
        Box::new(Self([0; READ_BYTES]))
    }
}
