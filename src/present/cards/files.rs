//! The rows of a card about files that runs have changed.

use crate::present::paint::{Color, INDENT, Limit, Page, Span, folded};
use crate::run::{MAX_CHANGES, MAX_FLAGGED, SingleResult};
use sanitizer::quoted_if_unusual;

/// Draws the changed files of one run or several, the files to look at first, and why there may be more of those.
pub(super) fn files<'a>(
    page: &mut Page,
    results: impl IntoIterator<Item = &'a SingleResult>,
    is_expanded: bool,
) {
    let mut changed = Files::new(MAX_CHANGES);
    let mut flagged = Files::new(MAX_FLAGGED);
    let mut gaps = Vec::new();
    for result in results {
        changed.add(result.changes.as_deref().unwrap_or_default());
        flagged.add(&result.flagged);
        gaps.extend(result.flagged_gap.as_deref().map(folded).filter(|reason| !gaps.contains(reason)));
    }
    changed.draw(page, Span::new("muted", "changed"), "accent", is_expanded);
    flagged.draw(page, Span::new("warning", "look at first"), "warning", is_expanded);
    for reason in gaps {
        let lead = Span::new("warning", "not all files were checked: ");
        page.wrapped(&[], &[lead, Span::new("muted", reason)], Limit::None);
    }
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

    /// Draws one line with as many paths as fit, or a line for each.
    fn draw(self, page: &mut Page, lead: Span, color: Color, is_expanded: bool) {
        let Self { mut paths, others, .. } = self;
        if paths.is_empty() {
            return;
        }
        let more = (others > 0).then(|| format!("and {others} more"));
        if !is_expanded {
            paths.extend(more);
            page.paths(Span { text: format!("{} ", lead.text), ..lead }, &paths);
            return;
        }
        page.line([lead]);
        page.indented(INDENT, |page| {
            for path in &paths {
                page.line([Span::path(color, path)]);
            }
            if let Some(more) = more {
                page.line([Span::new("muted", more)]);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(fields: &str) -> SingleResult {
        let json = format!(
            r#"{{"agent":"worker","task":"t","outcome":"completed","attempts":1,"durationMs":1,
            "usage":{{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"cost":0,"turns":1}}{fields}}}"#
        );
        serde_json::from_str(&json).expect("the result is valid JSON")
    }

    fn lines(results: &[SingleResult]) -> Vec<String> {
        super::super::tests::lines(|page| files(page, results, false))
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
        let results = [result(), result()];
        let lines = super::super::tests::lines(|page| files(page, &results, true));
        assert!(lines.ends_with(&["  f49".to_owned(), "  and 8 more".to_owned()]), "{lines:?}");
    }
}
