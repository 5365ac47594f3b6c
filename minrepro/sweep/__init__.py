"""Every operator of the table on reference and candidate: what agrees, what differs, what is missing.

A sweep is a list of `plan.Item`s, evaluated in batches of one operator by `lane.Lane`s, each with a pair of workers of
its own. Answers go to a journal before they are used; divergences are confirmed alone before they are believed.
"""

from __future__ import annotations

from minrepro.sweep.plan import Item, plan
from minrepro.sweep.report import Group, groups
from minrepro.sweep.sweep import Record, Sweep

__all__ = ["Group", "Item", "Record", "Sweep", "groups", "plan"]
