//! The arriving calls of a host: their announcement and their end.
//!
//! Calls come in pieces, several of a message in turns, and a provider may send the name or the id late, or the call as a whole.
//! Unusual calls are ignored: without an early child a call just takes longer.

use std::collections::HashMap;

use crate::run::BoxFuture;
use agents::Tool;

/// Bytes of a call without a name or an id that are buffered; the name of its agent would have been in there.
const MAX_BUFFERED: usize = 16 * 1024;

/// A call whose children boot while it arrives.
pub trait Early {
    /// Takes the next piece of its arguments.
    fn push(&self, piece: &str);
    /// Ends the children that no run has claimed. Resolves when they are gone.
    fn end(&self) -> BoxFuture<'static, ()>;
    /// Returns true if they are gone.
    fn has_ended(&self) -> bool;
}

/// The kind of a piece of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Its beginning.
    Start,
    /// A part of its arguments.
    Delta,
    /// Its end.
    End,
}

/// A piece of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallPiece<'a> {
    /// The kind of the piece.
    pub kind: PieceKind,
    /// The index of the call in its message.
    pub index: u32,
    /// A part of its arguments, as raw JSON; of an end, all of them.
    pub json: &'a str,
    /// The name of the tool, once it is known.
    pub name: &'a str,
    /// The id of the call, once it is known.
    pub id: &'a str,
}

/// A call to announce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivingCall<'a> {
    /// Its tool.
    pub tool: Tool,
    /// Its id.
    pub id: &'a str,
}

/// The calls of a host's model, from their first piece to their end.
#[derive(Debug)]
pub struct EarlyCalls<Call> {
    /// The calls of the current message, by their index.
    arriving: HashMap<u32, Arriving>,
    /// Announced calls that have not ended, by id.
    announced: HashMap<String, Call>,
    /// The last call to announce, with its arguments so far.
    wanted: Option<(String, String)>,
    /// Ended calls whose children may not be gone yet.
    ending: Vec<Call>,
}

#[derive(Debug)]
enum Arriving {
    /// Not announced yet, with its arguments so far.
    Unknown(String),
    Announced {
        id: String,
    },
}

impl<Call> Default for EarlyCalls<Call> {
    fn default() -> Self {
        Self { arriving: HashMap::new(), announced: HashMap::new(), wanted: None, ending: Vec::new() }
    }
}

impl<Call: Early> EarlyCalls<Call> {
    /// Takes a piece. Returns the call if enough of it is known now to announce it.
    pub fn take<'a>(&mut self, piece: CallPiece<'a>) -> Option<ArrivingCall<'a>> {
        let before = self.arriving.remove(&piece.index);
        let before = if piece.kind == PieceKind::Start { Arriving::Unknown(String::new()) } else { before? };
        let (after, wanted) = self.advance(before, piece);
        if let (Some(after), false) = (after, piece.kind == PieceKind::End) {
            self.arriving.insert(piece.index, after);
        }
        wanted
    }

    fn advance<'a>(
        &mut self,
        before: Arriving,
        piece: CallPiece<'a>,
    ) -> (Option<Arriving>, Option<ArrivingCall<'a>>) {
        let CallPiece { kind, json, name, id, .. } = piece;
        let mut buffered = match before {
            Arriving::Unknown(buffered) => buffered,
            Arriving::Announced { id } => {
                if let (PieceKind::Delta, Some(call)) = (kind, self.announced.get(&id)) {
                    call.push(json);
                }
                return (Some(Arriving::Announced { id }), None);
            }
        };
        // Some providers hand out a call whole, without parts.
        if kind == PieceKind::Delta || (kind == PieceKind::End && buffered.is_empty()) {
            buffered.push_str(json);
        }
        let tool = Tool::parse(name).filter(|tool| tool.needs_child());
        if tool.is_none() && !name.is_empty() {
            return (None, None);
        }
        let Some(tool) = tool.filter(|_| !id.is_empty() && !buffered.is_empty()) else {
            return ((buffered.len() <= MAX_BUFFERED).then_some(Arriving::Unknown(buffered)), None);
        };
        // Some providers count their calls anew in each message.
        self.finished(id);
        self.wanted = Some((id.to_owned(), buffered));
        (Some(Arriving::Announced { id: id.to_owned() }), Some(ArrivingCall { tool, id }))
    }

    /// Announces the call that [`take`](Self::take) has asked for last. Without this, it runs without an early child.
    pub fn announce(&mut self, id: &str, call: Call) {
        let Some((_, buffered)) = self.wanted.take().filter(|(wanted, _)| wanted == id) else { return };
        call.push(&buffered);
        self.announced.insert(id.to_owned(), call);
    }

    /// Ends a call that was executed or refused, or that is invalid.
    pub fn finished(&mut self, id: &str) {
        if let Some(call) = self.announced.remove(id) {
            self.end(call);
        }
    }

    /// A message of the model is complete. `is_cut_off`: it failed, was aborted or too long, and no call of it is executed.
    pub fn message_ended(&mut self, is_cut_off: bool) {
        self.arriving.clear();
        if is_cut_off {
            self.clear();
        }
    }

    /// Ends all announced calls, because none of them will be executed any more.
    pub fn clear(&mut self) {
        self.arriving.clear();
        self.wanted = None;
        for (_, call) in std::mem::take(&mut self.announced) {
            self.end(call);
        }
    }

    /// Ends all announced calls, because the host closes. Resolves when all unclaimed children are gone.
    pub fn close(&mut self) -> impl Future<Output = ()> + Send + use<Call> {
        self.clear();
        let ending: Vec<_> = self.ending.drain(..).map(|call| call.end()).collect();
        async move {
            for end in ending {
                end.await;
            }
        }
    }

    fn end(&mut self, call: Call) {
        // `end` takes effect at once. Its future only waits.
        drop(call.end());
        self.ending.retain(|call| !call.has_ended());
        self.ending.push(call);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;

    /// A recording call for tests: the pushed text, and the number of ends.
    #[derive(Clone, Debug, Default)]
    struct Double(Rc<RefCell<(String, u32)>>);

    impl Early for Double {
        fn push(&self, piece: &str) {
            self.0.borrow_mut().0.push_str(piece);
        }

        fn end(&self) -> BoxFuture<'static, ()> {
            self.0.borrow_mut().1 += 1;
            Box::pin(std::future::ready(()))
        }

        fn has_ended(&self) -> bool {
            true
        }
    }

    /// The calls, and all that were announced: id, tool, double.
    #[derive(Default)]
    struct Scene {
        calls: EarlyCalls<Double>,
        announced: Vec<(String, Tool, Double)>,
    }

    impl Scene {
        fn piece(&mut self, kind: PieceKind, index: u32, json: &str, name: &str, id: &str) {
            let wanted = self.calls.take(CallPiece { kind, index, json, name, id });
            if let Some(ArrivingCall { tool, id }) = wanted {
                let double = Double::default();
                self.announced.push((id.to_owned(), tool, double.clone()));
                self.calls.announce(id, double);
            }
        }

        fn begin(&mut self, index: u32, name: &str, id: &str) {
            self.piece(PieceKind::Start, index, "", name, id);
        }

        fn delta(&mut self, index: u32, json: &str, name: &str, id: &str) {
            self.piece(PieceKind::Delta, index, json, name, id);
        }

        fn received(&self) -> Vec<(String, String, u32)> {
            let received = |(id, _, double): &'_ (String, Tool, Double)| {
                let (json, ends) = double.0.borrow().clone();
                (id.clone(), json, ends)
            };
            self.announced.iter().map(received).collect()
        }
    }

    const SINGLE: &str = "subagent";

    fn received(id: &str, json: &str, ends: u32) -> (String, String, u32) {
        (id.to_owned(), json.to_owned(), ends)
    }

    #[test]
    fn a_call_is_announced_with_its_first_piece_and_gets_the_others() {
        let mut scene = Scene::default();
        scene.begin(1, SINGLE, "a");
        assert!(scene.received().is_empty(), "a call without a piece is not announced");
        for json in ["{\"agent\":", "\"x\"", "}"] {
            scene.delta(1, json, SINGLE, "a");
        }
        scene.piece(PieceKind::End, 1, "{\"agent\":\"x\"}", SINGLE, "a");
        assert_eq!(scene.received(), [received("a", "{\"agent\":\"x\"}", 0)]);
        assert_eq!(scene.announced[0].1, Tool::Subagent);
        scene.delta(1, "more", SINGLE, "a");
        assert_eq!(scene.received()[0].1, "{\"agent\":\"x\"}", "an ended call gets no more pieces");
    }

    #[test]
    fn interleaved_calls_stay_separate() {
        let mut scene = Scene::default();
        scene.begin(0, SINGLE, "a");
        scene.begin(1, "subagent_chain", "b");
        scene.delta(0, "1", SINGLE, "a");
        scene.delta(1, "2", "subagent_chain", "b");
        scene.delta(0, "3", SINGLE, "a");
        assert_eq!(scene.received(), [received("a", "13", 0), received("b", "2", 0)]);
        assert_eq!(scene.announced[1].1, Tool::Chain);
    }

    #[test]
    fn the_wait_for_a_late_name_or_id_is_bounded() {
        let mut scene = Scene::default();
        scene.begin(0, "", "");
        scene.delta(0, "{", "", "a");
        scene.delta(0, "\"", SINGLE, "");
        assert!(scene.received().is_empty());
        scene.delta(0, "x", SINGLE, "a");
        assert_eq!(scene.received(), [received("a", "{\"x", 0)]);

        let mut scene = Scene::default();
        scene.begin(0, "", "a");
        scene.delta(0, &"x".repeat(MAX_BUFFERED + 1), "", "a");
        scene.delta(0, "y", SINGLE, "a");
        assert!(scene.received().is_empty(), "a call that is too long without a name is not announced");
    }

    #[test]
    fn a_call_in_one_piece_is_announced_at_its_end() {
        let mut scene = Scene::default();
        scene.begin(0, SINGLE, "a");
        scene.piece(PieceKind::End, 0, "{}", SINGLE, "a");
        assert_eq!(scene.received(), [received("a", "{}", 0)]);
    }

    #[test]
    fn other_tools_and_pieces_without_a_beginning_are_ignored() {
        let mut scene = Scene::default();
        for name in ["bash", "sessions_stop", "agents_list"] {
            scene.begin(0, name, "a");
            scene.delta(0, "{}", name, "a");
        }
        scene.delta(7, "{}", SINGLE, "b");
        scene.piece(PieceKind::End, 8, "{}", SINGLE, "c");
        assert!(scene.received().is_empty());
    }

    #[test]
    fn a_call_is_ended_once() {
        let mut scene = Scene::default();
        scene.begin(0, SINGLE, "a");
        scene.delta(0, "{", SINGLE, "a");
        scene.calls.message_ended(false);
        assert_eq!(scene.received()[0].2, 0, "a call that will be executed is not ended");
        scene.calls.finished("a");
        scene.calls.finished("a");
        scene.calls.finished("other");
        assert_eq!(scene.received()[0].2, 1);
    }

    #[test]
    fn no_call_of_a_message_that_was_cut_off_is_executed() {
        let mut scene = Scene::default();
        scene.begin(0, SINGLE, "a");
        scene.delta(0, "{", SINGLE, "a");
        scene.calls.message_ended(true);
        scene.delta(0, "}", SINGLE, "a");
        assert_eq!(scene.received(), [received("a", "{", 1)]);
    }

    #[test]
    fn a_repeated_id_is_a_new_call() {
        let mut scene = Scene::default();
        for json in ["1", "2"] {
            scene.begin(0, SINGLE, "call-0");
            scene.delta(0, json, SINGLE, "call-0");
            scene.calls.message_ended(false);
        }
        assert_eq!(scene.received(), [received("call-0", "1", 1), received("call-0", "2", 0)]);
    }

    #[test]
    fn an_unannounced_call_is_not_requested_again() {
        let mut calls = EarlyCalls::<Double>::default();
        let piece = |kind, json| CallPiece { kind, index: 0, json, name: SINGLE, id: "a" };
        assert_eq!(calls.take(piece(PieceKind::Start, "")), None);
        assert!(calls.take(piece(PieceKind::Delta, "{")).is_some());
        assert_eq!(calls.take(piece(PieceKind::Delta, "}")), None);
        let late = Double::default();
        calls.announce("b", late.clone());
        calls.clear();
        assert_eq!(*late.0.borrow(), (String::new(), 0), "a call with another ID gets no pieces");
    }

    #[tokio::test]
    async fn a_closing_host_waits_for_every_child() {
        let mut scene = Scene::default();
        scene.begin(0, SINGLE, "a");
        scene.delta(0, "{", SINGLE, "a");
        let double = scene.announced[0].2.clone();
        let mut calls = scene.calls;
        let closing = calls.close();
        assert!(double.0.borrow().1 > 0, "the child is ended immediately");
        closing.await;
    }
}
