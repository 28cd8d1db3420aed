"""The simulated arena behind UNIVERSE."""
