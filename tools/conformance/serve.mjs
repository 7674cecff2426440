// Serves the daemon's own MCP server factory over HTTP on loopback, for the conformance suite only: it speaks nothing else.
// Prints the URL, and ends when its standard input does.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hostHeaderValidation, NodeStreamableHTTPServerTransport, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import { mcpServer } from '../lib/mcp-server.mjs';

const home = mkdtempSync(path.join(tmpdir(), 'conf-'));
const sessions = path.join(home, 'sessions');
writeSession('2026-09-05T1412', 'Roadmap sync');
const build = await mcpServer({ sessions, state: path.join(home, 'mcp') });

const modern = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
/** Sessions of the older era by the id that their client sends. */
const legacy = new Map();
const hostOk = hostHeaderValidation(['127.0.0.1', 'localhost']);
const originOk = originValidation(['127.0.0.1', 'localhost']);

const server = createServer(async (req, res) => {
  if (!hostOk(req, res) || !originOk(req, res)) return;
  const body = await read(req);
  if (!(await isOlder(req, body))) return modern(req, res, body);
  const known = legacy.get(req.headers['mcp-session-id']);
  if (known !== undefined) return known.handleRequest(req, res, body);
  if (req.headers['mcp-session-id'] !== undefined) return void res.writeHead(404).end();
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void legacy.set(id, transport),
    onsessionclosed: (id) => void legacy.delete(id),
  });
  const server = build({ era: 'legacy' });
  // The product has no MCP logging; the suite of this revision asks every server for it.
  server.registerCapabilities({ logging: {} });
  await server.connect(transport);
  return transport.handleRequest(req, res, body);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.resume();
process.stdin.on('end', () => {
  rmSync(home, { recursive: true, force: true });
  process.exit(0);
});

async function read(req) {
  if (req.method !== 'POST') return undefined;
  let text = '';
  for await (const chunk of req) text += chunk;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOlder(req, body) {
  const url = `http://${req.headers.host}${req.url}`;
  const request = new Request(url, {
    method: req.method,
    headers: req.headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return isLegacyRequest(request, body);
}

function writeSession(id, name) {
  const dir = path.join(sessions, id);
  mkdirSync(dir, { recursive: true });
  const started_at = '2026-09-05T14:12:03Z';
  const file = {
    schema: 1,
    id,
    name,
    state: 'done',
    origin: 'live',
    started_at,
    ended_at: started_at,
    duration_s: 1,
    tracks: {},
    model: null,
  };
  writeFileSync(path.join(dir, 'session.json'), JSON.stringify(file));
  const line = {
    track: 'room',
    start_ms: 0,
    end_ms: 900,
    text: 'Right, shall we start?',
    confidence: null,
    language: 'en',
    samples: [0, 14400],
    model: 'm',
  };
  writeFileSync(path.join(dir, 'raw.jsonl'), `${JSON.stringify(line)}\n`);
}
