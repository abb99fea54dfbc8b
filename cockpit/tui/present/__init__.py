"""Pure: what is known of the fleet, turned into rows, words and numbers. No Textual, no clock."""
