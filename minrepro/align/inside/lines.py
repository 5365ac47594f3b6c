"""Which lines of the user's code ran between two seams: there lies an error that only the second shows.

A trail is the user's frames around a seam, the outermost first, each with the line it stands at. From one trail to the
next the innermost frame that both have went from line to line; what was below it then returned, what is below it now
was entered.
"""

import dis
import functools
import sys


def trail(skip):
    """(code, line) of the user's frames, the outermost first.

    Args:
        skip: folders whose frames are nobody's own: the framework's and ours.
    """
    found, frame = [], sys._getframe(1)
    while frame is not None:
        if owned(frame.f_code, skip):
            found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return found[::-1]


def owned(code, skip):
    """True for the user's code."""
    return not code.co_filename.startswith((*skip, "<"))


def between(before, now):
    """[file, first, last] of every stretch of code that ran between two trails, the innermost last.

    Args:
        before: the trail of the seam before; its last line counts, because a call on it may have left work to do.
        now: the trail of this seam.
    """
    depth, stretches = 0, []
    while depth < min(len(before), len(now)) and before[depth][0] is now[depth][0]:
        if before[depth][1] != now[depth][1]:
            break
        depth += 1
    same = depth < min(len(before), len(now)) and before[depth][0] is now[depth][0]
    if same or (depth and depth == min(len(before), len(now))):  # else the same line called twice
        at = depth if same else depth - 1
        code, line = now[at]
        stretches.append([code.co_filename, *sorted((before[at][1], line))])
        depth = at + 1
    left = [[code.co_filename, line, last(code)] for code, line in before[depth:]]
    entered = [[code.co_filename, code.co_firstlineno, line] for code, line in now[depth:]]
    return [*left, *stretches, *entered]


@functools.lru_cache(None)
def last(code):
    """The last line of a function."""
    inner = [last(constant) for constant in code.co_consts if hasattr(constant, "co_code")]
    return max([line for _, line in dis.findlinestarts(code) if line] + inner)
