"""What the M0+ parts remember of time, against executing it anew."""
