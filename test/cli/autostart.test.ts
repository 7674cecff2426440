import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { homePaths } from '@ambient/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runHere, temporaryHome } from './support/ambientctl.js';
import { FakeDaemon, IDLE } from './support/fake-daemon.js';

let home: string;
let remove: () => void;
const pids: number[] = [];
beforeEach(() => {
  ({ home, remove } = temporaryHome());
});
afterEach(() => {
  for (const pid of pids.splice(0)) process.kill(pid, 'SIGKILL');
  remove();
});

/** Its state in /proc, or `gone`. */
function processState(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch {
    return 'gone';
  }
}

/** A daemon that is one script. */
function program(script: string): { command: string; args: string[] } {
  const file = path.join(home, 'd.mjs');
  writeFileSync(file, script);
  return { command: process.execPath, args: [file] };
}

function answering(socket: string): string {
  return `import http from 'node:http'; import fs from 'node:fs';
fs.mkdirSync(${JSON.stringify(path.dirname(socket))}, { recursive: true });
fs.appendFileSync(${JSON.stringify(path.join(home, 'starts'))}, process.pid + '\\n');
const status = { ...${JSON.stringify(IDLE)}, pid: process.pid };
http.createServer((q, r) => {
  if (q.url === '/v1/daemon/stop') { r.end(JSON.stringify({ pid: process.pid })); setTimeout(() => process.exit(), 100); return; }
  r.end(JSON.stringify(q.url.startsWith('/v1/sessions') ? { sessions: [], total: 0 } : status));
}).listen(${JSON.stringify(socket)});`;
}

describe('a verb that needs the daemon', () => {
  const start = async (): Promise<{ pid: number; result: Awaited<ReturnType<typeof runHere>> }> => {
    const { controlSocket } = homePaths(home, process.getuid?.() ?? 0);
    const result = await runHere(home, ['sessions', '--json'], { daemon: program(answering(controlSocket)) });
    const pid = Number(readFileSync(path.join(home, 'starts'), 'utf8').trim().split('\n').at(-1));
    pids.push(pid);
    return { pid, result };
  };

  it('starts it and then does its work', async () => {
    const { pid, result } = await start();
    expect(result).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    const status = await runHere(home, ['daemon', 'status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ running: true, pid });
  });

  it('starts it once', async () => {
    await start();
    const again = await runHere(home, ['daemon', 'start', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ started: false });
    expect(readFileSync(path.join(home, 'starts'), 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('says in one line why it did not start, and what to do', async () => {
    const daemon = program(`console.error('warming up'); console.error('The disk is on fire. Pour water on it.'); process.exit(1)`);
    const { code, stdout, stderr } = await runHere(home, ['start'], { daemon });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n').at(-1)).toBe(
      'ambientctl: The daemon did not start: The disk is on fire. Pour water on it. Run `ambientctl daemon run` to watch it start.',
    );
  });

  it('picks the reason out of a stack trace', async () => {
    const { stderr } = await runHere(home, ['start', '--json'], { daemon: program(`throw new Error('no such model')`) });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'unavailable', message: 'The daemon did not start: Error: no such model' });
  });

  it('waits for another daemon that is just starting when its own found the home taken', async () => {
    const other = new FakeDaemon(home, { sessions: () => ({ sessions: [], total: 0 }) });
    const timer = setTimeout(() => void other.start(), 400);
    const { code } = await runHere(home, ['sessions'], { daemon: program('process.exit(0)') });
    clearTimeout(timer);
    await other.stop();
    expect(code).toBe(0);
  });

  it('says that a home cannot be written to', async () => {
    const file = path.join(home, 'file');
    writeFileSync(file, '');
    const { code, stderr } = await runHere(path.join(file, 'home'), ['sessions'], { daemon: program('') });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be written to.*Set AMBIENT_HOME/s);
  });
});

describe('a verb that does not need the daemon', () => {
  const daemon = { command: '/does/not/exist', args: [] };

  it.each([
    ['status', 0, 'not running'],
    ['', 0, 'not running'],
    ['doctor', 0, 'not running'],
    ['daemon stop', 0, 'not running'],
    ['daemon status', 1, 'not running'],
    ['stop', 1, 'not running'],
    ['pause', 1, 'not running'],
  ])('says that it is not running and starts nothing: ambientctl %s exits %i', async (args, code, words) => {
    mkdirSync(path.join(home, 'logs'));
    const result = await runHere(
      home,
      args.split(' ').filter((arg) => arg !== ''),
      { daemon },
    );
    expect(result.stdout + result.stderr).toContain(words);
    expect(result.code).toBe(code);
  });

  it('answers in JSON', async () => {
    expect(JSON.parse((await runHere(home, ['daemon', 'status', '--json'])).stdout)).toEqual({ running: false, pid: null });
    expect(JSON.parse((await runHere(home, ['status', '--json'])).stdout)).toMatchObject({ running: false, live: null });
  });
});

describe('daemon stop', () => {
  it('returns when the process is gone', async () => {
    const { controlSocket } = homePaths(home, process.getuid?.() ?? 0);
    await runHere(home, ['daemon', 'start'], { daemon: program(answering(controlSocket)) });
    const pid = Number(readFileSync(path.join(home, 'starts'), 'utf8'));
    const { code, stdout } = await runHere(home, ['daemon', 'stop']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `The daemon (pid ${pid}) has ended.\n` });
    // Ended, or ended and waiting to be collected by its parent.
    expect(processState(pid)).toMatch(/^(?:gone|Z)$/);
  });
});
