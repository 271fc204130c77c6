"""Result files and the samples beside them in, what their numbers give away about how they came about out."""
