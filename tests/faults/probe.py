"""The half of the brute force that runs in a torch worker: which sizes does the operator take at all?

`Worker.call` loads this file in the session, so it keeps to Python 3.8 and imports nothing of minrepro.
"""


def valid(evaluator, code, variables, dtypes, arrays, shapes):
    """Run one program on zeros of many sizes.

    Args:
        evaluator: the session.
        code: the program.
        variables: names of its feeds.
        dtypes: their dtypes.
        arrays: whether each is a NumPy array and not a tensor.
        shapes: a list of candidates, each with one shape per feed.

    Returns:
        Positions of the candidates that the framework does not refuse.
    """
    import torch

    namespace = dict(evaluator.namespace)
    compiled = compile(code, "<brute>", "exec")
    kinds = [getattr(evaluator.numpy if array else torch, name) for name, array in zip(dtypes, arrays)]
    good = []
    for position, candidate in enumerate(shapes):
        for variable, shape, kind, array in zip(variables, candidate, kinds, arrays):
            namespace[variable] = (evaluator.numpy if array else torch).zeros(shape, dtype=kind)
        try:
            exec(compiled, namespace)
        except Exception:
            continue
        good.append(position)
    return good
