"""A tray, four bins and a robot arm in robosuite on MuJoCo: the table behind SC3-Eval."""
