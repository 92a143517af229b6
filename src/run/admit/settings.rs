//! Reads the configuration of a call and builds its sanitizer, once per call.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::refusal::{InvalidConfig, Refusal};
use crate::log;
use crate::run::blocking::blocking;
use crate::run::context::HostContext;
use agents::config::{self, Config, ConfigPaths, LoadedConfig};
use files::{layout, open};
use sanitizer::{Allowed, Sanitizer, SanitizerOptions, auth_secrets, key_secret, secret_values};
use supervisor::Cancel;

/// pi's own store of credentials, in its agent directory.
const AUTH_FILE: &str = "auth.json";
/// The largest credentials file that is read, in bytes.
const AUTH_BYTES: u64 = 1024 * 1024;
/// The maximum number of agents' credentials files that are read. Users have far fewer.
const MAX_STORES: usize = 256;
/// The time limit for reading these files on a slow file system.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for reading them after an abort. Reading usually takes a millisecond.
const AFTER_ABORT: Duration = Duration::from_millis(100);

/// The settings that one call has read. Clones share them, so all steps of the call see the same settings even if the
/// files change.
#[derive(Clone)]
pub struct CallSettings {
    /// The configuration, or the mistake in the caller's own values.
    loaded: Result<Arc<LoadedConfig>, InvalidConfig>,
    sanitizer: Arc<Sanitizer>,
}

impl CallSettings {
    /// Reads the settings of a call in a directory. Blocks.
    #[must_use]
    pub fn read(cwd: &Path, context: &HostContext) -> Self {
        let loaded = load_config(cwd, context).map(Arc::new);
        let sanitizer = Arc::new(sanitizer(loaded.as_deref().ok(), context));
        Self { loaded, sanitizer }
    }

    /// Reads the settings on a blocking thread. If the file system hangs, the configuration counts as broken after ten
    /// seconds, and the sanitizer does not know the secrets in credentials files.
    pub async fn of(cwd: &Path, context: &Arc<HostContext>) -> Self {
        let directory = cwd.to_path_buf();
        let host = Arc::clone(context);
        let reading = tokio::time::timeout(READ_TIMEOUT, blocking(move || load_config(&directory, &host)));
        let Ok(loaded) = reading.await else {
            let why = format!("the configuration takes longer than {} s to read", READ_TIMEOUT.as_secs());
            return Self::unread(why, context);
        };
        let loaded = loaded.map(Arc::new);
        let config = loaded.clone();
        let host = Arc::clone(context);
        let reading = blocking(move || sanitizer(config.as_deref().ok(), &host));
        let sanitizer = tokio::time::timeout(READ_TIMEOUT, reading).await;
        Self { loaded, sanitizer: Arc::new(sanitizer.unwrap_or_else(|_| bare_sanitizer(context))) }
    }

    /// Reads the settings until the call is cancelled. Then it waits a moment longer, because the complete sanitizer
    /// knows more secrets. Settings that are still not available count as unread, and nothing can run with them.
    pub(crate) async fn unless_cancelled(cwd: &Path, context: &Arc<HostContext>, cancel: &Cancel) -> Self {
        let abandoned = async {
            cancel.cancelled().await;
            tokio::time::sleep(AFTER_ABORT).await;
        };
        tokio::select! {
            biased;
            settings = Self::of(cwd, context) => settings,
            () = abandoned => Self::unread("the call was stopped".to_owned(), context),
        }
    }

    /// Creates settings that could not be read, with the reason.
    fn unread(why: String, context: &HostContext) -> Self {
        let loaded = LoadedConfig::unreadable(why);
        Self { loaded: Ok(Arc::new(loaded)), sanitizer: Arc::new(bare_sanitizer(context)) }
    }

    /// Returns the configuration from the files and the caller.
    ///
    /// # Errors
    ///
    /// Fails if one of the caller's own values is not valid.
    pub fn loaded(&self) -> Result<&LoadedConfig, Refusal> {
        self.loaded.as_deref().map_err(|error| error.clone().into())
    }

    /// Returns the configuration, or the defaults if the caller's own values are not valid.
    #[must_use]
    pub fn config(&self) -> Config {
        self.loaded.as_ref().map_or_else(|_| Config::default(), |loaded| loaded.config.clone())
    }

    /// Returns the sanitizer for every text of the call. It redacts text that looks like a secret, the secrets of this
    /// process, and the secrets that the configuration passes to children.
    #[must_use]
    pub fn sanitizer(&self) -> &Arc<Sanitizer> {
        &self.sanitizer
    }
}

/// Loads the configuration of a directory and adds the caller's own values. A restriction of the conversation's
/// project also applies in other directories. Blocks.
///
/// # Errors
///
/// Fails if one of the caller's own values is not valid.
pub fn load_config(cwd: &Path, context: &HostContext) -> Result<LoadedConfig, InvalidConfig> {
    let locate = |dir: &Path| ConfigPaths::locate(dir, &context.agent_dir, context.home.as_deref());
    let mut paths = locate(cwd);
    if let Some(session) = context.host.cwd.as_deref().filter(|session| *session != cwd) {
        paths = paths.and(locate(session));
    }
    let mut loaded = config::load(&paths);
    loaded.diagnostics.extend(log::notice());
    if let Some(object) = &context.config {
        loaded.config = config::overlay(&loaded.config, object).map_err(InvalidConfig)?;
    }
    Ok(loaded)
}

/// Builds the sanitizer of a call with this configuration. Blocks.
fn sanitizer(loaded: Option<&LoadedConfig>, context: &HostContext) -> Sanitizer {
    let env = loaded.iter().flat_map(|loaded| &loaded.config.env);
    let configured = env.map(|(name, value)| (name.as_str(), value.as_str()));
    let mut secrets = secret_values(inherited(context).chain(configured));
    secrets.extend(keys(context));
    for path in stores(&context.agent_dir) {
        let bytes = open::regular(&path).and_then(|file| open::read(file, AUTH_BYTES));
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        secrets.extend(text.iter().flat_map(|text| auth_secrets(text)));
    }
    let sanitize = loaded.map(|loaded| &loaded.config.sanitize);
    let options = SanitizerOptions {
        secrets,
        homes: homes(context),
        home_paths: sanitize.map(|sanitize| sanitize.home_paths).unwrap_or_default(),
        allowed: sanitize.map(|sanitize| Allowed::new(&sanitize.allow)).unwrap_or_default(),
    };
    log::also_redact(&options);
    Sanitizer::new(options)
}

/// Builds a sanitizer with the secrets that are known without reading a file.
fn bare_sanitizer(context: &HostContext) -> Sanitizer {
    Sanitizer::new(known_without_files(context))
}

fn known_without_files(context: &HostContext) -> SanitizerOptions {
    SanitizerOptions {
        secrets: secret_values(inherited(context)).into_iter().chain(keys(context)).collect(),
        homes: homes(context),
        ..SanitizerOptions::default()
    }
}

/// Turns on the log of this process if the environment says so. Only the first context counts.
pub fn start_log(context: &HostContext) {
    if let Some(filter) = context.var(log::VARIABLE) {
        log::start(&filter, &context.agent_dir, || known_without_files(context));
    }
}

fn inherited(context: &HostContext) -> impl Iterator<Item = (&str, &str)> {
    context.env.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)))
}

/// Returns the keys that the hosting pi has in memory only.
fn keys(context: &HostContext) -> impl Iterator<Item = String> {
    context.host.session_keys.iter().filter_map(|known| key_secret(&known.key))
}

fn homes(context: &HostContext) -> Vec<String> {
    context.home.iter().map(|home| home.to_string_lossy().into_owned()).collect()
}

/// Returns the paths of pi's credentials and of agents' own credentials.
fn stores(agent_dir: &Path) -> Vec<PathBuf> {
    let of_agents = std::fs::read_dir(layout::credentials(agent_dir));
    let of_agents = of_agents.into_iter().flatten().flatten().take(MAX_STORES).map(|entry| entry.path());
    let of_agents = of_agents.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    [agent_dir.join(AUTH_FILE)].into_iter().chain(of_agents).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::run::Host;
    use supervisor::CancelReason;

    /// Creates a runtime with one thread for reading files, and a clock that the test controls.
    fn runtime() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().max_blocking_threads(1).start_paused(true).build().expect("the runtime starts")
    }

    fn context() -> Arc<HostContext> {
        let secret = [("DEPLOY_TOKEN".into(), "made-up-deploy-value".into())];
        Arc::new(HostContext {
            agent_dir: "/nowhere".into(),
            home: None,
            env: secret.into(),
            config: None,
            pi_command: None,
            warden: None,
            host: Host::default(),
        })
    }

    /// Advances the clock by this limit and a little more.
    async fn pass(limit: Duration) {
        tokio::task::yield_now().await;
        tokio::time::advance(limit + Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }

    fn broken(settings: &CallSettings) -> Option<String> {
        settings
            .loaded()
            .expect("the settings are loaded from files")
            .broken
            .as_ref()
            .map(ToString::to_string)
    }

    /// Returns true if the sanitizer knows the secrets of the environment without reading files.
    fn redacts(settings: &CallSettings) -> bool {
        !settings.sanitizer().sanitize("it is made-up-deploy-value").into_string().contains("made-up")
    }

    /// A hanging file system once delayed the abort as well.
    #[test]
    fn an_abort_does_not_wait_for_a_file_that_hangs() {
        let runtime = runtime();
        let context = context();
        // Must be dropped before the runtime, which waits for that thread.
        let (go, hangs) = mpsc::channel::<()>();
        runtime.block_on(async {
            // Occupies the only thread for reading files.
            drop(tokio::task::spawn_blocking(move || hangs.recv()));
            let cancel = Cancel::new();
            cancel.cancel(CancelReason::Shutdown);
            let settings = tokio::select! {
                settings = CallSettings::unless_cancelled(Path::new("/"), &context, &cancel) => settings,
                () = pass(AFTER_ABORT) => panic!("the call still waits"),
            };
            assert!(broken(&settings).expect("the configuration is broken").contains("stopped"));
            assert!(redacts(&settings));
        });
        drop(go);
    }

    #[test]
    fn a_configuration_that_cannot_be_read_in_time_counts_as_broken() {
        let runtime = runtime();
        let context = context();
        // Must be dropped before the runtime, which waits for that thread.
        let (go, hangs) = mpsc::channel::<()>();
        runtime.block_on(async {
            drop(tokio::task::spawn_blocking(move || hangs.recv()));
            let settings = tokio::select! {
                settings = CallSettings::of(Path::new("/"), &context) => settings,
                () = pass(READ_TIMEOUT) => panic!("the call still waits"),
            };
            let broken = broken(&settings).expect("the configuration is broken");
            assert!(broken.contains("the configuration takes longer than 10 s to read"), "{broken}");
            assert!(redacts(&settings));
        });
        drop(go);
    }

    #[test]
    fn a_sanitizer_stops_waiting_for_credentials_that_hang() {
        let runtime = runtime();
        let context = context();
        let (go, hangs) = mpsc::channel::<()>();
        let (began, hanging) = mpsc::channel();
        runtime.block_on(async {
            let mut reading = std::pin::pin!(CallSettings::of(Path::new("/"), &context));
            tokio::select! {
                biased;
                _ = &mut reading => panic!("the settings were read before the credentials"),
                () = std::future::ready(()) => {}
            }
            // Runs after the configuration is read and before the credentials are.
            drop(tokio::task::spawn_blocking(move || (began.send(()), hangs.recv())));
            hanging.recv().expect("the configuration is read");
            let settings = tokio::select! {
                settings = reading => settings,
                () = pass(READ_TIMEOUT) => panic!("the call still waits"),
            };
            assert_eq!(broken(&settings), None);
            assert!(redacts(&settings));
        });
        drop(go);
    }
}
