//! Counts the allocated memory, in the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// Returns the bytes that this thread has allocated and not freed. Only the difference between two calls is meaningful.
pub(crate) fn held() -> usize {
    HELD.get()
}

fn change(by: impl FnOnce(usize) -> usize) {
    HELD.set(by(HELD.get()));
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(|held| held.wrapping_add(layout.size()));
        // SAFETY: the caller's guarantee also holds for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        change(|held| held.wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(|held| held.wrapping_add(size).wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(place, layout, size) }
    }
}
