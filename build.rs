//! Links the addon for Node when the `node` feature is on.

fn main() {
    #[cfg(feature = "node")]
    napi_build::setup();
}
