"""The simulated table-bussing bench behind SC3-Eval."""
