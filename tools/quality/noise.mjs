/**
 * Records sounds in which nobody speaks, from files into both tracks of a live recording, and counts the lines: none is right.
 *
 *   node tools/quality/noise.mjs [--minutes 60] [--seed 1] [--model moonshine-base] [--json] [--out FILE]
 *
 * The files are played as fast as they are recorded and read; everything behind them is what a microphone's samples go
 * through. Exits 1 when there is a line, or a warning on the session.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { freshHome } from '../lib/ambient.mjs';
import { writeWav } from '../lib/wav.mjs';
import { NOISES, RATE, seeded } from './noises.mjs';

/** One sound lasts this long, with a pause of the same order before the next, seconds. */
const SOUND = 8;
const PAUSE = 1.5;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    model: { type: 'string', default: 'moonshine-base' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
/** Names of the sounds still to come: both tracks draw from it, so that few minutes hold every kind. */
let order = [];
const ambient = freshHome({ AMBIENT_TRANSCRIPTION_MODEL: values.model, AMBIENT_DISK_LOW_MB: '0', AMBIENT_DISK_STOP_MB: '0' });
try {
  const begun = performance.now();
  const tracks = Object.fromEntries(
    ['room', 'call'].map((track, i) => {
      const file = path.join(ambient.home, `${track}.wav`);
      return [track, { file, sounds: record(file, seeded(Number(values.seed) * 2 + i)) }];
    }),
  );
  const { dir } = await ambient.json('start', '--room-file', tracks.room.file, '--call-file', tracks.call.file, '--pace', 'fast');
  const session = await finished(dir);
  const lines = (await ambient.json('show', session.id)).map(({ track, start_ms, text }) => ({
    track,
    start_ms,
    text,
    sound: tracks[track].sounds.findLast((sound) => sound.at_ms <= start_ms)?.name ?? null,
  }));
  const report = {
    model: values.model,
    minutes_of_each_track: minutes,
    kinds_of_sound: Object.keys(NOISES).length,
    sounds: tracks.room.sounds.length + tracks.call.sounds.length,
    seed: Number(values.seed),
    state: session.state,
    warnings: session.warnings,
    lines,
    times_real_time: Number(((2 * minutes * 60) / ((performance.now() - begun) / 1000)).toFixed(1)),
  };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify(report));
  else {
    for (const { track, start_ms, text, sound } of lines) console.log(`${track} ${(start_ms / 1000).toFixed(1)} s, ${sound}: ${text}`);
    for (const warning of session.warnings) console.log(`warning: ${warning.message}`);
    console.log(`${lines.length} lines in ${minutes} minutes of each track (${report.sounds} sounds of ${report.kinds_of_sound} kinds)`);
  }
  process.exitCode = lines.length > 0 || session.warnings.length > 0 || session.state !== 'done' ? 1 : 0;
} finally {
  await ambient.close();
}

/** Fills a file with every kind of sound in random order, again and again. */
function record(file, random) {
  const total = Math.round(minutes * 60 * RATE);
  const sounds = [];
  const handle = openSync(file, 'w');
  const header = writeWav(new Int16Array(0), RATE);
  header.writeUInt32LE(36 + total * 2, 4);
  header.writeUInt32LE(total * 2, 40);
  writeSync(handle, header);
  let at = 0;
  while (at < total) {
    if (order.length === 0) order = shuffled(Object.keys(NOISES), random);
    const name = order.pop();
    sounds.push({ name, at_ms: Math.round((at * 1000) / RATE) });
    const sound = NOISES[name](SOUND, random);
    const gap = Math.round(random() * 2 * PAUSE * RATE);
    const pcm = Buffer.alloc(Math.min(total - at, sound.length + gap) * 2);
    for (let i = 0; i < sound.length && i * 2 < pcm.length; i++)
      pcm.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sound[i] * 32_768))), i * 2);
    writeSync(handle, pcm);
    at += pcm.length / 2;
  }
  closeSync(handle);
  return sounds;
}

function shuffled(list, random) {
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** What the session says of itself, once its transcript is complete. */
async function finished(dir) {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const session = JSON.parse(readFileSync(path.join(dir, 'session.json'), 'utf8'));
    if (!['live', 'transcribing', 'pending'].includes(session.state)) return session;
  }
}
