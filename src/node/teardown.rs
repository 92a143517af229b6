//! The end of a JavaScript thread, which is the end of the runs it started.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use napi::bindgen_prelude::{Env, FnArgs, Function, JsObjectValue, Object, Unknown, block_on};
use parking_lot::Mutex;

use crate::orchestrate::{background, end_spares};
use supervisor::{Cancel, CancelReason};

/// Ends a run that no one can hear of any more.
pub(super) struct EndOnDrop(pub(super) Cancel);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.cancel(CancelReason::Dropped);
    }
}

/// The runs of one thread. Ended runs are dropped when the next one starts.
type Runs = Arc<Mutex<Vec<Weak<EndOnDrop>>>>;

/// The arguments of `process.on`.
type ExitListener<'env> = FnArgs<(&'static str, Function<'env, (), ()>)>;

thread_local! {
    static RUNS: RefCell<Option<Runs>> = const { RefCell::new(None) };
    /// Cancels the background runs of this thread.
    static BACKGROUND: RefCell<Option<Arc<EndOnDrop>>> = const { RefCell::new(None) };
}

/// Returns the token that is cancelled when this JavaScript thread ends, for runs without a handle.
pub(super) fn cancel_of_thread(env: Env) -> napi::Result<Cancel> {
    BACKGROUND.with_borrow_mut(|known| {
        if let Some(guard) = known {
            return Ok(guard.0.clone());
        }
        let guard = Arc::new(EndOnDrop(Cancel::new()));
        end_with_thread(env, &guard)?;
        *known = Some(Arc::clone(&guard));
        Ok(guard.0.clone())
    })
}

/// Ends the run when the JavaScript thread that started it ends: its pending promise would keep it alive, and no code
/// would receive the result.
///
/// Two hooks, because Node runs neither at every end: its `exit` event comes before `process.exit` and after an
/// uncaught error, the cleanup hook when a worker is terminated. A host killed by a signal runs neither.
pub(super) fn end_with_thread(env: Env, run: &Arc<EndOnDrop>) -> napi::Result<()> {
    let runs = RUNS.with_borrow_mut(|known| {
        if let Some(runs) = known {
            return Ok(Arc::clone(runs));
        }
        let runs = Runs::default();
        env.add_env_cleanup_hook(Arc::clone(&runs), |runs| end_all(&runs))?;
        on_exit(env, Arc::clone(&runs))?;
        *known = Some(Arc::clone(&runs));
        Ok::<_, napi::Error>(runs)
    })?;
    let mut runs = runs.lock();
    runs.retain(|run| run.strong_count() > 0);
    runs.push(Arc::downgrade(run));
    Ok(())
}

fn end_all(runs: &Runs) {
    let live = runs.lock();
    live.iter().filter_map(Weak::upgrade).for_each(|run| run.0.cancel(CancelReason::Shutdown));
    // The call takes effect now. Its future only waits.
    drop(end_spares());
}

fn on_exit(env: Env, runs: Runs) -> napi::Result<()> {
    let process: Object = env.get_global()?.get_named_property("process")?;
    let on: Function<ExitListener, Unknown> = process.get_named_property("on")?;
    let listener = env.create_function_from_closure::<(), (), _>("endSubagents", move |_| {
        end_all(&runs);
        block_on(end_spares());
        // pi exits like this when its terminal is closed. Wait until the partial answers of background runs are stored.
        if BACKGROUND.with_borrow(Option::is_some) {
            block_on(background::ended());
        }
        Ok(())
    })?;
    on.apply(process, FnArgs::from(("exit", listener)))?;
    Ok(())
}
