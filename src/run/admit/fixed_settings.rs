//! The settings of a run that no agent and no call overrides. All other settings are fields of [`ResolvedRun`].

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::resolve::ResolvedRun;
use crate::run::context::HostContext;
use crate::run::sandbox::WriteScope;
use crate::run::sandbox::hidden::{configured, hidden};
use crate::run::spec::RunSpec;
use agents::config::{AnnounceMode, Check, Config, EarlyBoot, Limits, OutputLimits, Quota, Retry, Spare};

impl ResolvedRun {
    /// Returns the configuration that the run was resolved with. Only for rooms that also work without a run: git in a
    /// work tree, the store of snapshots, and the conversation that lists and announces the run.
    pub(crate) fn base_config(&self) -> &Config {
        &self.config
    }

    /// Returns the paths that the child does not see. Blocks.
    pub(crate) fn hidden_paths(&self, context: &HostContext) -> Vec<PathBuf> {
        hidden(&self.config, context)
    }

    /// Returns those of the hidden paths that the configuration names. Blocks.
    pub(crate) fn configured_hidden_paths(&self, context: &HostContext) -> Vec<PathBuf> {
        configured(&self.config, context)
    }

    /// Returns the limits on the text of the result.
    pub(super) fn output(&self) -> &OutputLimits {
        &self.config.output
    }

    /// Returns the limit on silence while a tool runs.
    pub(crate) fn tool_timeout(&self) -> Option<Duration> {
        self.config.tool_timeout
    }

    /// Returns the time between the polite end of a child and its kill.
    pub(crate) fn grace(&self) -> Duration {
        self.config.grace
    }

    /// Returns the limits of the check of the child's work.
    pub(crate) fn check_limits(&self) -> Check {
        self.config.check
    }

    /// Returns the policy for another attempt.
    pub(crate) fn retry(&self) -> &Retry {
        &self.config.retry
    }

    /// Returns the policy for the wait for a provider's quota.
    pub(crate) fn quota(&self) -> &Quota {
        &self.config.quota
    }

    /// Returns the maximum cost of the session, in USD.
    pub(crate) fn max_session_cost(&self) -> Option<f64> {
        self.config.session_budget.max_cost
    }

    /// Returns the ignored paths that a private tree gets a copy of.
    pub(crate) fn copied_paths(&self) -> &[String] {
        &self.config.isolation.copy
    }

    /// Returns the configured command that prepares a private tree. [`Self::setup`] is the one of this run.
    pub(crate) fn configured_setup(&self) -> Option<&str> {
        self.config.isolation.setup.as_deref()
    }

    /// Returns the time limit of the command that prepares a private tree.
    pub(crate) fn setup_timeout(&self) -> Duration {
        self.config.isolation.setup_timeout
    }

    /// Returns the time at which the child is asked for an announcement, if the run is announced.
    pub(crate) fn announce_mode(&self) -> Option<AnnounceMode> {
        self.announces.then_some(self.config.announce.mode)
    }

    /// Returns the command that starts pi, if it is configured.
    pub(crate) fn pi_command(&self) -> Option<&[String]> {
        self.config.pi_command.as_deref()
    }

    /// Returns true if the child's session is kept in a file of this machine.
    pub(crate) fn keeps_session(&self) -> bool {
        self.config.persist_session && self.launcher.keeps_session()
    }

    /// Returns the environment variables to set for the child.
    pub(crate) fn env(&self) -> &BTreeMap<String, String> {
        &self.config.env
    }

    /// Returns the patterns of secret variables that the child's shell keeps.
    pub(crate) fn kept_variables(&self) -> &[String] {
        &self.config.sandbox.env
    }

    /// Returns true if the child may use language servers, and the actions that it may use.
    pub(crate) fn lsp_actions(&self) -> (bool, &[String]) {
        (self.config.allow_lsp_tools, &self.config.allowed_lsp_actions)
    }

    /// Returns the limits on the resources of the child's processes.
    pub(crate) fn resource_limits(&self) -> Limits {
        self.config.limits
    }

    /// Returns the number of children that wait for a call, and the time that each waits.
    pub(crate) fn spare(&self) -> Spare {
        self.config.spare
    }

    /// Returns the condition for booting a child before its call has arrived.
    pub(crate) fn early_boot(&self) -> EarlyBoot {
        self.config.early_boot
    }

    /// Returns the limits of concurrent children: of this process, above it while they wait for a slot, of one call, and of all
    /// processes of the user.
    pub(crate) fn concurrency(&self) -> Concurrency {
        Concurrency {
            process: self.config.max_concurrent,
            ahead: self.config.boot_ahead,
            call: self.config.parallel_concurrency,
            user: self.config.max_concurrent_per_user,
        }
    }

    /// Returns the tree whose changed files a person should check. A child that may write everywhere is also watched in
    /// its tree, unless the tree is more than a project. Blocks.
    pub(crate) fn watched_scope(&self, spec: &RunSpec) -> Option<WriteScope> {
        let of_tree = || WriteScope::of(&self.config, &spec.context, &spec.cwd).ok().map(|(scope, _)| scope);
        self.scope.clone().or_else(of_tree)
    }
}

/// The limits of concurrent children.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Concurrency {
    pub process: usize,
    pub ahead: usize,
    pub call: usize,
    pub user: usize,
}
