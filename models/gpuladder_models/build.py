"""The program, as the table of contents of its mathematics (see FORMULATION.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyomo.environ as pyo

from gpuladder_models.balance import (
    add_backfill,
    add_campaign_use,
    add_dedicated_supply,
    add_draws,
    add_metered_use,
    add_stable_supply,
)
from gpuladder_models.campaigns import add_elastic, add_gangs, add_spot_depth
from gpuladder_models.collector import collector_off
from gpuladder_models.objective import add_objective
from gpuladder_models.policy import (
    add_cash_budgets,
    add_exposure,
    add_ladder,
    add_policy_spot_share,
    add_provider_share,
)
from gpuladder_models.supply import add_capacity, add_orders

if TYPE_CHECKING:
    from gpuladder_models.data import ProgramData


def build_model(data: ProgramData, *, is_free: bool = False) -> pyo.ConcreteModel:
    """Return the Pyomo model of the program."""
    with collector_off(tidy_first=True):
        model = pyo.ConcreteModel("gpuladder")
        add_orders(model, data)
        add_capacity(model, data)
        add_elastic(model, data)
        add_gangs(model, data)
        add_spot_depth(model, data)
        add_campaign_use(model, data)
        add_backfill(model, data)
        add_stable_supply(model, data)
        add_draws(model, data)
        add_metered_use(model, data, is_free=is_free)
        add_dedicated_supply(model, data)
        add_ladder(model, data)
        add_policy_spot_share(model, data)
        add_provider_share(model, data)
        add_exposure(model, data)
        add_cash_budgets(model, data)
        add_objective(model, data)
    return model
