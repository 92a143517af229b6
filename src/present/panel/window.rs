//! The loaded part of a transcript. Only the visible entries are laid out, so drawing costs as many lines as the screen has, for
//! any length of the transcript. The newest entries are at the bottom.

use std::ops::Deref;

use super::keys::moved;
use crate::present::paint::{Page, Theme};
use crate::present::runs::draw_entry;
use crate::transcript::{Transcript, TranscriptEntry, TranscriptRole};

/// The number of entries kept while the view follows the end.
const FOLLOWED_ENTRIES: usize = 400;

/// An entry with its lines in the current layout.
#[derive(Debug)]
struct Block {
    entry: TranscriptEntry,
    lines: Option<Vec<String>>,
}

impl From<TranscriptEntry> for Block {
    fn from(entry: TranscriptEntry) -> Self {
        Self { entry, lines: None }
    }
}

/// The position of the first line on the screen.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    block: usize,
    line: usize,
}

/// The size of the screen, and the lines below the newest entry.
pub(super) struct Screen<'a> {
    pub(super) theme: Theme<'a>,
    /// Changes whenever the theme does.
    pub(super) version: u32,
    pub(super) width: usize,
    pub(super) rows: usize,
    /// Drawn only where it is visible.
    pub(super) tail: &'a dyn Deref<Target = Vec<String>>,
}

/// The loaded entries, and the visible part of them.
#[derive(Debug)]
pub(super) struct Window {
    /// True if the file has older entries than the loaded ones.
    pub(super) has_more: bool,
    /// True while the view follows the end.
    is_following: bool,
    blocks: Vec<Block>,
    place: Place,
    /// The theme and the width of the lines of the blocks.
    laid_out: (u32, usize),
    /// The lines to scroll with the next drawing, because only a drawing knows the height of the entries.
    scrolls: Vec<i64>,
    /// True if the user wants the first entry, which may require reading the whole file.
    wants_top: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            has_more: false,
            is_following: true,
            blocks: Vec::new(),
            place: Place::default(),
            laid_out: (0, 0),
            scrolls: Vec::new(),
            wants_top: false,
        }
    }
}

impl Window {
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn is_following(&self) -> bool {
        self.is_following && self.scrolls.is_empty()
    }

    /// Returns true if there is nothing left to scroll to above the screen.
    pub(super) fn is_at_top(&self) -> bool {
        !self.is_following && self.place.block == 0 && self.place.line == 0
    }

    /// Drops all entries.
    pub(super) fn clear(&mut self) {
        *self = Self { wants_top: self.wants_top, ..Self::default() };
    }

    /// Joins the newest entries of the file with the loaded ones. The side that reaches further back determines the start.
    pub(super) fn take(&mut self, Transcript { mut entries, has_more, .. }: Transcript) {
        let joined = (1..=entries.len()).rev().find(|&known| is_end(&self.blocks, &entries[..known]));
        // There are so many new entries that the two parts do not overlap. While the user reads older entries, the loaded
        // ones stay until the end is shown again.
        if joined.is_none() && !self.is_following() && !self.blocks.is_empty() {
            return;
        }
        let known = joined.unwrap_or_default();
        if joined.is_none() {
            self.blocks.clear();
        }
        if joined.is_none() || known >= self.blocks.len() {
            self.has_more = has_more;
        }
        let older = known.saturating_sub(self.blocks.len());
        let added = entries.split_off(known);
        entries.truncate(older);
        self.blocks.splice(0..0, entries.into_iter().map(Block::from));
        self.blocks.extend(added.into_iter().map(Block::from));
        if !self.wants_top {
            self.place.block += older;
        }
        if self.is_following() && self.blocks.len() >= 2 * FOLLOWED_ENTRIES {
            self.blocks.drain(..self.blocks.len() - FOLLOWED_ENTRIES);
            self.has_more = true;
        }
    }

    /// Scrolls up (negative) or down with the next drawing. At the end the view follows again.
    pub(super) fn scroll(&mut self, lines: i64) {
        self.wants_top = lines == i64::MIN;
        self.scrolls.push(lines);
    }

    /// Returns the lines on the screen.
    pub(super) fn visible(&mut self, screen: &Screen) -> Vec<String> {
        if self.laid_out != (screen.version, screen.width) {
            self.laid_out = (screen.version, screen.width);
            self.blocks.iter_mut().for_each(|block| block.lines = None);
        }
        for lines in std::mem::take(&mut self.scrolls) {
            self.apply(lines, screen);
        }
        let lines = if self.is_following { Vec::new() } else { self.from(self.place, screen) };
        if lines.len() >= screen.rows {
            return lines;
        }
        // Fewer lines follow than the screen holds, so this is the end.
        self.is_following = true;
        self.place = self.end(screen);
        self.from(self.place, screen)
    }

    fn apply(&mut self, lines: i64, screen: &Screen) {
        match lines {
            i64::MAX => self.is_following = true,
            i64::MIN => (self.is_following, self.place) = (false, Place::default()),
            _ if lines < 0 => {
                // Entries may have arrived since the last drawing.
                let from = if self.is_following { self.end(screen) } else { self.place };
                self.is_following = false;
                self.place = self.above(from, moved(0, lines.saturating_neg()), screen);
            }
            _ if self.is_following => {}
            _ => self.place = self.below(self.place, moved(0, lines), screen),
        }
    }

    /// Returns the position at which the screen shows the last lines.
    fn end(&mut self, screen: &Screen) -> Place {
        self.above(Place { block: self.blocks.len() + 1, line: 0 }, screen.rows, screen)
    }

    /// Returns one screen of lines, starting at a position.
    fn from(&mut self, Place { block, line }: Place, screen: &Screen) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for at in block..=self.blocks.len() {
            if lines.len() >= screen.rows {
                break;
            }
            let skipped = if at == block { line } else { 0 };
            lines.extend(self.lines(at, screen).iter().skip(skipped).cloned());
        }
        lines.truncate(screen.rows);
        lines
    }

    fn above(&mut self, Place { mut block, line }: Place, lines: usize, screen: &Screen) -> Place {
        let mut available = line;
        while available < lines && block > 0 {
            block -= 1;
            available += self.lines(block, screen).len();
        }
        Place { block, line: available.saturating_sub(lines) }
    }

    fn below(&mut self, Place { mut block, line }: Place, lines: usize, screen: &Screen) -> Place {
        let mut line = line + lines;
        while block < self.blocks.len() {
            let height = self.lines(block, screen).len();
            if line < height {
                break;
            }
            line -= height;
            block += 1;
        }
        Place { block, line }
    }

    /// Returns the index of the entry that is drawn at a position. The file has the results of simultaneous calls after all of
    /// these calls, in the same order. Each result is drawn below its call.
    fn drawn_at(&self, place: usize) -> usize {
        use TranscriptRole::{ToolCall, ToolResult};
        let is = |index: usize, role| self.blocks.get(index).is_some_and(|block| block.entry.role() == role);
        let first = |mut index: usize, role| {
            while index > 0 && is(index - 1, role) {
                index -= 1;
            }
            index
        };
        let start = if is(place, ToolResult) {
            first(first(place, ToolResult), ToolCall)
        } else if is(place, ToolCall) {
            first(place, ToolCall)
        } else {
            return place;
        };
        let count = |from, role| (from..self.len()).take_while(|&index| is(index, role)).count();
        let calls = count(start, ToolCall);
        let results = count(start + calls, ToolResult);
        // The calls of some results may not be loaded.
        if results > calls {
            return place;
        }
        match place - start {
            offset if offset >= 2 * results => place - results,
            offset if offset % 2 == 1 => start + calls + offset / 2,
            offset => start + offset / 2,
        }
    }

    /// Returns the lines of the block at a position. The block after the last one is the tail.
    fn lines<'a>(&'a mut self, block: usize, screen: &'a Screen) -> &'a [String] {
        let block = self.drawn_at(block);
        let Some(Block { entry, lines }) = self.blocks.get_mut(block) else { return screen.tail };
        let draw = || Page::draw(screen.theme, screen.width, |page| draw_entry(page, entry));
        lines.get_or_insert_with(draw)
    }
}

/// Returns true if `blocks` and `entries` have the same end, as far back as both reach.
fn is_end(blocks: &[Block], entries: &[TranscriptEntry]) -> bool {
    let mut both = blocks.iter().rev().zip(entries.iter().rev());
    !blocks.is_empty() && both.all(|(block, entry)| block.entry == *entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_result_is_drawn_below_its_call() {
        let entry = |kind| match kind {
            'c' => TranscriptEntry::ToolCall { name: String::new(), summary: String::new() },
            'r' => TranscriptEntry::ToolResult { name: String::new(), is_error: false, text: String::new() },
            _ => TranscriptEntry::User(String::new()),
        };
        let order = |kinds: &str| {
            let blocks = kinds.chars().map(|kind| Block::from(entry(kind))).collect();
            let window = Window { blocks, ..Window::default() };
            (0..kinds.len()).map(|place| window.drawn_at(place)).collect::<Vec<_>>()
        };
        assert_eq!(order("uccrru"), [0, 1, 3, 2, 4, 5]);
        assert_eq!(order("cccr"), [0, 3, 1, 2], "two calls are under way");
        assert_eq!(order("crrcr"), [0, 1, 2, 3, 4], "a call is not loaded");
    }
}
