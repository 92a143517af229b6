//! The lines of a file from its last to its first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};

use memchr::memrchr;

/// Bytes read at a time; at most two blocks are held.
const BLOCK: usize = 64 * 1024;
/// Bytes read at most: a child can write huge files, and sparse ones for free.
const MAX_PASSED: u64 = 512 * 1024 * 1024;

/// Walks a file backwards line by line, without lines that were written after it was opened.
pub(super) struct LinesFromEnd {
    file: File,
    bytes: u64,
    /// The end of the next line to find; `None` after the first line of the file.
    end: Option<u64>,
    /// The current block, and its offset in the file.
    block: Vec<u8>,
    block_start: u64,
    forward: Vec<u8>,
    is_cut: bool,
}

impl LinesFromEnd {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        let block = Vec::new();
        let forward = Vec::new();
        Ok(Self { file, bytes, end: Some(bytes), block, block_start: bytes, forward, is_cut: false })
    }

    /// The size of the file.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns true if lines remain that are too far from the end.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the range of the line before the last one found, without its line end. The first call returns the text after the
    /// last line end, which is empty in a complete file.
    pub(super) fn previous(&mut self) -> io::Result<Option<Range<u64>>> {
        let Some(end) = self.end else { return Ok(None) };
        let mut at = end;
        loop {
            let near = usize::try_from(at - self.block_start).expect("no more than what is held");
            if let Some(found) = memrchr(b'\n', &self.block[..near]) {
                let line_end = self.block_start + found as u64;
                self.end = Some(line_end);
                return Ok(Some(line_end + 1..end));
            }
            if self.block_start == 0 {
                self.end = None;
                return Ok(Some(0..end));
            }
            at = self.block_start;
            if self.bytes - at >= MAX_PASSED {
                (self.end, self.is_cut) = (None, true);
                return Ok(None);
            }
            let from = at.saturating_sub(BLOCK as u64);
            let size = usize::try_from(at - from).expect("a block at most");
            read_at(&mut self.file, &mut self.block, from, size)?;
            self.block_start = from;
        }
    }

    /// Passes a line to `visit` in parts, until it ends or `visit` breaks.
    pub(super) fn feed(
        &mut self,
        line: &Range<u64>,
        mut visit: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let block_end = self.block_start + self.block.len() as u64;
        if line.start >= self.block_start && line.end <= block_end {
            let index = |at: u64| usize::try_from(at - self.block_start).expect("no more than what is held");
            let _ = visit(&self.block[index(line.start)..index(line.end)]);
            return Ok(());
        }
        let mut at = line.start;
        while at < line.end {
            let size = usize::try_from(line.end - at).map_or(BLOCK, |rest| rest.min(BLOCK));
            read_at(&mut self.file, &mut self.forward, at, size)?;
            if visit(&self.forward).is_break() {
                break;
            }
            at += size as u64;
        }
        Ok(())
    }
}

fn read_at(file: &mut File, block: &mut Vec<u8>, at: u64, size: usize) -> io::Result<()> {
    block.resize(size, 0);
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(block)
}
