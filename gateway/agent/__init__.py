"""The model that answers: which one, how it is asked, and the local one."""
