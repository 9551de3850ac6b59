"""docent beside peers from registries: the parts of `bench/run`.

- `registry.py`: the peers, their versions, and how they are installed
- `usage.py`, `tool.py`: processes with their CPU time and memory; MCP servers whose processes are found again
- `bench.py`: one run with its options, environment, clones and records
- `measures/`: one module for each measure: how it measures, its description, its tables
- `figures.py`, `report.py`: medians, ratios and tables; the page and the plots
"""
