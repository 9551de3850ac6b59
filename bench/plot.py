"""Small charts as SVG, for the scripts that measure: growth on logarithmic axes, bars, and values over time."""

import math

STYLE = """text{font-family:sans-serif;font-size:12px}.title{font-weight:bold;font-size:14px}
.end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#ddd}.dashes{stroke:#999;stroke-dasharray:4 4}"""


def short(value):
    step, suffix = next(((step, suffix) for step, suffix in ((1e6, "M"), (1e3, "k")) if value >= step), (1, ""))
    if value < 1:
        return f"{value:.2g}"
    return f"{value / step:.{1 if value / step < 10 else 0}f}".removesuffix(".0") + suffix


def panel(left, top, title, xs, series):
    """A chart with logarithmic axes; the dashes show linear growth."""
    every = [value for _, values in series for value in values]
    low, high = math.log10(min(every)), math.log10(max(every))
    room = max(high - low, 1) * 0.15
    low, high = low - room, max(high, low + 1) + room
    first, last = math.floor(math.log10(xs[0])), max(math.ceil(math.log10(xs[-1])), math.floor(math.log10(xs[0])) + 1)

    def x(value):
        return round(left + 20 + 300 * (math.log10(value) - first) / (last - first), 1)

    def y(value):
        return round(top + 200 - 200 * (math.log10(value) - low) / (high - low), 1)

    out = [f'<text x="{left}" y="{top - 28}" class="title">{title}</text>']
    steps = (1, 2, 5) if high - low < 2 else (1,)
    for at in (step * 10.0**power for power in range(math.floor(low), math.ceil(high)) for step in steps):
        if not low <= math.log10(at) <= high:
            continue
        out.append(f'<path d="M{left} {y(at)}h340" class="grid"/>')
        out.append(f'<text x="{left - 6}" y="{y(at) + 4}" class="end">{short(at)}</text>')
    for at in (10**power for power in range(first, last + 1)):
        out.append(f'<path d="M{x(at)} {top}v200" class="grid"/>')
        out.append(f'<text x="{x(at)}" y="{top + 216}" class="mid">{short(at)}</text>')
    begin = min(values[0] for _, values in series)
    end = min(xs[-1], xs[0] * 10**high / begin)
    out.append(f'<path d="M{x(xs[0])} {y(begin)}L{x(end)} {y(begin * end / xs[0])}" class="dashes"/>')
    for number, ((name, values), colour) in enumerate(zip(series, ("#1f5fa8", "#c2571a"))):
        other = series[1 - number][1]
        out.append(f'<circle cx="{left + 5 + 150 * number}" cy="{top - 14}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{left + 14 + 150 * number}" y="{top - 10}">{name}</text>')
        line = " ".join(f"{x(size)},{y(value)}" for size, value in zip(xs, values))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for size, value, beside in zip(xs, values, other):
            shift = -8 if (value, -number) > (beside, number - 1) else 17
            out.append(f'<circle cx="{x(size)}" cy="{y(value)}" r="3.5" fill="{colour}"/>')
            out.append(f'<text x="{x(size)}" y="{y(value) + shift}" class="mid" fill="{colour}">{short(value)}</text>')
    return out


def plot(xs, panels, note):
    """Charts, two in a row. A panel is a title and two series, each a name and one value for each of `xs`."""
    height = 290 * ((len(panels) + 1) // 2) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}"><style>{STYLE}</style>']
    out.append(f'<rect width="860" height="{height}" fill="white"/>')
    for number, (title, *series) in enumerate(panels):
        out += panel(60 + 430 * (number % 2), 60 + 290 * (number // 2), title, xs, series)
    out.append(f'<text x="60" y="{height - 20}">{note}</text></svg>')
    return "\n".join(out) + "\n"


def bars(panels, note):
    """Bars on linear axes. A panel is a title, a unit and rows; a row is a name, a value, and its range."""
    height = 50 + sum(46 + 26 * len(rows) for _, _, rows in panels)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}"><style>{STYLE}</style>']
    out.append(f'<rect width="860" height="{height}" fill="white"/>')
    top = 30
    for title, unit, rows in panels:
        out.append(f'<text x="20" y="{top}" class="title">{title}, {unit}</text>')
        most = max(high for _, _, _, high in rows)
        for number, (name, value, low, high) in enumerate(rows):
            y = top + 14 + 26 * number
            width, first, last = (round(520 * length / most, 1) for length in (value, low, high))
            colour = "#1f5fa8" if name.startswith("docent") else "#c2571a"
            out.append(f'<text x="190" y="{y + 13}" class="end">{name}</text>')
            out.append(f'<rect x="200" y="{y}" width="{max(width, 1)}" height="18" fill="{colour}"/>')
            out.append(f'<path d="M{200 + first} {y + 9}H{200 + last}" stroke="#222"/>')
            out.append(f'<text x="{208 + last}" y="{y + 13}">{short(value)}</text>')
        top += 46 + 26 * len(rows)
    out.append(f'<text x="20" y="{height - 12}">{note}</text></svg>')
    return "\n".join(out) + "\n"


def timelines(panels):
    """Values over time on linear axes from zero. A panel is a title and series; a series is a name and pairs of minute and value."""
    height = 260 * len(panels) + 40
    colours = ("#1f5fa8", "#c2571a", "#2f7d32", "#7b3fa0", "#00838f")
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 {height}"><style>{STYLE}</style>']
    out.append(f'<rect width="860" height="{height}" fill="white"/>')
    for number, (title, series) in enumerate(panels):
        top = 50 + 260 * number
        most = max((value for _, points in series for _, value in points), default=1) * 1.1 or 1
        last = max((minute for _, points in series for minute, _ in points), default=1) or 1
        out.append(f'<text x="60" y="{top - 24}" class="title">{title}</text>')
        for share in (0, 0.25, 0.5, 0.75, 1):
            y = round(top + 180 * (1 - share), 1)
            out.append(f'<path d="M60 {y}h740" class="grid"/><text x="54" y="{y + 4}" class="end">{short(most * share)}</text>')
            out.append(f'<text x="{60 + 740 * share}" y="{top + 198}" class="mid">{last * share:.0f} min</text>')
        for place, ((name, points), colour) in enumerate(zip(series, colours)):
            line = " ".join(f"{60 + 740 * minute / last:.1f},{top + 180 * (1 - value / most):.1f}" for minute, value in points)
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
            out.append(f'<circle cx="{205 + 120 * place}" cy="{top - 28}" r="4" fill="{colour}"/>')
            out.append(f'<text x="{214 + 120 * place}" y="{top - 24}">{name}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"
