//! Why an operation of the engine could not be done, by blame.
