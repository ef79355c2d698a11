"""Commands of the operator that reach all data of a tenant."""
