//! Says whether native code is written for this host: `cfg(native_code)`.

/// Sets `native_code` if the feature `native` is on and the build is for x86-64.
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(native_code)");
    let is_wanted = std::env::var_os("CARGO_FEATURE_NATIVE").is_some();
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if is_wanted && arch == "x86_64" {
        println!("cargo::rustc-cfg=native_code");
    }
}
