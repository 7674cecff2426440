/** What must be true after a round, whatever was killed in it. Every check gives sentences for what is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { firstDifference, longestHole, RATE, readTrack } from './audio.mjs';
import { readLog } from './reference.mjs';

const Database = createRequire(new URL('../../services/daemon/package.json', import.meta.url))('better-sqlite3');

/** Audio that one kill of the daemon or of a recorder may cost, ms. */
export const LOSS_LIMIT_MS = 1200;
/** A turn that ends this much before the kept audio's end is the same with and without what follows, samples (0.5 s pause, detector's lag). */
const TAIL = 0.75 * RATE;
/** Nothing may be said to have failed: one kill of a recognizer is made up for. */
const FORBIDDEN_WARNINGS = ['turn_failed', 'audio_unreadable', 'write_failed', 'file_unreadable', 'import_truncated', 'library_damaged'];
const KNOWN_FILES = ['audio', 'raw.jsonl', 'session.json', 'transcript.md'];
const ERROR_LEVEL = 50;
const KILLED_WHILE_LOADING = 'recognizer failed';

/** The home as a whole: every session that must be there is, and no other; nothing failed in the log. */
export async function checkHome(round) {
  const { client, plan, expected, imported, snapshots, kills, witness } = round;
  const faults = [...witness.contradictions];
  const { sessions } = await client.call('sessions', { query: {} });
  for (const row of sessions) {
    if (row.error !== null) faults.push(`${row.id} is broken: ${row.error}`);
    if (expected.has(row.id)) continue;
    // The daemon died before it could tell the id.
    const file = snapshots.find(({ id }) => id === row.id)?.file;
    if (plan.victim !== 'daemon' || file === undefined) faults.push(`${row.id} came from nowhere`);
    else if (file.origin === 'import') expected.set(row.id, { id: row.id, origin: 'import', tracks: imported.get(file.source_file) });
    else
      expected.set(row.id, { id: row.id, origin: 'live', tracks: round.sound, startedAt: Date.parse(file.started_at), endAt: kills[0].at });
  }
  for (const { id, startedAt, endAt } of expected.values()) {
    if (sessions.some((row) => row.id === id)) continue;
    // A recording that was cut before anything was kept leaves nothing.
    if (startedAt === undefined || endAt - startedAt > LOSS_LIMIT_MS) faults.push(`${id} is gone`);
    else round.lossMs = Math.max(round.lossMs, endAt - startedAt);
  }
  const files = [...expected.values()].filter(({ origin }) => origin === 'import').length;
  if (plan.situation === 'import' ? files > imported.size : sessions.length > 1) faults.push(`${sessions.length} sessions instead of one`);
  const status = await client.call('status', {});
  if (status.awaiting_transcript !== 0) faults.push(`${status.awaiting_transcript} sessions await their transcript for ever`);
  for (const { state, error } of status.imports) if (state === 'failed') faults.push(`an import failed: ${error}`);
  return [...faults, ...logFaults(round)];
}

/** One session: audio, lines, cursors, state, text, index. */
export async function checkSession(round, id) {
  const { client, home, expected, snapshots } = round;
  const want = expected.get(id);
  if (want === undefined) return [];
  const dir = path.join(home, 'sessions', id);
  const { file } = await client.call('session', { params: { session: id } });
  const raw = readLog(path.join(dir, 'raw.jsonl'));
  const before = snapshots.filter((snapshot) => snapshot.id === id);
  const faults = [
    ...stateFaults(round, want, file, before),
    ...logLineFaults(dir, raw, before),
    ...(await publishedFaults(round, id)),
    ...folderFaults(dir, raw),
  ];
  let longest = 0;
  for (const [track, source] of Object.entries(want.tracks)) {
    const heard = readAudio(dir, track);
    if (heard === undefined) {
      if (file.tracks[track] !== undefined && file.tracks[track].samples > 0) faults.push(`${track}.wav is gone`);
      continue;
    }
    const { offset_ms = 0, samples = -1 } = file.tracks[track] ?? {};
    longest = Math.max(longest, offset_ms + (heard.samples.length * 1000) / RATE);
    if (heard.fault !== null) faults.push(`${track}.wav: ${heard.fault}`);
    if (samples !== heard.samples.length)
      faults.push(`session.json counts ${samples} samples of ${track}, the file has ${heard.samples.length}`);
    faults.push(...audioFaults(round, want, { track, source, heard, offset: offset_ms, before }));
    const lines = raw.filter((line) => line?.track === track).map(({ samples: range, text }) => ({ samples: range, text }));
    faults.push(...(await textFaults(round, { track, source, heard: heard.samples, lines })));
  }
  if (Math.abs(longest - (file.duration_s ?? -1) * 1000) > 2)
    faults.push(`duration_s is ${file.duration_s}, the audio ends at ${longest} ms`);
  faults.push(...(await searchFaults(round, id)));
  return faults.map((text) => `${id}: ${text}`);
}

function stateFaults(round, want, file, before) {
  const faults = [];
  const first = before[0]?.file;
  const cut = want.origin === 'live' && first?.state === 'live';
  const state = cut ? 'interrupted' : 'done';
  if (file.state !== state) faults.push(`its state is ${file.state} instead of ${state}`);
  const told = file.warnings.filter(({ code }) => code === 'interrupted').length;
  if (told !== (cut ? 1 : 0)) faults.push(`${told} warnings say that it was interrupted`);
  if ((file.interrupted_at !== null) !== cut) faults.push(`interrupted_at is ${file.interrupted_at}`);
  for (const { code, message } of file.warnings) if (FORBIDDEN_WARNINGS.includes(code)) faults.push(`it warns: ${message}`);
  for (const { from_ms, to_ms, reason, track } of file.coverage)
    if (!(to_ms > from_ms && from_ms >= 0)) faults.push(`the ledger has ${reason} on ${track} from ${from_ms} to ${to_ms}`);
  // A recording in full flight is live on disk: what says otherwise would hide its interruption.
  const flying = round.plan.victim === 'daemon' && ['record', 'device'].includes(round.plan.situation);
  const length = want.tracks.room === null ? Number.POSITIVE_INFINITY : round.plan.seconds * 1000;
  if (flying && first?.state !== 'live' && want.endAt - want.startedAt < length - 500)
    faults.push(`it was ${first?.state} when it was cut`);
  return faults;
}

/** The log only grows; its ranges are in order and apart. */
function logLineFaults(dir, raw, before) {
  const faults = [];
  const text = raw.length === 0 ? '' : readFileSync(path.join(dir, 'raw.jsonl'), 'utf8');
  if (text !== '' && !text.endsWith('\n')) faults.push('raw.jsonl does not end its last line');
  for (const { log } of before) if (!text.startsWith(log)) faults.push('raw.jsonl has lost or changed lines of before the kill');
  const reached = { room: 0, call: 0 };
  for (const [i, line] of raw.entries()) {
    if (line === undefined) {
      faults.push(`line ${i + 1} of raw.jsonl cannot be read`);
      continue;
    }
    const [from, to] = line.samples;
    if (from < reached[line.track] || to <= from)
      faults.push(`line ${i + 1} covers ${from}–${to} after ${reached[line.track]} (${line.track})`);
    reached[line.track] = Math.max(reached[line.track], to);
  }
  return faults;
}

/** Every line that any client saw stands where it stood, and every cursor that was given still leads to the rest. */
async function publishedFaults({ client, witness }, id) {
  const faults = [];
  const { lines, next } = await client.call('transcript', { params: { session: id }, query: {} });
  if (next !== lines.length) faults.push(`${lines.length} lines, but next is ${next}`);
  for (const [index, seen] of witness.lines.get(id) ?? []) {
    const now = JSON.stringify(lines[index]);
    if (now !== seen) faults.push(`line ${index} was published as ${seen} and is ${now}`);
  }
  const cursors = new Set(witness.readings.filter(({ session }) => session === id).map((reading) => reading.next));
  for (const since of cursors) {
    const rest = await client.call('transcript', { params: { session: id }, query: { since } });
    if (JSON.stringify(rest.lines) !== JSON.stringify(lines.slice(since)) || rest.next !== lines.length)
      faults.push(`cursor ${since} gives ${rest.lines.length} lines and next ${rest.next} of ${lines.length}`);
  }
  return faults;
}

function folderFaults(dir, raw) {
  const names = readdirSync(dir);
  const faults = names.filter((name) => !KNOWN_FILES.includes(name)).map((name) => `${name} was left in the folder`);
  if (!names.includes('transcript.md')) return [...faults, 'transcript.md is missing'];
  const text = readFileSync(path.join(dir, 'transcript.md'), 'utf8');
  const counted = raw.filter((line) => line !== undefined && text.includes(line.text)).length;
  // Lines left out as bleed are counted in it.
  if (counted < raw.length && !/bleed|echo|loudspeaker/i.test(text)) faults.push(`transcript.md has ${counted} of ${raw.length} lines`);
  return faults;
}

function readAudio(dir, track) {
  try {
    return readTrack(path.join(dir, 'audio', `${track}.wav`));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** What was kept is what was heard, and all of it but for what a kill may cost. */
function audioFaults(round, want, { track, source, heard, offset, before }) {
  const faults = [];
  const { samples } = heard;
  for (const snapshot of before) {
    const then = snapshot.tracks[track]?.samples ?? [];
    const at = firstDifference(then, samples);
    if (at !== null) faults.push(`sample ${at} of ${then.length} of ${track} on disk at the kill has changed`);
  }
  if (source !== null) {
    const at = firstDifference(samples, source);
    if (at !== null) faults.push(`${track} differs from its source at sample ${at} of ${source.length}`);
  }
  const ms = (count) => Math.round((count * 1000) / RATE);
  let loss = 0;
  if (want.origin === 'import' || (want.endAt === undefined && source !== null)) {
    // Nothing that was captured is at stake: the file is heard to its end.
    if (samples.length !== source.length) faults.push(`${track} has ${samples.length} of ${source.length} samples`);
  } else {
    const all = source === null ? Number.POSITIVE_INFINITY : ms(source.length);
    loss = Math.max(0, Math.min(all, want.endAt - want.startedAt) - offset - ms(samples.length));
    const atKill = before[0]?.tracks[track];
    if (atKill !== undefined && before[0].file?.state === 'live')
      round.durableMs = Math.max(round.durableMs, Math.min(all, want.endAt - want.startedAt) - offset - ms(atKill.declared));
  }
  if (source === null) loss = Math.max(loss, ms(longestHole(samples)));
  round.lossMs = Math.max(round.lossMs, loss);
  if (loss > LOSS_LIMIT_MS) faults.push(`${loss} ms of ${track} are lost`);
  return faults;
}

/** The lines are those of an undisturbed run, of the kept audio and of the whole source. */
async function textFaults({ plan, shared }, { track, source, heard, lines }) {
  const faults = [];
  const settled = ({ samples: [, to] }) => to + TAIL <= heard.length;
  // A power cut may take audio whose line is already safe.
  const comparable = (list) => (plan.powerCut ? list.filter(settled) : list);
  const [own, same] = [comparable(lines), comparable(await shared.reference.lines(heard))];
  if (JSON.stringify(own) !== JSON.stringify(same)) faults.push(`${track} reads ${brief(own)}, undisturbed ${brief(same)}`);
  if (source === null) return faults;
  const whole = (await shared.reference.lines(source)).filter((line) => settled(line) || heard.length === source.length);
  const present = new Set(lines.map((line) => JSON.stringify(line)));
  for (const line of whole) if (!present.has(JSON.stringify(line))) faults.push(`${track} lacks ${brief([line])} of the undisturbed run`);
  return faults;
}

function brief(lines) {
  return lines.length === 0 ? 'nothing' : lines.map(({ samples: [from, to], text }) => `[${from}–${to}] ${text}`).join(' | ');
}

/** A word of the session finds it, once. */
async function searchFaults({ client }, id) {
  const { lines } = await client.call('lines', { params: { session: id }, query: {} });
  const words = lines.filter(({ bleed, text }) => !bleed && text !== '').flatMap(({ text }) => text.match(/\b[a-z]{4,}\b/gi) ?? []);
  if (words.length === 0) return [];
  const word = words.toSorted((a, b) => b.length - a.length)[0];
  const found = await client.call('search', { query: { q: word, limit: 200 } });
  const faults = [];
  const hits = found.sessions.filter((row) => row.id === id).length;
  if (hits !== 1) faults.push(`a search for "${word}" finds it ${hits} times`);
  if (found.unavailable > 0) faults.push(`${found.unavailable} sessions are not searchable`);
  return faults;
}

/** To be called when the daemon has ended: the index is whole and holds every session once. */
export function checkDatabase(round) {
  const faults = readdirSync(round.home)
    .filter((name) => name.startsWith('library.db') && !['library.db', 'library.db-wal', 'library.db-shm'].includes(name))
    .map((name) => `${name} was set aside`);
  const db = new Database(path.join(round.home, 'library.db'));
  try {
    const whole = db.pragma('integrity_check', { simple: true });
    if (whole !== 'ok') faults.push(`library.db: ${whole}`);
    db.exec("INSERT INTO entry_index(entry_index) VALUES('integrity-check')");
    const ids = db.prepare('SELECT id FROM sessions').pluck().all();
    const folders = readdirSync(path.join(round.home, 'sessions')).filter((name) => !name.startsWith('.'));
    if (ids.toSorted().join() !== folders.toSorted().join())
      faults.push(`the index holds ${ids.join(', ') || 'nothing'}, the folder ${folders.join(', ') || 'nothing'}`);
  } catch (error) {
    faults.push(`library.db: ${error.message}`);
  } finally {
    db.close();
  }
  return faults;
}

/** Errors in the daemon's log are faults that nobody else would see. */
function logFaults({ home, plan }) {
  const dir = path.join(home, 'logs');
  const entries = readdirSync(dir).flatMap((name) => readLog(path.join(dir, name)));
  return entries
    .filter((entry) => entry?.level >= ERROR_LEVEL && !(plan.victim === 'recognizer' && entry.msg === KILLED_WHILE_LOADING))
    .map((entry) => `the log says: ${entry.msg} (${entry.err?.message ?? entry.reason ?? ''})`);
}
