//! Finds the children named in a tool call while its arguments still arrive.

use sanitizer::json::skim::{Kind, Sink, Skimmer, Status, Verdict, Word};

/// Bytes of an agent's name or of a directory; a longer value is dropped.
const MAX_VALUE: usize = 4096;

/// A child that the call will need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedChild {
    /// The child of a new run.
    OfTask(NamedTask),
    /// The child that continues the run of this name.
    OfRun(String),
}

/// A task of the call, as far as it decides about its child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NamedTask {
    /// Index of its task in the call, from 0.
    pub index: usize,
    pub agent: String,
    /// As given in the call, not resolved.
    pub cwd: Option<String>,
    /// As given in the call, not checked.
    pub model: Option<String>,
    /// As given in the call, not checked.
    pub thinking: Option<String>,
}

/// Reads the JSON arguments of a call as they stream in, and reports each child as soon as it is certain.
///
/// The child of a task is certain when the key `task` appears, in a call with a single task and in each entry of `tasks` and
/// `steps`. An agent, a directory or a model given after it is not seen. The child of an earlier run is certain when
/// `sessionKey` is complete. Input that is not JSON yields nothing more.
#[derive(Debug, Default)]
pub(super) struct StreamingArgs {
    skimmer: Skimmer,
    children: Children,
    is_broken: bool,
}

impl StreamingArgs {
    /// Takes the next piece of the arguments and returns the children that it makes certain.
    pub(super) fn push(&mut self, piece: &str) -> Vec<NamedChild> {
        if !self.is_broken {
            self.is_broken = self.skimmer.feed(piece.as_bytes(), &mut self.children) != Status::More;
        }
        std::mem::take(&mut self.children.found)
    }
}

/// A container that can name a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Call,
    List,
    Task,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Agent,
    Cwd,
    Model,
    Thinking,
    Run,
    List,
}

/// Picks agents, directories and models out of the arguments.
#[derive(Debug, Default)]
struct Children {
    levels: Vec<Level>,
    field: Option<Field>,
    /// The current string. `None` once it is too long.
    value: Option<String>,
    agent: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    thinking: Option<String>,
    /// Tasks of lists that are complete.
    index: usize,
    /// The call has named its only child.
    is_named: bool,
    found: Vec<NamedChild>,
}

impl Children {
    fn enter(&mut self, level: Level) -> Verdict {
        self.levels.push(level);
        if level != Level::List {
            (self.agent, self.cwd, self.model, self.thinking) = (None, None, None, None);
        }
        Verdict::Take
    }

    fn report(&mut self) {
        if let Some(agent) = self.agent.take() {
            let index = self.index;
            let cwd = self.cwd.take();
            let model = self.model.take();
            let thinking = self.thinking.take();
            self.found.push(NamedChild::OfTask(NamedTask { index, agent, cwd, model, thinking }));
        }
    }
}

impl Sink for Children {
    fn key(&mut self, key: &str) -> Verdict {
        let level = self.levels.last();
        self.field = match key {
            // `agentId` is the name in `sessions_spawn`.
            "agent" | "agentId" => Some(Field::Agent),
            "cwd" => Some(Field::Cwd),
            "model" => Some(Field::Model),
            "thinking" => Some(Field::Thinking),
            "sessionKey" if level == Some(&Level::Call) => Some(Field::Run),
            "tasks" | "steps" if level == Some(&Level::Call) => Some(Field::List),
            "task" if level == Some(&Level::Task) => {
                self.report();
                None
            }
            "task" if level == Some(&Level::Call) && !std::mem::replace(&mut self.is_named, true) => {
                self.report();
                None
            }
            _ => None,
        };
        if self.field.is_some() { Verdict::Take } else { Verdict::Skip }
    }

    fn value(&mut self, kind: Kind) -> Verdict {
        match (self.levels.last(), self.field, kind) {
            (None, _, Kind::Object) => self.enter(Level::Call),
            (None, ..) => Verdict::Finish,
            (Some(Level::List), _, Kind::Object) => self.enter(Level::Task),
            (Some(Level::Call), Some(Field::List), Kind::Array) => self.enter(Level::List),
            (
                Some(Level::Call | Level::Task),
                Some(Field::Agent | Field::Cwd | Field::Model | Field::Thinking | Field::Run),
                Kind::String,
            ) => {
                self.value = Some(String::new());
                Verdict::Take
            }
            _ => Verdict::Skip,
        }
    }

    fn text(&mut self, part: &str) {
        self.value.take_if(|value| value.len() + part.len() > MAX_VALUE);
        if let Some(value) = &mut self.value {
            value.push_str(part);
        }
    }

    fn text_end(&mut self) -> Verdict {
        // A replacement character marks invalid text, so no agent has this name.
        let value = self.value.take().filter(|value| !value.contains(char::REPLACEMENT_CHARACTER));
        match self.field {
            Some(Field::Cwd) => self.cwd = value,
            Some(Field::Model) => self.model = value,
            Some(Field::Thinking) => self.thinking = value,
            Some(Field::Agent) => self.agent = value,
            Some(Field::Run) => {
                let first = value.filter(|_| !std::mem::replace(&mut self.is_named, true));
                self.found.extend(first.map(NamedChild::OfRun));
            }
            Some(Field::List) | None => {}
        }
        Verdict::Take
    }

    fn word(&mut self, _: Word<'_>) {}

    fn close(&mut self) {
        if self.levels.pop() == Some(Level::Task) {
            self.index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(index: usize, agent: &str, cwd: Option<&str>) -> NamedChild {
        let cwd = cwd.map(str::to_owned);
        NamedChild::OfTask(NamedTask { index, agent: agent.to_owned(), cwd, ..NamedTask::default() })
    }

    /// Returns the certain children after each of these pieces.
    fn found(pieces: &[&str]) -> Vec<Vec<NamedChild>> {
        let mut arguments = StreamingArgs::default();
        pieces.iter().map(|piece| arguments.push(piece)).collect()
    }

    #[test]
    fn a_child_is_certain_once_no_argument_can_change_it() {
        let pieces = [r#"{"agent":"expl"#, r#"orer""#, r#","task""#, r#":"look"}"#];
        assert_eq!(found(&pieces), [vec![], vec![], vec![child(0, "explorer", None)], vec![]]);
        let pieces = [r#"{"agent":"a","cwd":"lib","model":"x/y","thinking":"high","task""#];
        let named = NamedTask {
            index: 0,
            agent: "a".to_owned(),
            cwd: Some("lib".to_owned()),
            model: Some("x/y".to_owned()),
            thinking: Some("high".to_owned()),
        };
        assert_eq!(found(&pieces), [vec![NamedChild::OfTask(named)]]);
        let pieces = [r#"{"tasks":[{"agent":"a","#, r#""task"#, r#"":"#, r#""look"}]}"#];
        assert_eq!(found(&pieces), [vec![], vec![], vec![child(0, "a", None)], vec![]]);
    }

    #[test]
    fn an_earlier_run_is_certain_once_its_name_is_complete() {
        let named = || vec![NamedChild::OfRun("1a2b3c4d".to_owned())];
        let pieces = [r#"{"sessionKey":"1a2b"#, r#"3c4d""#, r#","message":"go","sessionKey":"other"}"#];
        assert_eq!(found(&pieces), [vec![], named(), vec![]]);
        assert_eq!(found(&[r#"{"message":"go","#, r#""sessionKey":"1a2b3c4d"}"#]), [vec![], named()]);
        let nested = r#"{"tasks":[{"sessionKey":"x"}],"other":{"sessionKey":"x"},"sessionKey":7}"#;
        assert_eq!(found(&[nested]), [vec![]]);
    }

    #[test]
    fn each_task_of_a_list_names_its_own_child() {
        let whole = r#"{ "tasks" : [ {"agent":"a","task":"{\"agent\":\"x\"}"}, {"agent":"b","cwd":"\/srv","task":"t"},
            {"task":"t","agent":"late"}, {"agent":"d","task":""} ] }"#;
        let expected = vec![child(0, "a", None), child(1, "b", Some("/srv")), child(3, "d", None)];
        for size in [1, 2, 7, whole.len()] {
            let mut arguments = StreamingArgs::default();
            let pieces: Vec<String> =
                whole.chars().collect::<Vec<_>>().chunks(size).map(|piece| piece.iter().collect()).collect();
            let found: Vec<NamedChild> = pieces.iter().flat_map(|piece| arguments.push(piece)).collect();
            assert_eq!(found, expected, "pieces of {size}");
        }
    }

    #[test]
    fn arguments_without_an_agent_name_no_child() {
        let long = format!(r#"{{"agent":"{}","task":"t"}}"#, "x".repeat(MAX_VALUE + 1));
        let deep = format!("{}{}", "[{\"tasks\":".repeat(1000), r#"{"agent":"a","task":"t"}"#);
        for arguments in [
            "",
            "null",
            r#"["agent","a","task","t"]"#,
            r#"{"agent":7,"task":"t"}"#,
            r#"{"tasks":[{"task":"t","agent":"a"}]}"#,
            r#"{"agent":"\ud800","task":"t"}"#,
            r#"{"options":{"agent":"a","task":"t"}}"#,
            r#"{"others":[{"agent":"a","task":"t"}]}"#,
            r#"}}}]]{"agent""#,
            &long,
            &deep,
        ] {
            assert_eq!(StreamingArgs::default().push(arguments), [], "{arguments:.80}");
        }
    }

    #[test]
    fn a_repeated_key_names_one_child() {
        assert_eq!(found(&[r#"{"agent":"a","task":"1","task":"2","agent":"b"}"#]), [[child(0, "a", None)]]);
        let several = r#"{"tasks":[{"agent":"a","task":"1","agent":"b","task":"2"}]}"#;
        assert_eq!(found(&[several]), [[child(0, "a", None), child(0, "b", None)]]);
    }
}
