//! The settings as JSON values by key, the form in which files are merged.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keys::KEYS;
use super::settings::Config;

impl Default for Config {
    fn default() -> Self {
        Values::default().into_config()
    }
}

/// A value for each key.
#[derive(Clone, Debug)]
pub(super) struct Values(BTreeMap<&'static str, Value>);

impl Default for Values {
    fn default() -> Self {
        let default = |json| serde_json::from_str(json).expect("a test reads the default of every key");
        Self(KEYS.iter().map(|key| (key.path, default(key.default))).collect())
    }
}

impl Values {
    pub(super) fn of(config: &Config) -> Self {
        let json = serde_json::to_value(config).expect("the settings have text keys and finite numbers only");
        let at =
            |path: &str| json.pointer(&format!("/{}", path.replace('.', "/"))).cloned().unwrap_or_default();
        Self(KEYS.iter().map(|key| (key.path, at(key.path))).collect())
    }

    pub(super) fn of_key(&self, path: &str) -> &Value {
        self.0.get(path).unwrap_or(&Value::Null)
    }

    /// `value` must have passed the check of this key.
    pub(super) fn set(&mut self, path: &'static str, value: Value) {
        self.0.insert(path, value);
    }

    pub(super) fn into_config(self) -> Config {
        let mut root = Map::new();
        for (path, value) in self.0 {
            match path.split_once('.') {
                None => drop(root.insert(path.to_owned(), value)),
                Some((group, name)) => {
                    let group = root.entry(group).or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(members) = group {
                        members.insert(name.to_owned(), value);
                    }
                }
            }
        }
        serde_json::from_value(Value::Object(root))
            .expect("the check of each key admits only what its field reads")
    }
}
