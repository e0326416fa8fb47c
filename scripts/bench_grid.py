"""A table of figures, for one GPU or for several side by side, as Markdown.

SPDX-License-Identifier: MIT
"""

MOST_COLUMNS = 8  # of figures, side by side; wider tables have a row for each GPU


class Grid:
    """Rows of text: first what they are about, then the figures."""

    def __init__(self, keys, values):
        self.keys = keys
        self.values = values
        self.rows = {}

    def add(self, keys, values):
        """Rows without any figure are left out."""
        if any(values):
            self.rows[tuple(keys)] = list(values)


def line(cells):
    return f"| {' | '.join(cells)} |"


def in_order(grids):
    """The keys of all grids: those of the first in its order, then what only others have."""
    return list(dict.fromkeys(key for grid in grids for key in grid.rows))


def used(grids):
    """Which columns of figures have any."""
    return [i for i in range(len(grids[0].values)) if any(row[i] for grid in grids for row in grid.rows.values())]


def markdown(grids):
    """The lines of the table of {label of a GPU: grid}; none where no grid has rows."""
    grids = {gpu: grid for gpu, grid in grids.items() if grid.rows}
    if not grids:
        return []
    first, columns = next(iter(grids.values())), used(list(grids.values()))
    beside = len(columns) * len(grids) <= MOST_COLUMNS
    head = list(first.keys)
    if len(grids) == 1:
        head += [first.values[i] for i in columns]
    elif beside:
        head += [f"{first.values[i]}{', ' if first.values[i] else ''}{gpu}" for i in columns for gpu in grids]
    else:
        head += ["GPU"] + [first.values[i] for i in columns]
    lines = [line(head), "|" + "---|" * len(head)]
    for key in in_order(grids.values()):
        if len(grids) == 1 or beside:
            lines.append(line([*key, *(grid.rows[key][i] if key in grid.rows else "" for i in columns
                                       for grid in grids.values())]))
        else:
            lines += [line([*key, gpu, *(grid.rows[key][i] for i in columns)])
                      for gpu, grid in grids.items() if key in grid.rows]
    return lines
