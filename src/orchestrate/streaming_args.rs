//! What the arguments of a call say about its children before all of them have arrived.

/// The keys that name a child.
const AGENT: &str = "agent";
const CWD: &str = "cwd";
/// The key that shows that the two others have come, if they come before it.
const TASK: &str = "task";
/// The keys of the lists that hold one task each.
const LISTS: [&str; 2] = ["tasks", "steps"];
/// What is kept of a name or a directory; a longer one is none.
const MAX_VALUE: usize = 4096;
/// How deep the objects lie in which a child is named: `{` or `{"tasks":[{`.
const SINGLE_DEPTH: usize = 1;
const LISTED_DEPTH: usize = 3;
/// Deeper than any call of ours; nothing is found any more in what nests deeper.
const MAX_DEPTH: usize = 64;

/// A child that a call will need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Which of the call's tasks it is for, from 0.
    pub index: usize,
    /// Its agent.
    pub agent: String,
    /// Its directory, if one is named.
    pub cwd: Option<String>,
}

/// Reads the JSON arguments of a call as they stream in, and says which children they name as soon as that is certain: a
/// call with one task names its agent only; one of several can name a directory too, until its task begins. A child whose
/// agent or directory comes after its task is not found. Keeps no more than a name and a directory; what is no JSON yields
/// nothing.
#[derive(Debug, Default)]
pub(super) struct Heads {
    /// The containers around the place at hand: true for an object.
    nesting: Vec<bool>,
    /// A key or a value that is being read; `None` outside strings.
    string: Option<Text>,
    /// The last key of the object at hand.
    key: String,
    /// Whether the next string of the object at hand is a key.
    expects_key: bool,
    agent: Option<String>,
    cwd: Option<String>,
    /// Elements of the list that are complete.
    index: usize,
    /// The place is inside a list of tasks.
    is_list: bool,
    /// The one task of the call has named its agent.
    is_named: bool,
    found: Vec<Head>,
}

/// The text of a string so far, as it stands in the JSON.
#[derive(Debug, Default)]
struct Text {
    raw: String,
    is_key: bool,
    is_escaped: bool,
    is_too_long: bool,
}

impl Heads {
    /// Takes the next piece of the arguments and returns what has become certain by it.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Head> {
        for character in piece.chars() {
            if self.nesting.len() > MAX_DEPTH {
                break;
            }
            self.take(character);
        }
        std::mem::take(&mut self.found)
    }

    fn take(&mut self, character: char) {
        if let Some(text) = &mut self.string {
            if text.is_escaped {
                text.is_escaped = false;
            } else if character == '\\' {
                text.is_escaped = true;
            } else if character == '"' {
                return self.end_string();
            }
            text.is_too_long |= text.raw.len() >= MAX_VALUE;
            if !text.is_too_long {
                text.raw.push(character);
            }
            return;
        }
        match character {
            '"' => self.begin_string(),
            '{' | '[' => self.open(character == '{'),
            '}' | ']' => self.close(),
            ',' => self.expects_key = self.nesting.last() == Some(&true),
            _ => {}
        }
    }

    /// Whether the object at hand names a child.
    fn is_child(&self) -> bool {
        match self.nesting.len() {
            SINGLE_DEPTH => !self.is_list,
            LISTED_DEPTH => self.is_list,
            _ => false,
        }
    }

    fn open(&mut self, is_object: bool) {
        if self.nesting.len() == SINGLE_DEPTH && !is_object && LISTS.contains(&self.key.as_str()) {
            self.is_list = true;
        }
        self.nesting.push(is_object);
        self.expects_key = is_object;
        if self.is_child() {
            (self.agent, self.cwd) = (None, None);
        }
    }

    fn close(&mut self) {
        if self.is_list && self.is_child() {
            self.index += 1;
        }
        self.nesting.pop();
        self.expects_key = false;
        self.is_list &= self.nesting.len() > SINGLE_DEPTH;
    }

    fn find(&mut self) {
        if let Some(agent) = self.agent.take() {
            self.found.push(Head { index: self.index, agent, cwd: self.cwd.take() });
        }
    }

    fn begin_string(&mut self) {
        self.string = Some(Text { is_key: self.expects_key, ..Text::default() });
    }

    fn end_string(&mut self) {
        let Some(text) = self.string.take() else { return };
        let value = if text.is_too_long { None } else { unquoted(&text.raw) };
        if text.is_key {
            self.expects_key = false;
            self.key = value.unwrap_or_default();
            if self.is_list && self.is_child() && self.key == TASK {
                // Whatever the task says, it is about to begin; a second one names nobody.
                self.find();
            }
        } else if self.is_child() {
            match self.key.as_str() {
                AGENT if !self.is_list => {
                    self.agent = value.filter(|_| !std::mem::replace(&mut self.is_named, true));
                    self.find();
                }
                AGENT => self.agent = value,
                CWD => self.cwd = value,
                _ => {}
            }
        }
    }
}

fn unquoted(raw: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{raw}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(index: usize, agent: &str, cwd: Option<&str>) -> Head {
        Head { index, agent: agent.to_owned(), cwd: cwd.map(str::to_owned) }
    }

    /// What is certain after each of these pieces.
    fn found(pieces: &[&str]) -> Vec<Vec<Head>> {
        let mut heads = Heads::default();
        pieces.iter().map(|piece| heads.push(piece)).collect()
    }

    #[test]
    fn a_child_is_certain_when_nothing_more_can_be_said_of_it() {
        let pieces = [r#"{"agent":"expl"#, r#"orer""#, r#","task":"look"}"#];
        assert_eq!(found(&pieces), [vec![], vec![head(0, "explorer", None)], vec![]]);
        let pieces = [r#"{"tasks":[{"agent":"a","#, r#""task"#, r#"":"#, r#""look"}]}"#];
        assert_eq!(found(&pieces), [vec![], vec![], vec![head(0, "a", None)], vec![]]);
    }

    #[test]
    fn every_task_of_a_list_has_its_own() {
        let whole = r#"{ "tasks" : [ {"agent":"a","task":"{\"agent\":\"x\"}"}, {"agent":"b","cwd":"\/srv","task":"t"},
            {"task":"t","agent":"late"}, {"agent":"d","task":""} ] }"#;
        let expected = vec![head(0, "a", None), head(1, "b", Some("/srv")), head(3, "d", None)];
        for size in [1, 2, 7, whole.len()] {
            let mut heads = Heads::default();
            let pieces: Vec<String> =
                whole.chars().collect::<Vec<_>>().chunks(size).map(|piece| piece.iter().collect()).collect();
            let found: Vec<Head> = pieces.iter().flat_map(|piece| heads.push(piece)).collect();
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_names_nobody_yields_nothing() {
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
            assert_eq!(Heads::default().push(arguments), [], "{arguments:.80}");
        }
    }

    #[test]
    fn a_repeated_key_names_one_child() {
        assert_eq!(found(&[r#"{"agent":"a","task":"1","task":"2","agent":"b"}"#]), [[head(0, "a", None)]]);
        let several = r#"{"tasks":[{"agent":"a","task":"1","agent":"b","task":"2"}]}"#;
        assert_eq!(found(&[several]), [[head(0, "a", None), head(0, "b", None)]]);
    }
}
