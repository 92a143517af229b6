//! The end of a JavaScript thread, which is the end of the runs it started.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use napi::bindgen_prelude::Env;

use super::handle::EndOnDrop;
use crate::process::CancelReason;

/// The runs of one thread. Those that have ended are dropped when the next one starts.
type Runs = Arc<Mutex<Vec<Weak<EndOnDrop>>>>;

thread_local! {
    static RUNS: RefCell<Option<Runs>> = const { RefCell::new(None) };
}

/// Ends the run when the JavaScript thread that started it ends: a promise that is pending then would keep it alive and
/// could never be heard. Node runs this on a natural exit and when a worker is terminated, not on `process.exit`.
pub(super) fn end_with_thread(env: Env, run: &Arc<EndOnDrop>) -> napi::Result<()> {
    let runs = RUNS.with_borrow_mut(|known| {
        if let Some(runs) = known {
            return Ok(Arc::clone(runs));
        }
        let runs = Runs::default();
        env.add_env_cleanup_hook(Arc::clone(&runs), |runs| {
            let live = runs.lock().unwrap_or_else(PoisonError::into_inner);
            live.iter().filter_map(Weak::upgrade).for_each(|run| run.0.cancel(CancelReason::Shutdown));
        })?;
        *known = Some(Arc::clone(&runs));
        Ok::<_, napi::Error>(runs)
    })?;
    let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
    runs.retain(|run| run.strong_count() > 0);
    runs.push(Arc::downgrade(run));
    Ok(())
}
