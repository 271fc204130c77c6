"""The spine of the service: one watch in, its targets brought to the state that its source implies."""

from bot.settle.spine import Desk, Outcome, settle

__all__ = ["Desk", "Outcome", "settle"]
