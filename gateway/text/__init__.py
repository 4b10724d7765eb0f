"""Pure text work: Markdown to ranges, splitting, cleaning, the catalogue of texts."""
