"""The programs that Streamlit runs: the board, the board with its API, the rating page."""
