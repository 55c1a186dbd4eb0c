"""Memory for programs that speak the Model Context Protocol: three tools over HTTP."""
