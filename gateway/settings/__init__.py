"""config.yaml, honcho.json and .env: read strictly, changed with care, watched."""
