//! The threads that the addon sets up when it is loaded, and what runs on them.

use std::panic::catch_unwind;

use napi::bindgen_prelude::{Env, JsValue, PromiseRaw, ToNapiValue, Unknown, create_custom_tokio_runtime};

use crate::run::{self, BoxFuture};

/// These threads read children and do nothing else; two keep up with a machine full of them.
const WORKER_THREADS: usize = 2;

/// These threads wait for disks and locks. Without a bound, a few hundred runs that start together would have one each,
/// and the JavaScript thread would have to wait for a core among them.
const BLOCKING_THREADS: usize = 8;

#[napi_derive::module_init]
fn init() {
    // The default hook prints into the terminal, which belongs to pi's interface. A panic still becomes an exception.
    std::panic::set_hook(Box::new(|_| {}));
    // Building panics when no thread can be started, and nothing may unwind out of module loading: let the first call fail
    // instead of the host.
    let runtime = catch_unwind(|| {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKER_THREADS)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("subagent")
            .enable_all()
            .build()
    });
    if let Ok(Ok(runtime)) = runtime {
        create_custom_tokio_runtime(runtime);
    }
}

/// Returns a promise of the result of `work`. napi and tokio compile 6 KB for each type of future; boxed, they share one.
pub(super) fn promise<T: ToNapiValue + Send + 'static>(
    env: Env,
    work: impl Future<Output = napi::Result<T>> + Send + 'static,
) -> napi::Result<PromiseRaw<'static, T>> {
    type Convert = Box<dyn FnOnce(&Env) -> napi::Result<Unknown<'_>> + Send>;
    let work: BoxFuture<'static, napi::Result<Convert>> = Box::pin(async move {
        let value = work.await?;
        let convert: Convert = Box::new(move |env| value.into_unknown(env));
        Ok(convert)
    });
    let promise = env.spawn_future_with_callback(work, |env, convert| convert(env))?.raw();
    Ok(PromiseRaw::new(env.raw(), promise))
}

/// Runs work that keeps a core busy or waits for a disk, on a thread where it delays neither JavaScript nor a child.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> napi::Result<T> {
    run::off_thread(work).await.map_err(|error| napi::Error::from_reason(error.to_string()))
}
