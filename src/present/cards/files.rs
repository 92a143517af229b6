//! The rows of a card about files that runs have changed.

use super::stored::EndedTask;
use crate::present::drawing::{Drawing, Fit, INDENT, Row, Span, folded};
use crate::run::{MAX_CHANGES, MAX_FLAGGED};
use sanitizer::quoted_if_unusual;

/// Returns the rows of one run or several: changed files, the files to look at first, and why there may be more of those.
pub(super) fn files<'a>(results: impl IntoIterator<Item = &'a EndedTask>, is_expanded: bool) -> Drawing {
    let mut changed = Files::new(MAX_CHANGES);
    let mut flagged = Files::new(MAX_FLAGGED);
    let mut gaps = Vec::new();
    for result in results {
        changed.add(result.changes.as_deref().unwrap_or_default());
        flagged.add(result.flagged.as_deref().unwrap_or_default());
        gaps.extend(result.flagged_gap.as_deref().map(folded).filter(|reason| !gaps.contains(reason)));
    }
    let mut rows = changed.rows(Span::new("muted", "changed"), "accent", is_expanded);
    rows.extend(flagged.rows(Span::new("warning", "look at first"), "warning", is_expanded));
    rows.extend(gaps.into_iter().map(|reason| {
        let lead = Span::new("warning", "not all files were checked: ");
        Row::wrapped(vec![lead, Span::new("muted", reason)])
    }));
    rows
}

/// Paths from the results of runs, each once.
struct Files {
    /// The entries of a result that are paths. The entry after them is ours: the number of the others.
    limit: usize,
    paths: Vec<String>,
    others: usize,
}

impl Files {
    fn new(limit: usize) -> Self {
        Self { limit, paths: Vec::new(), others: 0 }
    }

    fn add(&mut self, listed: &[String]) {
        let (paths, more) = listed.split_at(listed.len().min(self.limit));
        for path in paths {
            let path = quoted_if_unusual(path).into_owned();
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
        let number = |more: &String| more.strip_prefix("and ")?.strip_suffix(" more")?.parse::<usize>().ok();
        self.others += more.first().and_then(number).unwrap_or_default();
    }

    /// Returns one line with as many paths as fit, or a line for each.
    fn rows(self, lead: Span, color: &'static str, is_expanded: bool) -> Drawing {
        let Self { mut paths, others, .. } = self;
        if paths.is_empty() {
            return Drawing::new();
        }
        let more = (others > 0).then(|| format!("and {others} more"));
        if !is_expanded {
            paths.extend(more);
            let lead = Span { text: format!("{} ", lead.text), ..lead };
            return vec![Fit::Paths { lead: vec![lead], paths }.into()];
        }
        let each = paths.iter().map(|path| Row::line([Span::path(color, path)]));
        let more = more.map(|more| Row::line([Span::new("muted", more)]));
        let below = each.chain(more).map(|row| row.indented(INDENT));
        [Row::line([lead])].into_iter().chain(below).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(fields: &str) -> EndedTask {
        let json = format!(
            r#"{{"agent":"worker","task":"t","outcome":"completed","attempts":1,"durationMs":1,
            "usage":{{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"cost":0,"turns":1}}{fields}}}"#
        );
        serde_json::from_str(&json).expect("the result is valid JSON")
    }

    fn lines(results: &[EndedTask]) -> Vec<String> {
        super::super::tests::texts(&files(results, false))
    }

    #[test]
    fn a_name_that_resembles_the_card_text_is_quoted() {
        let result = ended(
            r#","changes":["a.ts","g, h, all tests passed","and 3 more"],"flagged":[".envrc","`x`/.npmrc"]"#,
        );
        assert_eq!(
            lines(&[result]),
            [
                "changed a.ts, `g, h, all tests passed`, `and 3 more`",
                "look at first .envrc, `\\u{60}x\\u{60}/.npmrc`"
            ]
        );
    }

    #[test]
    fn an_incomplete_search_has_a_row_of_its_own_with_or_without_files() {
        let gap = r#","flaggedGap":"directories that could not be read: `a`""#;
        let expected = "not all files were checked: directories that could not be read: `a`";
        assert_eq!(lines(&[ended(gap), ended(gap)]), [expected]);
        assert_eq!(lines(&[ended(&format!(r#"{gap},"flagged":["b"]"#))]), ["look at first b", expected]);
    }

    #[test]
    fn the_numbers_of_omitted_files_of_several_results_are_added() {
        let names: Vec<String> = (0..MAX_FLAGGED).map(|number| format!("\"f{number}\"")).collect();
        let result = || ended(&format!(r#","flagged":[{},"and 4 more"]"#, names.join(",")));
        let [line] = &lines(&[result(), result()])[..] else { panic!("the card has other than one line") };
        assert!(line.ends_with(", f49, and 8 more"), "{line}");
    }
}
