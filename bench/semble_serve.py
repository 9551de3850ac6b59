"""semble as an MCP server, or its index build, as in its command-line tool: the part of bench/run that runs in semble's interpreter.

usage: PYTHON bench/semble_serve.py serve | index DIRECTORY | check

`index` builds the index and saves it where the server would; `check` fails if the model cannot be loaded. With DOCENT_BENCH_STUB set
it runs without the model: vectors are constant and weigh nothing, so BM25 and semble's own ranking remain, as in semble_run.py.
"""

import os
import sys

os.environ.setdefault("SEMBLE_INDEX_WORKERS", "4")


def stub():
    os.environ["HF_HUB_OFFLINE"] = "1"
    import numpy
    from semble import mcp
    from semble.index import index

    class Stub:
        dim = 8

        def encode(self, texts, **_):
            vectors = numpy.zeros((len(texts), self.dim) if isinstance(texts, list) else self.dim, dtype=numpy.float32)
            vectors[..., 0] = 1
            return vectors

    index.load_model = mcp.load_model = lambda model_path=None: (Stub(), "stub")
    whole = index.SembleIndex.search
    index.SembleIndex.search = lambda self, query, **named: whole(self, query, **{**named, "alpha": 0.0})


def main():
    what = sys.argv[1]
    if what == "check":
        from semble.index.dense import load_model

        load_model()
        return
    if os.environ.get("DOCENT_BENCH_STUB"):
        stub()
    if what == "index":
        from semble.cache import save_index_to_cache
        from semble.index.index import SembleIndex

        save_index_to_cache(SembleIndex.from_path(sys.argv[2]), os.path.realpath(sys.argv[2]))
        return
    from semble import cli

    sys.argv = ["semble"]
    cli.main()


if __name__ == "__main__":
    main()
