"""What a reader takes in at a glance: headline figures of a board, a picture a row, its trust."""
