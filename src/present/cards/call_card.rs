//! The card of a call, whichever of our tools it calls.

use super::session_tools::SessionCall;
use super::state::{Call, Extent, SettledRuns};
use crate::present::paint::Page;
use agents::Tool;

/// The card of a call, with everything that it remembers of the call. Arguments and details come as JSON.
#[derive(Debug)]
pub struct CallCard(Kind);

#[derive(Debug)]
enum Kind {
    /// It waits for the runs that it starts.
    Waiting(Box<Call>),
    /// It is about work in the background.
    Session(SessionCall),
}

impl CallCard {
    /// The card of a call of the tool with this name.
    #[must_use]
    pub fn new(tool: &str) -> Self {
        let waits = Tool::parse(tool).is_none_or(Tool::waits_for_runs);
        Self(if waits {
            Kind::Waiting(Box::new(Call::new(tool)))
        } else {
            Kind::Session(SessionCall::new(tool))
        })
    }

    /// Sets the arguments, which can still be arriving.
    pub fn ask(&mut self, arguments: &str) {
        match &mut self.0 {
            Kind::Waiting(call) => call.ask(arguments),
            Kind::Session(call) => call.ask(arguments),
        }
    }

    /// The call is being carried out.
    pub fn start(&mut self, now_ms: i64) {
        match &mut self.0 {
            Kind::Waiting(call) => call.start(now_ms),
            Kind::Session(call) => call.start(),
        }
    }

    /// An update.
    pub fn update(&mut self, details: &str, text: &str, now_ms: i64) {
        if let Kind::Waiting(call) = &mut self.0 {
            call.update(details, text, now_ms);
        }
    }

    /// The result.
    pub fn finish(&mut self, details: &str, text: &str, has_failed: bool, now_ms: i64) {
        match &mut self.0 {
            Kind::Waiting(call) => call.finish(details, text, has_failed, now_ms),
            Kind::Session(call) => call.finish(details, text, has_failed),
        }
    }

    /// Takes what commands have done with the changes of runs, by the ids of the runs. Call it after the result.
    pub fn settle(&mut self, settled: &SettledRuns) {
        if let Kind::Waiting(call) = &mut self.0 {
            call.settle(settled);
        }
    }

    /// Draws the upper of its two components: who works on what.
    pub fn draw_head(&self, page: &mut Page, extent: &Extent) {
        match &self.0 {
            Kind::Waiting(call) => call.draw_head(page, extent),
            Kind::Session(call) => call.draw_head(page),
        }
    }

    /// Draws the lower part: the progress, or the result.
    pub fn draw_body(&self, page: &mut Page, extent: &Extent) {
        match &self.0 {
            Kind::Waiting(call) => call.draw_body(page, extent),
            Kind::Session(call) => call.draw_body(page, extent.is_expanded),
        }
    }

    /// Returns true if its clock ticks.
    #[must_use]
    pub fn is_running(&self) -> bool {
        matches!(&self.0, Kind::Waiting(call) if call.is_running())
    }

    /// Returns the duration of the call, if the card shows one.
    #[must_use]
    pub fn elapsed_ms(&self, now_ms: i64) -> Option<f64> {
        match &self.0 {
            Kind::Waiting(call) => call.elapsed_ms(now_ms),
            Kind::Session(_) => None,
        }
    }
}
