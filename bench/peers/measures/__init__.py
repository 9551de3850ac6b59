"""The measures of `bench/run`, in the order of the page.

Each module has `ABOUT`, the text above its tables; `measure(bench)`, which adds records; and `tables(bench)`, which yields a title and
a table for each repository that was measured.
"""

from . import git, grep, index, memory, quality, read, search, start

MEASURES = {"start": start, "index": index, "search": search, "grep": grep, "git": git, "read": read, "memory": memory, "quality": quality}
