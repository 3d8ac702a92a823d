//! Compares what the source says should be in the table with what is there.
