/**
 * How soon a line is on the event stream after its turn ended, and how fresh the audio on disk is, in a live recording
 * paced in real time with both tracks talking.
 *
 *   node tools/bench/latency.mjs [--seconds 58] [--json] [--out FILE]
 *
 * Both tracks carry the bundled conversation with its two voices mixed into one stream, the call 7 s later than the room.
 * Exits 1 when the 95th percentile of the lines is above 1.5 s or audio on disk is ever older than 1.2 s.
 */
import { openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { AmbientClient } from '../../packages/client/dist/index.js';
import { freshHome } from '../lib/ambient.mjs';
import { readWav, writeWav } from '../lib/wav.mjs';

const LINE_LIMIT_MS = 1500;
const AUDIO_LIMIT_MS = 1200;
const RATE = 16_000;
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '58' }, json: { type: 'boolean', default: false }, out: { type: 'string' } },
});

const ambient = freshHome();
try {
  const mixed = mix();
  const wanted = Number(values.seconds) * RATE;
  const room = path.join(ambient.home, 'room.wav');
  const call = path.join(ambient.home, 'call.wav');
  writeFileSync(room, writeWav(cycle(mixed, 0, wanted), RATE));
  writeFileSync(call, writeWav(cycle(mixed, 7 * RATE, wanted), RATE));
  await ambient.ctl('daemon', 'start');
  const client = new AmbientClient(path.join(ambient.home, 'run/control.sock'));
  const lines = [];
  const stop = new AbortController();
  let session;
  const listening = (async () => {
    for await (const event of client.events({ signal: stop.signal }))
      if (event.type === 'line') lines.push({ at: Date.now(), line: event.line });
  })();
  session = await ambient.json('start', '--room-file', room, '--call-file', call, '--pace', 'real');
  const zero = Date.parse(session.started_at);
  const ages = await watchAudio(path.join(session.dir, 'audio'), zero, client);
  for (let state = ''; state !== 'done'; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    ({ state } = (await client.call('session', { params: { session: session.id } })).summary);
  }
  stop.abort();
  await listening;
  const delays = lines.map(({ at, line }) => at - (zero + line.end_ms)).sort((a, b) => a - b);
  const report = {
    seconds: Number(values.seconds),
    lines: delays.length,
    line_delay_ms: { median: percentile(delays, 0.5), p95: percentile(delays, 0.95), max: delays.at(-1), limit_p95: LINE_LIMIT_MS },
    audio_age_ms: { samples: ages.length, median: percentile(ages, 0.5), max: ages.at(-1), limit: AUDIO_LIMIT_MS },
  };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify(report));
  else {
    console.log(
      `${report.lines} lines: median ${report.line_delay_ms.median} ms, 95th percentile ${report.line_delay_ms.p95} ms, longest ${report.line_delay_ms.max} ms after their turn (limit ${LINE_LIMIT_MS})`,
    );
    console.log(
      `audio on disk: median ${report.audio_age_ms.median} ms, at most ${report.audio_age_ms.max} ms old in ${ages.length} looks (limit ${AUDIO_LIMIT_MS})`,
    );
  }
  process.exitCode = report.line_delay_ms.p95 > LINE_LIMIT_MS || report.audio_age_ms.max > AUDIO_LIMIT_MS ? 1 : 0;
} finally {
  await ambient.close();
}

/** Age of the newest sample that the header of either track declares, looked at ten times a second until the recording ends. */
async function watchAudio(dir, zero, client) {
  const ages = [];
  const begun = Date.now();
  const files = ['room.wav', 'call.wav'].map((name) => openSync(path.join(dir, name), 'r'));
  const header = Buffer.alloc(44);
  for (let looks = 0; ; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (looks % 10 === 0 && (await client.call('status', {})).live === null) break;
    if (Date.now() - begun < 1500 || Date.now() - zero > Number(values.seconds) * 1000) continue;
    for (const fd of files) {
      readSync(fd, header, 0, 44, 0);
      ages.push(Math.round(Date.now() - (zero + header.readUInt32LE(40) / 32)));
    }
  }
  return ages.sort((a, b) => a - b);
}

function mix() {
  const [room, call] = ['room', 'call'].map(
    (track) => readWav(readFileSync(new URL(`../../test/fixtures/conversation/${track}.wav`, import.meta.url)), RATE).samples,
  );
  return room.map((sample, i) => Math.max(-32768, Math.min(32767, sample + (call[i] ?? 0))));
}

function cycle(samples, from, count) {
  return Int16Array.from({ length: count }, (_, i) => samples[(from + i) % samples.length]);
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
