//! The drawings in a conversation: the cards of calls, and the messages with results.
//!
//! Each of them is read from pi's data as JSON, and draws on a [`Page`]. Foreign data gives `None`: the text next to it is
//! shown instead.
//!
//! | Question | File |
//! |---|---|
//! | Which card has a call? | `call_card`: [`CallCard`] |
//! | What does the card of a call that runs agents remember, and when is it live? | `state` |
//! | What does that card show? | `call`; of one task `work`, of several `task_rows`, over `tasks`; of changed files `files` |
//! | What does the message show that announces runs? | `announced` |
//! | How is what a session keeps read back, and what is not ours? | `stored` |
//! | What do the cards of the tools for background work show? | `session_tools` |
//! | How does a report look? | `report` |

mod announced;
mod call;
mod call_card;
mod files;
mod report;
mod session_tools;
mod state;
mod stored;
mod task_rows;
mod tasks;
mod work;

use super::Mark;
use super::paint::{INDENT, Limit, Page, Part, REST, Span, folded};
use crate::run::for_person;

pub use announced::Announcement;
pub(super) use tasks::clock;
pub(super) use work::{call_spans, draw_artifacts, draw_caveats, draw_partial_label};

pub use call_card::CallCard;
pub(super) use report::draw_lines;
pub use report::{draw_report, read_report};
pub use state::{Extent, SettledRuns};

/// Lines of a text that is not ours, collapsed.
const FOREIGN_LINES: usize = 10;

/// A mark, what pi calls the tool, and the name that the call is about.
fn title(mark: Mark, tool: &str, name: &str) -> Part {
    let mut spans =
        vec![Span::new(mark.color(), mark.sign()), Span::new("toolTitle", format!(" {tool}")).bold()];
    let name = folded(name);
    if !name.is_empty() {
        spans.push(Span::new("accent", format!(" {name}")));
    }
    Part::new(spans)
}

/// Draws data of pi itself, another extension or another release as plain text.
fn draw_foreign(page: &mut Page, text: &str, is_error: bool, is_expanded: bool) {
    let note = page.hint(format!("{REST} more lines"));
    let limit = if is_expanded { Limit::None } else { Limit::Noted(FOREIGN_LINES, note) };
    let (color, text) = if is_error { ("error", for_person(text)) } else { ("toolOutput", text.into()) };
    page.indented(INDENT, |page| page.text(color, &text, limit));
}

#[cfg(test)]
mod tests {
    use super::state::Call;
    use super::*;
    use crate::present::paint::Palette;

    /// The lines of a wide page without colours.
    pub(super) fn lines(draw: impl FnOnce(&mut Page)) -> Vec<String> {
        Page::draw(&Palette::default(), 200, draw)
    }

    fn head(call: &Call, extent: &Extent) -> Vec<String> {
        lines(|page| call.draw_head(page, extent))
    }

    fn body(call: &Call, extent: &Extent) -> Vec<String> {
        lines(|page| call.draw_body(page, extent))
    }

    const USAGE: &str = r#"{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"cost":0,"turns":1}"#;

    #[test]
    fn the_card_of_a_call_shows_its_state_and_its_result() {
        let mut call = Call::new("subagent");
        let at = |now_ms| Extent { now_ms, ..Extent::default() };
        call.ask(r#"{"agent":"explorer","task":"find\nit"}"#);
        assert_eq!(head(&call, &at(0)), ["○ subagent explorer", "  find it"]);
        call.start(1_000);
        let update = format!(
            r#"{{"mode":"single","results":[],"streaming":{{"state":"running","hasText":true,"attempt":1,"usage":{USAGE},
            "turnCount":2,"elapsedMs":4000,"sinceEventMs":0,
            "displayItems":[{{"type":"toolCall","name":"ls","args":{{}}}}]}}}}"#
        );
        call.update(&update, "Reading.", 5_000);
        assert_eq!(head(&call, &at(6_000))[0], "● subagent explorer · 5s");
        assert_eq!(body(&call, &at(6_000)), ["  ls .", "  Reading.", "  2 turns · ↑10 ↓5"]);
        let result = format!(
            r#"{{"mode":"single","results":[{{"agent":"explorer","task":"find","outcome":"failed","attempts":1,
            "durationMs":3200,"usage":{USAGE},"error":"no"}}],"error":{{"code":"SUBAGENT_FAILED","message":"no"}}}}"#
        );
        call.finish(&result, "no", true, 7_000);
        assert_eq!(head(&call, &at(9_000))[0], "✗ subagent explorer · 3.2s · failed");
        assert_eq!(body(&call, &at(9_000)), ["  no", "  1 turn · ↑10 ↓5"]);
    }

    /// On the background of a card, pi's light theme leaves dim text with too little contrast to read.
    #[test]
    fn a_card_draws_no_words_in_the_dim_colour() {
        let palette = Palette::read(r#"{"colors":{"dim":["<",">"]},"expandKey":"ctrl+o"}"#);
        let result = format!(
            r#"{{"agent":"explorer","task":"find","outcome":"completed","attempts":2,"durationMs":3200,
            "usage":{USAGE},"model":"x/y","output":"a\nb\nc\nd\ne\nf\ng\nh\ni","sessionFile":"/s.jsonl",
            "changes":["a.rs","b.rs"]}}"#
        );
        for (tool, results) in
            [("subagent", result.clone()), ("subagent_chain", format!("{result},{result}"))]
        {
            let mode = if tool == "subagent" { "single" } else { "chain" };
            for is_expanded in [false, true] {
                let mut call = Call::new(tool);
                call.finish(&format!(r#"{{"mode":"{mode}","results":[{results}]}}"#), "found", false, 1);
                let extent = Extent { is_expanded, ..Extent::default() };
                let drawn = Page::draw(&palette, 80, |page| call.draw_body(page, &extent)).join("\n");
                let dim: Vec<&str> =
                    drawn.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect();
                assert!(
                    dim.contains(&" · ") && dim.iter().all(|text| [" · ", ", "].contains(text)),
                    "{drawn}"
                );
            }
        }
    }

    #[test]
    fn an_expanded_card_shows_the_number_of_redacted_values_and_the_rules_once() {
        let body = |redacted: &str, is_expanded: bool| {
            let mut call = Call::new("subagent");
            let result = format!(
                r#"{{"mode":"single","results":[{{"agent":"explorer","task":"find","outcome":"completed",
                "attempts":1,"durationMs":1,"usage":{USAGE}{redacted}}}]}}"#
            );
            call.finish(&result, "found", false, 1);
            body(&call, &Extent { is_expanded, ..Extent::default() })
        };
        let redacted = r#","redacted":[{"rule":"github_token","count":2},{"rule":"assignment","count":1}],
            "diagnostics":["3 values redacted: 2 by `github_token`, 1 by `assignment`","bash was dropped"]"#;
        let lines = body(redacted, true);
        let found: Vec<&String> = lines.iter().filter(|line| line.contains("redacted")).collect();
        assert_eq!(found, ["  redacted 3 values: 2 by `github_token`, 1 by `assignment`"]);
        assert_eq!(lines.last().map(String::as_str), Some("  note bash was dropped"));
        for (redacted, is_expanded) in [(redacted, false), (r#","redacted":[]"#, true), ("", true)] {
            assert!(!body(redacted, is_expanded).iter().any(|line| line.contains("redacted")), "{redacted}");
        }
    }

    #[test]
    fn a_completed_run_whose_answer_is_contradicted_is_a_warning_with_the_fact_above_the_answer() {
        let result = |caveats: &str| {
            format!(
                r#"{{"agent":"worker","task":"build","outcome":"completed","attempts":1,"durationMs":1000,
                "usage":{USAGE},"output":"I added src/retry.js.","displayItems":[
                {{"type":"toolCall","name":"ls","args":{{}}}},
                {{"type":"toolCall","name":"write","args":{{"path":"a"}},"isError":true}}]{caveats}}}"#
            )
        };
        let without = result("");
        let with = result(r#","caveats":["write_off"]"#);
        let mut one = Call::new("subagent");
        one.finish(&format!(r#"{{"mode":"single","results":[{with}]}}"#), "text", false, 1);
        assert_eq!(head(&one, &Extent::default())[0], "⚠ subagent · 1.0s");
        let fact = "  changed nothing: allowWrite is off (docs/writing.md)";
        assert_eq!(body(&one, &Extent::default())[..2], [fact, "  I added src/retry.js."]);
        let expanded = body(&one, &Extent { is_expanded: true, ..Extent::default() });
        assert_eq!(expanded[..3], ["  ls .", "  ✗ write a", fact]);
        let mut several = Call::new("subagent_parallel");
        let results = format!(r#"{{"mode":"parallel","results":[{without},{with},{with}]}}"#);
        several.finish(&results, "text", false, 1);
        assert!(head(&several, &Extent::default())[0].starts_with("⚠ subagent parallel"));
        let rows = body(&several, &Extent::default());
        assert!(rows[0].contains("✓ worker") && !rows[0].contains("changed nothing"), "{rows:?}");
        assert!(rows[1].contains("⚠ worker") && rows[1].contains("changed nothing · I added"), "{rows:?}");
        assert_eq!(rows.iter().filter(|row| *row == fact).count(), 1, "{rows:?}");
    }

    #[test]
    fn the_card_of_a_writer_that_changed_nothing_says_so_and_warns_only_if_changes_were_expected() {
        let fact = "  changed nothing: it called no tool that changes files (docs/writing.md)";
        let unchanged = "  changed nothing that git sees";
        for (fields, mark, line) in [
            (r#""changes":[],"caveats":["no_write"]"#, "⚠", Some((0, fact))),
            (r#""changes":[]"#, "✓", Some((1, unchanged))),
            (r#""changes":["a.rs"]"#, "✓", None),
            (r#""caveats":[]"#, "✓", None),
        ] {
            let mut call = Call::new("subagent");
            let result = format!(
                r#"{{"mode":"single","results":[{{"agent":"worker","task":"t","outcome":"completed","attempts":1,
                "durationMs":1000,"usage":{USAGE},"output":"I added src/retry.js.",{fields}}}]}}"#
            );
            call.finish(&result, "text", false, 1);
            assert!(head(&call, &Extent::default())[0].starts_with(mark), "{fields}");
            let rows = body(&call, &Extent::default());
            let said: Vec<(usize, &str)> = rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.contains("changed nothing"))
                .map(|(at, row)| (at, row.as_str()))
                .collect();
            assert_eq!(said, Vec::from_iter(line), "{fields}");
        }
    }

    #[test]
    fn a_card_says_once_that_another_model_took_the_place_of_the_agent_s() {
        let note = "model `sonnet` has no login here, so `x/y` is used";
        let result = format!(
            r#"{{"agent":"worker","task":"t","outcome":"completed","attempts":1,"durationMs":1,"usage":{USAGE},
            "output":"done","modelNote":"{note}","diagnostics":["{note}","bash was dropped"]}}"#
        );
        for (tool, results) in
            [("subagent", result.clone()), ("subagent_parallel", format!("{result},{result}"))]
        {
            let mut call = Call::new(tool);
            let mode = if tool == "subagent" { "single" } else { "parallel" };
            call.finish(&format!(r#"{{"mode":"{mode}","results":[{results}]}}"#), "text", false, 1);
            let rows = body(&call, &Extent::default());
            assert_eq!(rows.iter().filter(|row| row.contains(note)).count(), 1, "{rows:?}");
            let expanded = body(&call, &Extent { is_expanded: true, ..Extent::default() });
            let count = if tool == "subagent" { 1 } else { 2 };
            assert_eq!(expanded.iter().filter(|row| row.contains(note)).count(), count, "{expanded:?}");
        }
    }

    #[test]
    fn a_card_shows_the_result_of_the_check_before_its_command() {
        let long = "npm run lint && npm run build && npm test -- --reporter=spec --timeout=60000 src";
        for (command, passed, expected) in [
            ("npm\\ntest", false, "check failed (exit code 3): npm test"),
            ("npm\\ntest", true, "check passed: npm test"),
            (long, false, "check failed (exit code 3): npm run"),
            (long, true, "check passed: npm run"),
        ] {
            let outcome = if passed { "completed" } else { "failed" };
            let result = format!(
                r#"{{"mode":"single","results":[{{"agent":"worker","task":"build","outcome":"{outcome}",
                "attempts":1,"durationMs":1,"usage":{USAGE},
                "check":{{"command":"{command}","passed":{passed},"ended":"exit code 3","runs":2,"output":"x"}}}}]}}"#
            );
            let mut call = Call::new("subagent");
            call.finish(&result, "text", !passed, 1);
            for (is_expanded, width) in
                [false, true].into_iter().flat_map(|is| [40, 60, 80, 200].map(|w| (is, w)))
            {
                let extent = Extent { is_expanded, ..Extent::default() };
                let lines = Page::draw(&Palette::default(), width, |page| call.draw_body(page, &extent));
                let shown: Vec<_> = lines.iter().filter(|line| line.trim().starts_with("check ")).collect();
                assert!(
                    matches!(shown[..], [line] if line.trim().starts_with(expected)),
                    "{width}: {lines:#?}"
                );
                let is_whole = lines.iter().any(|line| line.ends_with(&command[command.len() - 3..]));
                assert_eq!(is_whole, is_expanded || command != long || width == 200, "{width}: {lines:#?}");
            }
        }
    }

    #[test]
    fn fields_missing_from_an_update_are_unchanged() {
        let mut call = Call::new("subagent_parallel");
        let update = |text: &str| {
            format!(
                r#"{{"mode":"parallel","results":[],"tasks":[{{"agent":"explorer","state":"running","attempt":1,
                "usage":{USAGE},"turnCount":0,"elapsedMs":4000,"sinceEventMs":0{text}}}]}}"#
            )
        };
        call.start(0);
        call.update(&update(r#","text":"So far","displayItems":[]"#), "", 0);
        call.update(&update(""), "", 0);
        let body = body(&call, &Extent::default());
        assert!(body[0].contains("So far"), "{body:?}");
    }

    #[test]
    fn an_expanded_card_has_room_for_any_number_of_notes_on_undo() {
        let tasks: Vec<_> = (0..8)
            .map(|at| {
                format!(
                    r#"{{"agent":"worker","state":"running","attempt":1,"usage":{USAGE},"turnCount":0,
                    "elapsedMs":1,"sinceEventMs":0,"text":"","displayItems":[],"undoNote":"note {at}"}}"#
                )
            })
            .collect();
        let mut call = Call::new("subagent_parallel");
        call.start(0);
        let tasks = tasks.join(",");
        call.update(&format!(r#"{{"mode":"parallel","results":[],"tasks":[{tasks}]}}"#), "", 0);
        let body = body(&call, &Extent { is_expanded: true, rows: Some(20), ..Extent::default() });
        assert_eq!(body.iter().filter(|line| line.contains("note ")).count(), 8, "{body:#?}");
    }

    #[test]
    fn foreign_data_is_drawn_as_its_text() {
        let mut call = Call::new("subagent");
        call.finish(r#"{"mode":"single","results":[],"agentScope":"user"}"#, "as it reads", true, 0);
        assert_eq!(body(&call, &Extent::default()), ["  as it reads"]);
        assert!(Announcement::read(r#"{"runs":"…"}"#).is_none());
        assert!(read_report(r#"{"title":"t","lines":[{}],"text":""}"#).is_none());
    }
}
