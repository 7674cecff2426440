/** What a power cut would have left on disk, over and above a kill: nothing is sure but what was synced. */
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readTrack } from './audio.mjs';

const HEADER = 44;
const LINE = JSON.stringify({ track: 'room', start_ms: 1, end_ms: 2, text: 'torn in the middle', samples: [16, 32] });

/** Cuts a session's files down to something that a machine which lost its power may find. */
export function cutPower(dir, random) {
  for (const track of ['room', 'call']) {
    const file = path.join(dir, 'audio', `${track}.wav`);
    if (!existsSync(file)) continue;
    // The header is written with each sync, so what it declares is safe; of the rest any part may be there.
    const safe = Math.min(statSync(file).size, HEADER + readTrack(file).declared * 2);
    truncateSync(file, random.whole(safe, statSync(file).size));
  }
  // The log of a session that is complete was synced before its state was.
  if (random.chance(0.5) && !isComplete(dir)) appendFileSync(path.join(dir, 'raw.jsonl'), LINE.slice(0, random.whole(1, LINE.length - 2)));
  if (random.chance(0.5)) writeFileSync(path.join(dir, `session.json.${random.whole(1, 1e9)}`), '{ "schema": 1, "id":');
}

function isComplete(dir) {
  const file = path.join(dir, 'session.json');
  return existsSync(file) && ['done', 'interrupted'].includes(JSON.parse(readFileSync(file, 'utf8')).state);
}
