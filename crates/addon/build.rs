//! Links the addon as Node expects it.

fn main() {
    // Otherwise cargo watches every file of the package, including files that other steps create and remove at the moment.
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "node")]
    napi_build::setup();
}
