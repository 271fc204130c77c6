"""The platforms: sources, targets and discussions on the Hub, on GitHub and in folders. Only this writes there."""
