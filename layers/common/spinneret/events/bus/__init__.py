"""The bus on which other systems of the account hear domain events."""
