//! `dynafold init`: a starter mapping.
