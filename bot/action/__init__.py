"""The GitHub Action: inputs, annotations, step summary and outputs of one run."""
