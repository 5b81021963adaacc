"""The ids that a paper cites: a statement in its one canonical form, hashed. Begin with `statement_id`."""
