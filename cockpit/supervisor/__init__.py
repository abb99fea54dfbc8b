"""The part that watches and acts, with no screen: one process for each state folder."""
