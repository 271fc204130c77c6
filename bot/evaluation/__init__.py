"""Read, check and score evaluation results: pure functions of bytes and declarations."""
