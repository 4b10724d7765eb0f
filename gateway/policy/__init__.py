"""Pure decisions: values in, a frozen decision with its reason out. No I/O, no clock."""
