"""The conditions of all DynamoDB writes, and the tests run with one of them taken out."""
