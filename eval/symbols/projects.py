"""The projects that are measured: language, half, and the settings of the tool that gives the truth.

`tuned` projects may be read while docent is developed. `held out` projects are only measured.
"""

import collections

Project = collections.namedtuple("Project", "name repository language half settings")

TUNED, HELD_OUT = "tuned", "held out"

# `include`: the folders that the truth covers. `options`: compiler options beyond the common ones.
PROJECTS = [
    Project("zod", "colinhacks/zod", "TypeScript", TUNED, {
        "include": ["packages"], "options": {"customConditions": ["@zod/source"]},
        # Packages of the same repository that import it by its name.
        "paths": {"zod": ["packages/zod/src/index.ts"], "zod/*": ["packages/zod/src/*"]},
    }),
    Project("trpc", "trpc/trpc", "TypeScript", HELD_OUT, {
        "include": ["packages", "examples"], "options": {"jsx": "react-jsx", "noUncheckedIndexedAccess": True},
        "paths": {
            f"@trpc/{name}{end}": [f"packages/{name}/src{end}"]
            for name in ("client", "next", "react-query", "openapi", "server", "tanstack-react-query")
            for end in ("", "/*")
        },
    }),
    Project("hono", "honojs/hono", "TypeScript", TUNED, {
        "include": ["src", "runtime-tests", "benchmarks"],
        "options": {"jsx": "react-jsx", "jsxImportSource": "hono/jsx"},
        "paths": {"hono/jsx/jsx-runtime": ["src/jsx/jsx-runtime.ts"], "hono/jsx": ["src/jsx/index.ts"]},
    }),
    Project("click", "pallets/click", "Python", TUNED, {}),
    Project("django", "django/django", "Python", TUNED, {"include": ["django", "tests"]}),
    Project("flask", "pallets/flask", "Python", HELD_OUT, {}),
    Project("httpx", "encode/httpx", "Python", HELD_OUT, {}),
    Project("cobra", "spf13/cobra", "Go", TUNED, {}),
    Project("chi", "go-chi/chi", "Go", TUNED, {}),
    Project("apimachinery", "kubernetes/kubernetes", "Go", TUNED, {"folder": "staging/src/k8s.io/apimachinery"}),
    Project("gin", "gin-gonic/gin", "Go", HELD_OUT, {}),
    Project("gitleaks", "gitleaks/gitleaks", "Go", HELD_OUT, {}),
    # `sources` and `flags`: the translation units and their flags, as far as they are needed to resolve names.
    Project("jq", "jqlang/jq", "C", TUNED, {
        "sources": ["src/*.c"],
        "flags": ["-Isrc", "-Ivendor", "-D_GNU_SOURCE", "-DIEEE_8087", "-DHAVE_PTHREAD", "-DHAVE_PTHREAD_KEY_CREATE"],
    }),
    Project("redis", "redis/redis", "C", TUNED, {
        "sources": ["src/*.c"], "without": ["src/modules/*"],
        "flags": ["-Isrc", "-Ideps/hiredis", "-Ideps/linenoise", "-Ideps/lua/src", "-Ideps/hdr_histogram", "-Ideps/fpconv", "-Ideps"],
    }),
    Project("libuv", "libuv/libuv", "C", HELD_OUT, {
        "sources": ["src/*.c", "test/*.c"],
        "without": ["src/win/*", "*aix*", "*ibmi*", "*os390*", "*sunos*", "*darwin*", "*bsd*", "*qnx*", "*haiku*"],
        "flags": ["-Iinclude", "-Isrc", "-D_GNU_SOURCE"],
    }),
]

BY_NAME = {project.name: project for project in PROJECTS}
EXTENSIONS = {
    "TypeScript": (".ts", ".tsx", ".mts", ".cts"),
    "Python": (".py",),
    "Go": (".go",),
    "C": (".c", ".h"),
}
