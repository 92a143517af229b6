//! Links the addon for Node when the `node` feature is on.

fn main() {
    // Otherwise cargo looks at every file of the package, also at those that other steps are just making and removing.
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "node")]
    napi_build::setup();
}
