"""Stage 3: an image on a target gives the raw byte stream of the serial port and, on a virtual board, probe events."""
