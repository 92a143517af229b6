//! Sanitizes a child's output before it leaves the process.

use serde_json::Value;

use pi_events::{Collected, DisplayItem, RefusedResults, Retry, StopReason, Submitted};
use sanitizer::Sanitizer;

/// Sanitizes every string of a collected stream. Where a text may have been cut, also removes the beginning of a known
/// secret at its end, which the scanner could not recognize.
#[must_use]
pub fn clean(collected: Collected, sanitizer: &Sanitizer) -> Collected {
    let text = |text: String| sanitizer.sanitize(&text).into_string();
    let cut = |text: String| sanitizer.sanitize_growing(&text).into_string();
    let is_complete = collected.stop_reason == Some(StopReason::Stop);
    let stop_reason = match collected.stop_reason {
        Some(StopReason::Other(reason)) => Some(StopReason::Other(text(reason))),
        known => known,
    };
    Collected {
        text: collected.text.map(|answer| if is_complete { text(answer) } else { cut(answer) }),
        partial: collected.partial.map(cut),
        stop_reason,
        error_message: collected.error_message.map(text),
        model: collected.model.map(text),
        display_items: clean_items(&collected.display_items, sanitizer),
        last_event: collected.last_event.map(text),
        tool_names: collected.tool_names.into_iter().map(text).collect(),
        retry: collected.retry.map(|retry| Retry { final_error: retry.final_error.map(text), ..retry }),
        submitted: collected.submitted.map(|submitted| clean_submitted(&submitted, sanitizer)),
        refused_results: RefusedResults {
            reason: cut(collected.refused_results.reason),
            ..collected.refused_results
        },
        noise: text(collected.noise),
        epilogue: collected.epilogue.map(|epilogue| Box::new(clean(*epilogue, sanitizer))),
        ..collected
    }
}

/// Sanitizes every string of a result. A value that is not JSON becomes empty.
fn clean_submitted(submitted: &Submitted, sanitizer: &Sanitizer) -> Submitted {
    let value = serde_json::from_slice(&submitted.json).map(|value: Value| sanitizer.sanitize_json(&value));
    let json = value.and_then(|value| serde_json::to_vec(&value)).unwrap_or_default();
    Submitted { json, is_too_long: submitted.is_too_long }
}

/// Sanitizes every string of the items; texts are treated as possibly cut.
#[must_use]
pub(crate) fn clean_items(items: &[DisplayItem], sanitizer: &Sanitizer) -> Vec<DisplayItem> {
    items.iter().map(|item| clean_item(item, sanitizer)).collect()
}

fn clean_item(item: &DisplayItem, sanitizer: &Sanitizer) -> DisplayItem {
    match item {
        DisplayItem::Text { text } => {
            DisplayItem::Text { text: sanitizer.sanitize_growing(text).into_string() }
        }
        // The id is only for the collector.
        DisplayItem::ToolCall { name, args, is_error, id: _ } => DisplayItem::ToolCall {
            name: sanitizer.sanitize(name).into_string(),
            args: sanitizer.sanitize_json(args),
            is_error: *is_error,
            id: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use sanitizer::SanitizerOptions;

    const SECRET: &str = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";

    #[test]
    fn every_string_of_a_stream_is_sanitized() {
        let secret_text = || format!("said {SECRET}");
        let calls = |name: &str| {
            vec![
                DisplayItem::Text { text: secret_text() },
                DisplayItem::tool_call(name.into(), json!({ "key": secret_text() })),
            ]
        };
        let stream = || Collected {
            text: Some(secret_text()),
            partial: Some(secret_text()),
            stop_reason: Some(StopReason::Other(secret_text())),
            error_message: Some(secret_text()),
            model: Some(secret_text()),
            display_items: calls(&secret_text()),
            last_event: Some(secret_text()),
            tool_names: [secret_text()].into(),
            submitted: Some(Submitted {
                json: json!({ "key": secret_text() }).to_string().into(),
                is_too_long: false,
            }),
            retry: Some(Retry { final_error: Some(secret_text()), ..Retry::default() }),
            noise: secret_text(),
            ..Collected::default()
        };
        let original = Collected { epilogue: Some(Box::new(stream())), ..stream() };
        let before = format!("{original:?}");
        let after = format!("{:?}", clean(original, &Sanitizer::new(SanitizerOptions::default())));
        assert!(!after.contains("ghp_"), "{after}");
        assert_eq!(after.matches("said").count(), before.matches("said").count(), "{after}");
    }
}
