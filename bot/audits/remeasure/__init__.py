"""Another run of a random part of a row's questions: which are drawn, and whether its answers agree with the row's."""
