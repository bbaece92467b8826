"""The conformance suite: configuration, selection, the case runner and the verdict.

``cases/``: cases as data; ``steps/``: how they are played; ``probing/``: the kind of a component, and what it takes;
``runner/``: one case, a whole run; ``verdict/``: known failures, causes, repeats, refusals; ``hosts/``: host cases.
``checking`` is ``mlcheck run``, ``matrix_run`` is ``mlcheck matrix``.
"""
