//! annexes
