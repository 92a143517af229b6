//! Compares two texts line by line.

/// The maximum size of the comparison table, in cells. In longer texts, all lines between the first and the last
/// difference count as changed.
const MAX_CELLS: usize = 1 << 20;

/// A line that only one of two texts contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedLine<'a> {
    /// A line that is only in the old text.
    Removed(&'a str),
    /// A line that is only in the new text.
    Added(&'a str),
}

/// Returns the lines that differ between two texts, in order.
#[must_use]
pub fn changed_lines<'a>(before: &'a str, after: &'a str) -> Vec<ChangedLine<'a>> {
    let old_lines: Vec<&str> = before.lines().collect();
    let new_lines: Vec<&str> = after.lines().collect();
    let head = old_lines.iter().zip(&new_lines).take_while(|(old, new)| old == new).count();
    let old = &old_lines[head..];
    let new = &new_lines[head..];
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = &old[..old.len() - tail];
    let new = &new[..new.len() - tail];

    // `common[row(i) + j]` is the number of lines that `old[i..]` and `new[j..]` have in common, in order.
    let row = |index: usize| index * (new.len() + 1);
    let is_long = row(old.len() + 1) > MAX_CELLS;
    let mut common = vec![0_u32; if is_long { 0 } else { row(old.len() + 1) }];
    for i in (0..if is_long { 0 } else { old.len() }).rev() {
        for j in (0..new.len()).rev() {
            common[row(i) + j] = if old[i] == new[j] {
                common[row(i + 1) + j + 1] + 1
            } else {
                common[row(i + 1) + j].max(common[row(i) + j + 1])
            };
        }
    }
    let mut i = 0;
    let mut j = 0;
    let mut changed = Vec::new();
    while i < old.len() || j < new.len() {
        if !is_long && i < old.len() && j < new.len() && old[i] == new[j] {
            i += 1;
            j += 1;
        } else if i < old.len()
            && (is_long || j == new.len() || common[row(i + 1) + j] >= common[row(i) + j + 1])
        {
            changed.push(ChangedLine::Removed(old[i]));
            i += 1;
        } else {
            changed.push(ChangedLine::Added(new[j]));
            j += 1;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let line = |line| match line {
            ChangedLine::Removed(text) => format!("-{text}"),
            ChangedLine::Added(text) => format!("+{text}"),
        };
        changed_lines(before, after).into_iter().map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_changed_line_is_in_only_one_text() {
        for (label, before, after, expected) in [
            ("the same", "a\nb", "a\nb\n", ""),
            ("one replaced", "a\nb\nc", "a\nx\nc", "-b +x"),
            ("two apart", "a\nb\nc\nd\ne", "a\nB\nc\nD\ne", "-b +B -d +D"),
            ("added at the end", "a", "a\nb\nc", "+b +c"),
            ("removed at the start", "a\nb\nc", "c", "-a -b"),
            ("moved", "a\nb\nc", "b\nc\na", "-a +a"),
            ("repeated lines", "a\na\nb", "a\nb\na", "-a +a"),
            ("from nothing", "", "a", "+a"),
            ("line endings do not count", "a\r\nb", "a\nb", ""),
        ] {
            assert_eq!(shown(before, after), expected, "{label}");
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let [before, after] =
            ["a", "b"].map(|line| format!("first\n{}last", format!("{line}\n").repeat(20_000)));
        let changed = changed_lines(&before, &after);
        assert_eq!((changed.len(), changed[0]), (40_000, ChangedLine::Removed("a")));
        assert_eq!(changed.last(), Some(&ChangedLine::Added("b")));
    }
}
