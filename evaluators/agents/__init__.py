"""What an agent around a model needs: whom it talks to, what films, and a journal of what is
done."""
