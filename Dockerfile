# The service as a Docker Space or anywhere else: user 1000, port 7860, settings in /app/bot.toml.
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 user
WORKDIR /app
COPY --chown=user pyproject.toml README.md LICENSE bot.example.toml ./
COPY --chown=user bot ./bot
RUN pip install --no-cache-dir '.[server]'
COPY --chown=user bot.toml ./
USER user
ENV HF_HUB_DISABLE_TELEMETRY=1 LEADERBOARD_BOT_CONFIG=/app/bot.toml DATABASE_URL=sqlite:////home/user/bot.db
EXPOSE 7860
CMD ["leaderboard-bot", "serve", "--host", "0.0.0.0", "--port", "7860"]
