// The daemon's MCP server on plain stdio, without shim and socket: what `mcp.mjs` compares with.
//   node tools/bench/mcp-stdio.mjs SESSIONS STATE
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { mcpServer } from '../lib/mcp-server.mjs';

const [sessions, state] = process.argv.slice(2);
serveStdio(await mcpServer({ sessions, state }));
