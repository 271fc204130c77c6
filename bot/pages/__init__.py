"""The pages of a board for readers: made as bytes by path, the same for a folder and for the server."""
