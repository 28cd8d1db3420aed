"""The seven policies in the robot simulator: real runs, second runs, and worlds that know too
little."""
