"""Reading, checking and scoring of evaluation results; pure functions of bytes and declarations."""
