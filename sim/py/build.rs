//! Tells the module which sources it is made of: a line for each file, its path from the checkout on and the SHA-256
//! of its content. The measuring package compares them with the checkout's (`python/rtoslab/targets/origin.py`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Names of our own crates start with this. The rest is the crate's folder below `sim`.
const OURS: &str = "rtoslab-";

/// Writes the list of source files with their hashes to `sources.txt`, which the module includes.
fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.join("../..").canonicalize().expect("the checkout is two folders above this crate");
    let mut files: BTreeSet<PathBuf> = ["Cargo.toml", "Cargo.lock"].map(|name| root.join(name)).into();
    for crate_folder in workspace_crate_folders(&root) {
        files.insert(crate_folder.join("Cargo.toml"));
        if crate_folder.join("build.rs").is_file() {
            files.insert(crate_folder.join("build.rs"));
        }
        println!("cargo::rerun-if-changed={}", crate_folder.join("src").display());
        add_rust_files_below(&crate_folder.join("src"), &mut files);
    }
    let mut listing = String::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let content = fs::read(file).unwrap_or_else(|cause| panic!("{} cannot be read: {cause}", file.display()));
        let name = file.strip_prefix(&root).expect("below the checkout").to_str().expect("names are ASCII");
        write!(listing, "{name} ").expect("a string takes it");
        Sha256::digest(content).iter().for_each(|byte| write!(listing, "{byte:02x}").expect("a string takes it"));
        listing.push('\n');
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("sources.txt");
    fs::write(&out, listing).unwrap_or_else(|cause| panic!("{} cannot be written: {cause}", out.display()));
}

/// Returns the folders of this crate and of the workspace's crates that it depends on, directly or not.
fn workspace_crate_folders(root: &Path) -> BTreeSet<PathBuf> {
    let mut sources = BTreeSet::new();
    let mut folders = vec![root.join("sim/py")];
    while let Some(folder) = folders.pop() {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap_or_else(|cause| panic!("{}: {cause}", manifest.display()));
        if sources.insert(folder) {
            folders.extend(workspace_dependencies(&text).map(|name| root.join("sim").join(name)));
        }
    }
    sources
}

/// Returns the workspace's crates under `[dependencies]` in the text of a Cargo.toml, as folders below `sim`.
fn workspace_dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    let own = lines.take_while(|line| !line.trim_start().starts_with('[')).filter_map(|line| line.strip_prefix(OURS));
    own.filter_map(|line| line.split(['.', ' ', '=']).next())
}

/// Adds all Rust files below a folder to `files`, but no tests (`tests/`, `tests.rs`), which are not in the module.
fn add_rust_files_below(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|cause| panic!("{}: {cause}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder that can be read").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            add_rust_files_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(path);
        }
    }
}
