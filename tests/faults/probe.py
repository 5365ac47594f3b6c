"""The half of the brute force that runs in a torch worker: which sizes does the operator take at all?

`Worker.call` loads this file in the session, so it keeps to Python 3.8 and imports nothing of minrepro.
"""


def valid(evaluator, code, variables, dtypes, shapes):
    """Run one program on zeros of many sizes.

    Args:
        evaluator: the session.
        code: the program.
        variables: names of its feeds.
        dtypes: their dtypes.
        shapes: a list of candidates, each with one shape per feed.

    Returns:
        Positions of the candidates that the framework does not refuse.
    """
    import torch

    namespace = dict(evaluator.namespace)
    compiled = compile(code, "<brute>", "exec")
    kinds = [getattr(torch, name) for name in dtypes]
    good = []
    for position, candidate in enumerate(shapes):
        for variable, shape, kind in zip(variables, candidate, kinds):
            namespace[variable] = torch.zeros(shape, dtype=kind)
        try:
            exec(compiled, namespace)
        except Exception:
            continue
        good.append(position)
    return good
