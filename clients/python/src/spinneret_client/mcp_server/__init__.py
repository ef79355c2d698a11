"""The MCP server, which `spinneret mcp` runs."""
