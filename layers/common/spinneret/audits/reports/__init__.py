"""Reports of an audit. Each is rendered piece by piece: no file is ever whole in memory."""
