//! The project around a shell command. Its index is opened only for the definitions of a searched name.

use std::cell::OnceCell;
use std::path::Path;

use docent_core::access::Access;
use docent_core::path::{PathError, RepoPath};
use docent_engine::commands::{CharacterSet, ShownContent};
use docent_engine::files::Root;
use docent_engine::index::Index;
use docent_engine::symbols::StoredSymbols;
use docent_engine::walk::work_tree;

use crate::project::open_index;
use crate::settings::{Environment, Flags, Settings, ShellSettings};
use crate::tools;

/// What answers need to know of a project.
pub(crate) struct ShellProject {
    pub(crate) root: Root,
    pub(crate) shown: ShownContent,
    settings: Settings,
    index: OnceCell<Index>,
}

impl ShellProject {
    /// Opens the project around a directory: the work tree of git, or the directory itself.
    pub(crate) fn open(directory: &Path, environment: Environment<'_>) -> anyhow::Result<Self> {
        let root = work_tree(directory).unwrap_or(directory);
        let settings = resolve_settings(root, environment)?;
        let access = settings.root.access().clone();
        Ok(Self {
            root: Root::open(root, access.clone())?,
            shown: ShownContent::new(root, access)?,
            settings,
            index: OnceCell::new(),
        })
    }

    pub(crate) fn shell_settings(&self) -> ShellSettings {
        self.settings.shell
    }

    /// The symbols of the project's index as it lies on disk. `None` if there is none.
    pub(crate) fn stored_symbols(&self) -> Option<StoredSymbols<'_>> {
        let index = self.index.get_or_init(|| open_index(&self.settings).0);
        StoredSymbols::open(&self.root, index)
    }

    /// Whether the project's rules block a path inside of it. Names that no tool of docent shows are blocked.
    pub(crate) fn blocks(&self, path: &str) -> bool {
        match RepoPath::parse(path) {
            Ok(path) => !self.root.access().allows(&path),
            Err(error) => error == PathError::Control,
        }
    }
}

/// The access rules of the project at `root`, by its settings and the user's.
pub(crate) fn read_access(root: &Path, environment: Environment<'_>) -> anyhow::Result<Access> {
    Ok(resolve_settings(root, environment)?.root.access().clone())
}

fn resolve_settings(root: &Path, environment: Environment<'_>) -> anyhow::Result<Settings> {
    let flags = Flags {
        root: Some(root.to_owned()),
        set: Vec::new(),
    };
    Settings::resolve(&flags, environment, &tools::default_limits(&tools::all()))
}

/// The characters of the user's locale.
pub(crate) fn character_set(environment: Environment<'_>) -> CharacterSet {
    let values = ["LC_ALL", "LC_CTYPE", "LANG"].map(environment);
    CharacterSet::of_locale(values.each_ref().map(|value| value.as_deref()), is_installed)
}

/// Whether the system's library of locales has one of this name. Without it, programs fall back to `C`.
fn is_installed(name: &str) -> bool {
    let folder = Path::new("/usr/lib/locale");
    let folded = name.replace("UTF-8", "utf8");
    folder.join(name).is_dir()
        || folder.join(folded).is_dir()
        || folder.join("locale-archive").is_file()
        // Systems with another C library have every locale.
        || !folder.is_dir()
}
