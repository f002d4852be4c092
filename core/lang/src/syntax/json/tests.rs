//! Files in JSON, and what is made of them.
