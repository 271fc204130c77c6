"""Stories on the real Hub and the real GitHub, in private repositories that are deleted at their end."""
