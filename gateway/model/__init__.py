"""Values everything else speaks in: ids, events, outbound parts, turn states, errors. No I/O."""
