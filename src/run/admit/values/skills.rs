//! Finds the skills that a child sees.

use crate::run::context::Host;
use agents::Skills;
use sanitizer::{nearest, quoted, suggestion};

/// The skills that a child sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SkillFiles {
    /// All skills that pi finds.
    All,
    /// Only these files. An empty list means no skills.
    Only(Vec<String>),
}

impl SkillFiles {
    /// Returns the files of the requested skills, and messages about skills that the host does not have.
    pub(crate) fn of(skills: &Skills, host: &Host) -> (Self, Vec<String>) {
        let names = match skills {
            Skills::All(true) => return (Self::All, Vec::new()),
            Skills::All(false) => return (Self::Only(Vec::new()), Vec::new()),
            Skills::Named(names) => names,
        };
        let Some(known) = &host.skills else {
            let missing = (!names.is_empty())
                .then(|| "skills: this pi has not reported its skills, so none are loaded".to_owned());
            return (Self::Only(Vec::new()), missing.into_iter().collect());
        };
        let mut files = Vec::new();
        let mut missing = Vec::new();
        for name in names {
            if let Some(skill) = known.iter().find(|skill| skill.name == *name) {
                files.push(skill.path.clone());
            } else {
                let near = suggestion(nearest(name, known.iter().map(|skill| skill.name.as_str())));
                missing.push(format!("skills: this pi has none named {}{near}", quoted(name)));
            }
        }
        (Self::Only(files), missing)
    }
}
