"""The Hugging Face Hub: result files come in from its repositories, publications go out to them."""
