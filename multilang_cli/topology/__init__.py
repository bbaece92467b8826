"""Whole topologies on one machine: Flux files, groupings, the local engine with its ackers, faults, checkers.

``flux/`` reads Storm's files, ``standins/`` are components for its Java classes, ``validation`` has Storm's rules;
``planning`` and ``risks``: what is not guaranteed. ``engine/`` runs one: ``flow`` and ``spout_executor`` decide (pure),
``engine`` carries, ``sides`` play Storm to each task. ``history``: what happened; ``faults/``: what goes wrong on
purpose, and which plan is tried next; ``checkers/``: what must hold of a history (pure); ``blame``: why a root was not
acked; ``queue/``: a source that loses nothing; ``java/``: Java components; ``streamparse/``: its projects;
``console/``: the commands.
"""
