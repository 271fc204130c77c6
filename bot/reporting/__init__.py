"""What the bot shows a person or another program: findings, scores and audits in, text out."""
