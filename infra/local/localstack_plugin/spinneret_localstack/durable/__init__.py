"""Data that outlive LocalStack's process and its CloudFormation stacks."""
