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
    Project("httpx", "encode/httpx", "Python", HELD_OUT, {}),
    Project("cobra", "spf13/cobra", "Go", TUNED, {}),
    Project("chi", "go-chi/chi", "Go", TUNED, {}),
    Project("gitleaks", "gitleaks/gitleaks", "Go", HELD_OUT, {}),
]

BY_NAME = {project.name: project for project in PROJECTS}
EXTENSIONS = {
    "TypeScript": (".ts", ".tsx", ".mts", ".cts"),
    "Python": (".py",),
    "Go": (".go",),
    "C": (".c", ".h"),
}
