//! Manifests and settings that decide what an import means: Cargo.toml, package.json, tsconfig.json,
//! Cabal files.
//!
//! Only the keys that imports depend on are read. go.mod and composer.json are read beside the language that
//! uses them.

pub(super) mod cabal;
pub(super) mod cargo;
pub(super) mod jsonc;
pub(super) mod npm;
pub(super) mod tsconfig;
pub(super) mod workspace_members;
