/** What an undisturbed daemon makes of the same audio. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWav } from '../lib/wav.mjs';
import { RATE } from './audio.mjs';
import { KillableDaemon } from './daemon.mjs';

const PATIENCE_MS = 120_000;

export class Reference {
  #home = mkdtempSync(path.join(tmpdir(), 'kill-ref-'));
  #daemon;
  #known = new Map();
  #files = 0;

  constructor(env) {
    this.#daemon = new KillableDaemon(this.#home, env);
  }

  async start() {
    await this.#daemon.start();
  }

  async stop() {
    await this.#daemon.stop();
    rmSync(this.#home, { recursive: true, force: true });
  }

  /** Lines of one track's audio: `{ samples: [from, to], text }`. Each audio is transcribed once. */
  lines(samples) {
    const key = createHash('sha1').update(samples).digest('hex');
    const lines = this.#known.get(key) ?? this.#transcribe(samples);
    this.#known.set(key, lines);
    lines.catch(() => this.#known.delete(key));
    return lines;
  }

  async #transcribe(samples) {
    if (samples.length === 0) return [];
    const file = path.join(this.#home, `${++this.#files}.wav`);
    writeFileSync(file, writeWav(samples, RATE));
    // Whoever ends it from outside must not spoil the rounds to come.
    if (this.#daemon.ended) await this.#daemon.start();
    const { client } = this.#daemon;
    const { imports } = await client.call('import', { body: { files: [file] } });
    const id = imports[0].id;
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      const { summary } = await client.call('session', { params: { session: id } });
      if (summary.state === 'done') break;
      if (performance.now() > until) throw new Error('the undisturbed daemon does not finish');
      await sleep(50);
    }
    const lines = readLog(path.join(this.#home, 'sessions', id, 'raw.jsonl'));
    rmSync(file);
    return lines.map(({ samples: range, text }) => ({ samples: range, text }));
  }
}

/** Entries of a log; none when there is no file. A line that cannot be read is undefined. */
export function readLog(file) {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return undefined;
    }
  });
}
