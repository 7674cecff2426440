/** One round: a fresh home, something under way in it, a kill at a random moment, a restart, and a look at what is left. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeWav } from '../lib/wav.mjs';
import { interleave, piece, RATE, readTrack, withHiss } from './audio.mjs';
import { checkDatabase, checkHome, checkSession } from './checks.mjs';
import { KillableDaemon } from './daemon.mjs';
import { DEVICE } from './plan.mjs';
import { cutPower } from './power.mjs';
import { Random } from './random.mjs';
import { Witness } from './witness.mjs';

export const MODEL = { AMBIENT_TRANSCRIPTION_MODEL: 'moonshine-tiny' };
const SETTLE_MS = 90_000;
/** A recording with a killed recorder goes on this long before it is stopped, ms. */
const AFTERMATH_MS = [1500, 3500];
const RECORDER = /^(?:\S*\/)?(?:sox|rec|parec|arecord)\s/;

/**
 * Plays a plan.
 * @param shared `{ reference, pulse }`; `pulse` is undefined where no device is used
 * @returns `{ kills: [victim], violations: [text], lossMs, durableMs, home, seconds }`; the home is kept when anything was violated
 */
export async function playRound(plan, shared) {
  const round = new Round(plan, shared);
  const begun = performance.now();
  try {
    await round.play();
  } catch (error) {
    round.violate(`the round broke off: ${error.stack ?? error}`);
  }
  await round.close();
  const { kills, violations, lossMs, durableMs, home } = round;
  if (violations.length === 0) rmSync(home, { recursive: true, force: true });
  return { kills: kills.map(({ victim }) => victim), violations, lossMs, durableMs, home, seconds: (performance.now() - begun) / 1000 };
}

class Round {
  home = mkdtempSync(path.join(tmpdir(), 'kill-'));
  kills = [];
  violations = [];
  /** Worst loss of captured audio, and oldest audio not covered by a header at a kill, ms. */
  lossMs = 0;
  durableMs = 0;
  /** Sessions that must be there, by id: `{ tracks, origin, startedAt, endAt, filled }`. */
  expected = new Map();
  /** What lay on disk after each kill of the daemon: `{ id, state, log, tracks }`. */
  snapshots = [];
  /** Files of an import, by path: the samples of each track. */
  imported = new Map();
  #recognizer;
  #stops = [];
  #reply;
  #stopReply;

  constructor(plan, shared) {
    this.plan = plan;
    this.shared = shared;
    this.random = new Random(plan.n + 7919 * Math.round(plan.seconds * 10));
    this.isDevice = DEVICE.test(plan.situation);
    const env = { ...MODEL, AMBIENT_TRANSCRIPTION_CHUNK_SECONDS: String(plan.chunkSeconds), ...(this.isDevice ? shared.pulse.env : {}) };
    this.daemon = new KillableDaemon(this.home, env);
    this.client = this.daemon.client;
    this.witness = new Witness(this.client);
  }

  violate(text) {
    this.violations.push(text);
  }

  async play() {
    await this.daemon.start();
    this.witness.start();
    await this.#begin();
    await this.#untilKill();
    if (await this.#kill()) await this.#afterwards();
    await this.#settle();
    await this.#check();
  }

  async close() {
    for (const stop of this.#stops) stop();
    await this.witness.stop();
    try {
      await this.daemon.stop();
      const orphans = await this.daemon.orphans();
      if (orphans.length > 0) this.violate(`outlived the daemon: ${orphans.join('; ')}`);
      for (const text of checkDatabase(this)) this.violate(text);
    } catch (error) {
      this.violate(error.message);
    }
  }

  // Before the kill.

  async #begin() {
    const { plan, client } = this;
    if (plan.situation === 'import') {
      const files = this.#makeImports();
      this.#reply = quiet(client.call('import', { body: { files, split_channels: plan.files === 'stereo' } }));
      void this.#reply.then((reply) => {
        for (const { id, file } of reply?.imports ?? []) this.#expect(id, this.imported.get(file), 'import');
      });
      return;
    }
    const body = this.isDevice ? await this.#playSound() : this.#makeTracks();
    this.calledAt = Date.now();
    this.#reply = quiet(client.call('start', { body }));
    const tracks = this.sound;
    void this.#reply.then((reply) => {
      if (reply !== undefined) this.#expect(reply.id, tracks, 'live', Date.parse(reply.started_at));
    });
    if (plan.situation === 'start') return;
    const reply = await this.#reply;
    if (reply === undefined) throw new Error('the recording did not start');
    if (plan.situation === 'record' || plan.situation === 'device') return;
    await sleep(this.isDevice ? this.random.whole(1500, 4000) : this.random.whole(500, plan.seconds * 1000 - 300));
    this.#requestStop();
  }

  #expect(id, tracks, origin, startedAt) {
    if (this.expected.has(id)) return;
    this.expected.set(id, { id, tracks, origin, startedAt, endAt: undefined });
    this.witness.follow(id);
  }

  #makeTracks() {
    const { plan } = this;
    this.sound = piece(plan.from, plan.seconds);
    const files = {};
    for (const [track, samples] of Object.entries(this.sound)) {
      files[`${track}_file`] = path.join(this.home, `${track}.wav`);
      writeFileSync(files[`${track}_file`], writeWav(samples, RATE));
    }
    return { ...files, pace: 'real' };
  }

  #makeImports() {
    const { plan } = this;
    const { room, call } = piece(plan.from, plan.seconds);
    const write = (name, bytes, tracks) => {
      const file = path.join(this.home, name);
      writeFileSync(file, bytes);
      this.imported.set(file, tracks);
    };
    if (plan.files === 'stereo') {
      const bytes = writeWav(interleave(room, call), RATE);
      bytes.writeUInt16LE(2, 22);
      bytes.writeUInt32LE(RATE * 4, 28);
      bytes.writeUInt16LE(4, 32);
      write('both.wav', bytes, { room, call });
    } else {
      write('first.wav', writeWav(room, RATE), { room });
      if (plan.files === 'two') write('second.wav', writeWav(call, RATE), { room: call });
    }
    return [...this.imported.keys()];
  }

  /** Lets both sinks sound, so that real recorders have something to hear from the first sample on. */
  async #playSound() {
    const { plan, shared } = this;
    const sinks = { room: 'mic', call: 'speakers' };
    const sound = piece(plan.from, 40);
    for (const [track, sink] of Object.entries(sinks)) {
      const file = path.join(this.home, `${sink}.wav`);
      writeFileSync(file, writeWav(withHiss(sound[track], plan.n), RATE));
      this.#stops.push(shared.pulse.play(file, sink));
    }
    this.sound = { room: null, call: null };
    await sleep(600);
    return {};
  }

  #requestStop() {
    const endAt = Date.now();
    for (const session of this.expected.values()) session.endAt ??= endAt;
    this.#stopReply = quiet(this.client.call('stop', { body: {} }));
  }

  /** Waits for the moment of the kill. What it waits for may not come: then the latest moment counts. */
  async #untilKill() {
    const { plan } = this;
    this.#watchRecognizer();
    if (plan.trigger === 'time') {
      await sleep(plan.timeMs);
    } else {
      const limit = { stop: 1500, import: 4000 }[plan.situation] ?? plan.seconds * 1000;
      const armed = plan.situation === 'record' ? Math.min(plan.timeMs, limit / 2) : 0;
      await sleep(armed);
      if (plan.trigger === 'line') await this.witness.nextLine(limit - armed);
      else await this.#written(plan.trigger === 'log' ? 'raw.jsonl' : 'session.json', limit - armed);
      if (plan.delayMs > 0) await sleep(plan.delayMs);
    }
    this.daemon.meetFamily();
  }

  /** Resolves when a file of that name is written in any session, or after `ms`. */
  async #written(name, ms) {
    const until = performance.now() + ms;
    let dirs = [];
    while (dirs.length === 0 && performance.now() < until) {
      dirs = sessionDirs(this.home);
      if (dirs.length === 0) await sleep(5);
    }
    await new Promise((resolve) => {
      const watchers = dirs.map((dir) =>
        watch(dir, (_event, file) => {
          if (file === name) resolve();
        }),
      );
      const timer = setTimeout(resolve, Math.max(0, until - performance.now()));
      this.#stops.push(() => {
        clearTimeout(timer);
        for (const watcher of watchers) watcher.close();
      });
    });
  }

  #watchRecognizer() {
    const timer = setInterval(async () => {
      const status = await this.client.call('status', {}, { timeoutMs: 2000 }).catch(() => undefined);
      this.#recognizer = status?.recognizer.pid ?? this.#recognizer;
    }, 60);
    this.#stops.push(() => clearInterval(timer));
  }

  // The kill, and what follows it.

  /** @returns false when the victim was gone by itself */
  async #kill() {
    const { victim } = this.plan;
    if (victim === 'daemon') {
      const at = await this.daemon.kill();
      this.kills.push({ victim, at });
      for (const session of this.expected.values()) session.endAt = Math.min(session.endAt ?? at, at);
      return true;
    }
    const pid = victim === 'recognizer' ? await this.#findRecognizer() : this.#findRecorder();
    if (pid === undefined) return false;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return false;
    }
    this.kills.push({ victim, at: Date.now() });
    return true;
  }

  async #findRecognizer() {
    for (let tries = 0; tries < 200 && this.#recognizer === undefined; tries++) await sleep(20);
    return this.#recognizer;
  }

  #findRecorder() {
    const recorders = this.daemon.children().filter(({ command }) => RECORDER.test(command));
    const { pid, command } = this.random.pick(recorders) ?? {};
    // Which track it is shows in the audio; the command is for whoever reads a violation.
    this.recorder = command;
    return pid;
  }

  async #afterwards() {
    const { plan } = this;
    if (plan.victim === 'daemon') return this.#restart();
    if (plan.situation === 'import') return;
    if (plan.situation === 'device') {
      await sleep(this.random.whole(...AFTERMATH_MS));
      this.#requestStop();
    } else if (plan.situation === 'record' && plan.endsBy === 'stop') {
      await sleep(this.random.whole(0, plan.seconds * 500));
      this.#requestStop();
    }
  }

  async #restart() {
    const { plan, daemon } = this;
    if (plan.powerCut) for (const dir of sessionDirs(this.home)) cutPower(dir, this.random);
    await this.#snapshot();
    if (plan.againMs !== null) {
      daemon.spawn();
      await sleep(plan.againMs);
      daemon.meetFamily();
      this.kills.push({ victim: 'daemon', at: await daemon.kill() });
      await this.#snapshot();
    }
    await daemon.start();
  }

  async #snapshot() {
    // What a killed process wrote is what the next daemon finds.
    for (const dir of sessionDirs(this.home)) {
      const tracks = {};
      for (const track of ['room', 'call']) {
        try {
          tracks[track] = readTrack(path.join(dir, 'audio', `${track}.wav`));
        } catch (error) {
          if (error.code !== 'ENOENT') throw error;
        }
      }
      this.snapshots.push({
        id: path.basename(dir),
        file: readJson(path.join(dir, 'session.json')),
        log: wholeLines(path.join(dir, 'raw.jsonl')),
        tracks,
      });
    }
  }

  // The end.

  /** Waits until nothing is under way any more. */
  async #settle() {
    const until = performance.now() + SETTLE_MS;
    // A stop that comes after a file's end is told that nothing runs.
    await Promise.all([this.#reply, this.#stopReply]);
    for (;;) {
      const { sessions } = await this.client.call('sessions', { query: {} });
      const status = await this.client.call('status', {});
      const importing = status.imports.some(({ state }) => state === 'decoding' || state === 'transcribing');
      const final = sessions.every(({ state }) => state === 'done' || state === 'interrupted' || state === 'broken');
      if (final && status.live === null && !importing) return;
      if (performance.now() > until)
        throw new Error(`not finished after ${SETTLE_MS / 1000} s: ${sessions.map(({ id, state }) => `${id} ${state}`).join(', ')}`);
      await sleep(80);
    }
  }

  async #check() {
    // The last reading of every cursor, once everything is written.
    await sleep(150);
    for (const text of await checkHome(this)) this.violate(text);
    const { sessions } = await this.client.call('sessions', { query: {} });
    for (const { id } of sessions) for (const text of await checkSession(this, id)) this.violate(text);
  }
}

/** What a call gave; undefined when the daemon died before it answered, or refused. */
function quiet(promise) {
  return promise.catch(() => undefined);
}

export function sessionDirs(home) {
  try {
    const dir = path.join(home, 'sessions');
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => path.join(dir, entry.name));
  } catch {
    return [];
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The lines of a log that end in a newline, as text. */
function wholeLines(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    return '';
  }
}
