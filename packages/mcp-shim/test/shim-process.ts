import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Feed, type Json } from './fake-daemon.js';

const SHIM = fileURLToPath(new URL('../bin/ambient-mcp.js', import.meta.url));

export interface ShimOptions {
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The real shim, with what an MCP host passes and no more. */
export class ShimProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly out = new Feed<Json>();
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
  /** Everything on stdout, whole lines. */
  readonly lines: string[] = [];
  stderr = '';
  #rest = '';

  constructor({ home, args = [], env = { AMBIENT_MCP_TOKEN: 'token-1' } }: ShimOptions) {
    this.child = spawn(process.execPath, [SHIM, ...args], {
      env: { HOME: home, AMBIENT_HOME: home, PATH: process.env.PATH ?? '', ...env },
    });
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString('utf8')).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        this.lines.push(line);
        this.out.push(JSON.parse(line));
      }
    });
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.exit = new Promise((resolve) => this.child.on('close', (code, signal) => resolve({ code, signal })));
  }

  send(message: Json | string): void {
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  write(text: string): void {
    this.child.stdin.write(text);
  }

  end(): void {
    this.child.stdin.end();
  }

  kill(): void {
    this.child.kill('SIGKILL');
  }
}
