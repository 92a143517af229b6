//! The first view: the list of runs, and the details of the chosen one.

use super::keys::{PanelAction, moved, scrolled};
use super::runs::{Row, Runs};
use crate::present::paint::{Color, INDENT, Limit, PREVIEW_CHARS, Page, Theme, beginning, folded, width_of};
use crate::present::runs::{
    ListRow, ListView, ShownRun, draw_failure, draw_latest, draw_list, draw_list_head, draw_run_artifacts,
    draw_task, draw_usage, draw_workflow,
};

/// The minimum heights for the column names and for the details below the list.
const HEADING_FROM_ROWS: usize = 12;
const DETAIL_FROM_ROWS: usize = 16;
/// The rows that the list leaves free for the details, and the maximum and minimum height of the details.
const DETAIL_ROWS: usize = 8;
const MAX_DETAIL_ROWS: usize = 16;
const MIN_DETAIL_ROWS: usize = 3;
const USAGE_LINES: usize = 2;
/// The columns of a rule around its title.
const RULE_COLUMNS: usize = 8;

/// The position in the list.
#[derive(Debug, Default)]
pub(super) struct List {
    /// The key of the chosen row, and its position.
    chosen: Option<String>,
    index: usize,
    /// The first visible row, and the number of visible rows.
    top: usize,
    rows: usize,
}

impl List {
    fn choose(&mut self, runs: &Runs, index: usize) {
        self.index = index.min(runs.rows().len().saturating_sub(1));
        self.chosen = runs.rows().get(self.index).map(|row| runs.key_of(*row));
    }

    /// Selects the chosen row at its current position. If the row no longer exists, selects the row in its place.
    pub(super) fn current(&mut self, runs: &Runs) -> Option<(usize, Row)> {
        let at = runs.rows().iter().position(|row| Some(runs.key_of(*row)) == self.chosen);
        self.choose(runs, at.unwrap_or(self.index));
        runs.rows().get(self.index).map(|row| (self.index, *row))
    }

    /// Scrolls, and folds workflows. Returns false for other actions.
    pub(super) fn press(&mut self, action: PanelAction, runs: &mut Runs) -> bool {
        let current = self.current(runs);
        let workflow = current.and_then(|(at, _)| runs.workflow_of(at));
        match (action, current, workflow) {
            (PanelAction::Open, Some((_, Row::Workflow(_))), Some((_, workflow))) => {
                let workflow = workflow.clone();
                runs.fold(&workflow, None);
                return true;
            }
            (PanelAction::Left, _, Some((at, workflow))) => {
                let workflow = workflow.clone();
                self.choose(runs, at);
                runs.fold(&workflow, Some(true));
                return true;
            }
            _ => {}
        }
        let Some(by) = scrolled(action, self.rows) else { return false };
        self.choose(runs, moved(self.index, by));
        true
    }

    pub(super) fn draw_head(page: &mut Page, runs: &Runs) {
        draw_list_head(page, &runs.counted(), runs.is_all);
    }

    /// Returns at most `rows` lines.
    pub(super) fn draw(
        &mut self,
        theme: Theme,
        width: usize,
        rows: usize,
        runs: &Runs,
        now_ms: i64,
    ) -> Vec<String> {
        let Some((_, row)) = self.current(runs) else {
            return Page::draw(theme, width, |page| draw_empty(page, runs));
        };
        let list: Vec<ListRow> = runs.rows().iter().map(|row| runs.drawn(*row)).collect();
        let has_heading = rows >= HEADING_FROM_ROWS;
        let details = if rows >= DETAIL_FROM_ROWS { DETAIL_ROWS } else { 0 };
        self.rows = list.len().min(rows.saturating_sub(usize::from(has_heading) + details)).max(1);
        self.top = self.top.min(list.len() - self.rows).min(self.index);
        self.top = self.top.max((self.index + 1).saturating_sub(self.rows));
        let view = ListView {
            unread: &runs.unread,
            others: &runs.others,
            chosen: self.index,
            has_heading,
            from: self.top,
            rows: self.rows,
            now_ms,
        };
        let mut lines = Page::draw(theme, width, |page| draw_list(page, &list, &view));
        let room = if details > 0 { MAX_DETAIL_ROWS.min(rows.saturating_sub(lines.len())) } else { 0 };
        if room >= MIN_DETAIL_ROWS {
            lines.extend(match runs.drawn(row) {
                ListRow::Run { run, .. } => detail_lines(theme, width, room, run, now_ms),
                ListRow::Workflow { workflow, asking, .. } => {
                    let mut details = Page::draw(theme, width, |page| draw_workflow(page, workflow, asking));
                    details.truncate(room);
                    details
                }
            });
        }
        lines
    }
}

/// Returns the details of a run: its task, its question, its activity or result, and its usage.
fn detail_lines(theme: Theme, width: usize, rows: usize, run: &ShownRun, now_ms: i64) -> Vec<String> {
    let part = |draw: &dyn Fn(&mut Page)| Page::draw(theme, width, |page| page.indented(INDENT, draw));
    let name = run.name();
    // The rule has the task of a run without a label.
    let has_task =
        folded(beginning(&run.task, PREVIEW_CHARS)) != name || width_of(&name) + RULE_COLUMNS > width;
    let task = part(&|page| draw_task(page, run, has_task));
    let mut usage = part(&|page| draw_usage(page, run));
    usage.truncate(USAGE_LINES);
    let failure = part(&|page| draw_failure(page, run, now_ms));
    let artifacts = part(&|page| draw_run_artifacts(page, run));
    let others = [&task, &failure, &artifacts, &usage].iter().map(|lines| lines.len()).sum::<usize>();
    let room = rows.saturating_sub(2 + others);
    let latest = part(&|page| draw_latest(page, run, room));
    let mut lines = Page::draw(theme, width, |page| {
        page.blank();
        page.rule(&name);
    });
    lines.extend([task, failure, latest, artifacts, usage].concat());
    lines.truncate(rows);
    lines
}

/// Draws the text that the panel shows if there are no runs.
fn draw_empty(page: &mut Page, Runs { is_all, is_complete, problem, .. }: &Runs) {
    let mut draw = |color: Color, text: &str| {
        page.blank();
        page.indented(INDENT, |page| page.text(color, text, Limit::None));
    };
    if let Some(problem) = problem {
        draw("error", &format!("The runs cannot be listed: {}", folded(problem)));
    } else if !*is_complete {
        draw("muted", "Loading runs …");
    } else if *is_all {
        draw("toolOutput", "No session has a stored run.");
    } else {
        draw("toolOutput", "No runs in this session, and no earlier work waits in this project.");
        draw("muted", "The model starts background runs with sessions_spawn. Ask for it in your own words:");
        let example = "“Look for dead code in the background, and tell me when you are done.”";
        page.indented(INDENT, |page| page.text("accent", example, Limit::None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::paint::Palette;

    #[test]
    fn an_empty_list_shows_the_reason() {
        let text = |is_all, is_complete, problem: Option<&str>| {
            let problem = problem.map(str::to_owned);
            let mut runs = Runs::default();
            (runs.is_all, runs.is_complete, runs.problem) = (is_all, is_complete, problem);
            let draw = |page: &mut Page| draw_empty(page, &runs);
            format!("{:?}", Page::draw(&Palette::default(), 100, draw))
        };
        assert!(text(true, false, Some("the store\nis locked")).contains("listed: the store is locked"));
        assert!(text(false, false, None).contains("Loading runs"));
        assert!(text(true, true, None).contains("No session has a stored run"));
        assert!(text(false, true, None).contains("no earlier work waits"));
    }
}
