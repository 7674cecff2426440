/**
 * What shim and socket add to an MCP call, and what clients that wait cost.
 *
 *   node tools/bench/mcp.mjs [--calls 280] [--waiting 50] [--json] [--out FILE]
 *
 * Round trips of `status` through the shim to the daemon, in turn with the same server on plain stdio; then the daemon's CPU
 * time while so many clients long-poll. Exits 1 when the median is more than 3 ms above, or waiting costs over 1 % of a core.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AmbientClient } from '../../packages/client/dist/index.js';
import { freshHome } from '../lib/ambient.mjs';

const ADDED_LIMIT_MS = 3;
const WAITING_LIMIT = 0.01;
/** Clock ticks a second in /proc. */
const TICKS = 100;
const WARM_UP = 10;
const root = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '280' },
    waiting: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

/** A program that speaks newline-delimited JSON-RPC. */
class Peer {
  #child;
  #waiting = new Map();
  #buffered = '';

  constructor(args, env) {
    this.#child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout.on('data', (chunk) => {
      this.#buffered += chunk;
      const lines = this.#buffered.split('\n');
      this.#buffered = lines.pop();
      for (const line of lines) {
        const message = JSON.parse(line);
        this.#waiting.get(message.id)?.(message);
        this.#waiting.delete(message.id);
      }
    });
  }

  ask(id, method, params = {}) {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  async call(id, name, args = {}) {
    const { result } = await this.ask(id, 'tools/call', { name, arguments: args });
    if (result?.isError !== false) throw new Error(`${name}: ${result?.content?.[0]?.text}`);
    return result.structuredContent;
  }

  end() {
    this.#child.kill();
  }
}

const state = mkdtempSync(path.join(tmpdir(), 'bench-'));
const ambient = freshHome();
const peers = [];
try {
  await ambient.ctl('daemon', 'start');
  const control = new AmbientClient(path.join(ambient.home, 'run/control.sock'));
  const { pid } = await control.call('status', {});
  await control.call('mcpEnable', { body: {} });
  const { token } = await control.call('mcpCreate', { body: { name: 'bench', access: 'trusted' } });
  const env = { HOME: ambient.home, PATH: process.env.PATH, AMBIENT_HOME: ambient.home, AMBIENT_MCP_TOKEN: token };
  const join = (args) => {
    const peer = new Peer(args, env);
    peers.push(peer);
    return peer;
  };
  const shim = path.join(root, 'packages/mcp-shim/bin/ambient-mcp.js');
  const pair = [join([shim]), join([path.join(root, 'tools/bench/mcp-stdio.mjs'), path.join(ambient.home, 'sessions'), state])];
  const times = [[], []];
  for (let i = 0; i < Number(values.calls); i++)
    for (const [which, peer] of pair.entries()) {
      const began = performance.now();
      await peer.call(i, 'status');
      if (i >= WARM_UP) times[which].push(performance.now() - began);
    }
  const [through, plain] = times.map(median);

  const files = path.join(root, 'test/fixtures/conversation');
  await control.call('start', { body: { room_file: path.join(files, 'room.wav'), pace: 'fast' } });
  await control.call('pause', { body: {} });
  const { sessionId, epoch, sinceSequence } = await caughtUp(pair[0]);
  const waiting = Array.from({ length: Number(values.waiting) }, () => join([shim]));
  await Promise.all(waiting.map((peer, i) => peer.ask(`hello ${i}`, 'ping')));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const idle = await cpuShare(pid, 5000);
  for (const peer of waiting)
    void peer.ask('poll', 'tools/call', { name: 'live_transcript', arguments: { sessionId, epoch, sinceSequence, waitSeconds: 20 } });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const polled = await cpuShare(pid, 10_000);

  const report = {
    calls: times[0].length,
    status_ms: { shim_and_socket: round(through), plain_stdio: round(plain), added: round(through - plain), limit: ADDED_LIMIT_MS },
    waiting: { clients: waiting.length, cpu: round(polled), cpu_without: round(idle), limit: WAITING_LIMIT },
  };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify(report));
  else {
    console.log(
      `status: median ${report.status_ms.shim_and_socket} ms through shim and socket, ${report.status_ms.plain_stdio} ms on plain stdio`,
    );
    console.log(`${waiting.length} clients waiting: ${(polled * 100).toFixed(2)} % of a core, ${(idle * 100).toFixed(2)} % without them`);
  }
  process.exitCode = through - plain > ADDED_LIMIT_MS || polled - idle > WAITING_LIMIT ? 1 : 0;
} finally {
  for (const peer of peers) peer.end();
  await ambient.close();
  rmSync(state, { recursive: true, force: true });
}

/** The cursor of a recording that is paused and has nothing more to say. */
async function caughtUp(peer) {
  let cursor = {};
  for (let i = 0; ; i++) {
    const reply = await peer.call(`cursor ${i}`, 'live_transcript', cursor);
    if (reply.text === '' && i > 0) return reply;
    cursor = { sessionId: reply.sessionId, epoch: reply.epoch, sinceSequence: reply.sinceSequence };
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

/** Share of one core that a process used over so many ms. */
async function cpuShare(pid, ms) {
  const ticks = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return Number(fields[11]) + Number(fields[12]);
  };
  const before = ticks();
  await new Promise((resolve) => setTimeout(resolve, ms));
  return (ticks() - before) / TICKS / (ms / 1000);
}

function median(list) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
