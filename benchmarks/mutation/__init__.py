"""Mutation testing of the conditions of all DynamoDB writes."""
