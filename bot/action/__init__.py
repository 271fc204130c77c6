"""The GitHub Action's side: a runner's environment in; annotations, step summary, outputs and an exit status out."""
