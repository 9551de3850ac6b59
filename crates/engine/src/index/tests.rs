//! An index as a whole, with tables made for the purpose.

use docent_core::access::Access;
use docent_core::text::tokens::ParsedQuery;

use super::*;
use crate::clock::Clock;
use crate::embed::Vector;

/// A table of which every text points the same way.
#[derive(Debug)]
struct Pointing(&'static str, usize);

impl Embedder for Pointing {
    fn name(&self) -> &str {
        self.0
    }

    fn embed(&self, _: &str) -> Option<Vector> {
        let mut numbers = [0; crate::embed::DIMENSIONS];
        numbers[self.1] = 127;
        Some(Vector(numbers))
    }

    fn knows(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn an_index_of_one_table_is_not_searched_with_vectors_of_another() {
    static TABLES: [Pointing; 2] = [Pointing("one", 0), Pointing("other", 1)];
    let project = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("a.py"), "def walrus():\n    return 1\n").unwrap();
    for table in &TABLES {
        let root = Root::open(project.path(), Access::new([]).unwrap()).unwrap();
        let folder = Some(cache.path().join("projects/a"));
        let accesses = Arc::new(Accesses::new(None, Clock::System));
        let options = IndexOptions {
            embedder: table,
            ..IndexOptions::default()
        };
        let index = Index::new(root, folder, accesses, options);
        let freshness = index.freshen(Corpus::Code, Patience::UntilDone, &Deadline::default(), &|_| {});
        assert_eq!((freshness.files, freshness.pending), (1, 0));
        let wanted = ChunkQuery {
            words: &ParsedQuery::of("walrus").words,
            names: &[],
            kinds: &[],
            module: None,
            vector: index.embedder().embed("walrus"),
            limit: 5,
        };
        let found = index.find_chunks(&wanted).unwrap();
        // Vectors of two tables would be at right angles.
        assert_eq!(found.len(), 1);
        assert!(found[0].similarity > 0.99, "{}", found[0].similarity);
    }
    #[expect(clippy::disallowed_methods, reason = "a folder of the cache")]
    let folders = std::fs::read_dir(cache.path().join("projects/a")).unwrap();
    assert_eq!(folders.count(), 2);
}
