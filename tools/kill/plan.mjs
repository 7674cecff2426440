/** What happens in a round: drawn from its seed alone. */
import { Random, roundSeed } from './random.mjs';

/**
 * Kinds of round, `situation/victim`, as often as they stand here:
 * - `start`: the daemon dies while a recording is being started
 * - `record`: two files are recorded at their own pace
 * - `stop`: something dies right after the recording was told to stop
 * - `import`: one file, two files or one stereo file are imported
 * - `device`, `device-stop`: real recorders on a private sound server
 */
const KINDS = {
  'start/daemon': 2,
  'record/daemon': 10,
  'record/recognizer': 6,
  'stop/daemon': 7,
  'stop/recognizer': 3,
  'import/daemon': 7,
  'import/recognizer': 3,
  'device/daemon': 3,
  'device/recorder': 5,
  'device/recognizer': 1,
  'device-stop/daemon': 2,
  'device-stop/recorder': 1,
};

/** Shortest and longest piece of the conversation in a round, s. */
const SECONDS = [6, 15];

export const DEVICE = /^device/;

/**
 * The kinds of `rounds` rounds, in random order: each as often as its share says, so that a short run leaves none out by chance.
 * @param only kinds to take in turn instead
 */
export function deal(rounds, seed, only) {
  if (only.length > 0) return Array.from({ length: rounds }, (_, i) => only[i % only.length]);
  const deck = Object.entries(KINDS).flatMap(([kind, share]) => Array(share).fill(kind));
  const random = new Random(seed);
  const kinds = [];
  while (kinds.length < rounds) {
    const shuffled = deck.map((kind) => ({ kind, at: random.next() })).sort((a, b) => a.at - b.at);
    kinds.push(...shuffled.map(({ kind }) => kind));
  }
  return kinds.slice(0, rounds);
}

/** One round: `from` and `seconds` say which piece is heard, `wait` or `trigger` when the victim dies. */
export function planRound(kind, seed, n) {
  const random = new Random(roundSeed(seed, n));
  const [situation, victim] = kind.split('/');
  const seconds = Math.round(random.between(...SECONDS) * 10) / 10;
  return {
    n,
    kind,
    situation,
    victim,
    seconds,
    from: Math.round(random.between(0, 29) * 10) / 10,
    /** What the kill waits for, and ms from there. */
    trigger: random.pick(triggersOf(situation)),
    delayMs: random.chance(0.4) ? 0 : random.whole(0, 60),
    /** Where the trigger is a time: ms since the situation began. Latest moment of the kill otherwise. */
    timeMs: killTime(situation, victim, seconds, random),
    /** A recording that lives on ends by itself with its file, or is stopped. */
    endsBy: random.pick(['file', 'stop']),
    chunkSeconds: random.pick([1, 2, 5, 10]),
    files: random.pick(['one', 'two', 'stereo']),
    /** The daemon is killed a second time this long after it was started again, ms. */
    againMs: victim === 'daemon' && random.chance(0.35) ? random.whole(50, 3500) : null,
    /** What was not synced at the kill is lost too, as if the machine had lost its power. */
    powerCut: victim === 'daemon' && random.chance(0.3),
  };
}

function triggersOf(situation) {
  if (situation === 'start' || situation === 'device-stop') return ['time'];
  if (situation === 'stop') return ['time', 'time', 'line', 'metadata'];
  if (situation === 'import') return ['time', 'time', 'line', 'log', 'metadata'];
  return ['time', 'time', 'line', 'log'];
}

function killTime(situation, victim, seconds, random) {
  switch (situation) {
    case 'start':
      return random.whole(0, 900);
    case 'stop':
      return random.whole(0, 900);
    case 'device-stop':
      return random.whole(0, 80);
    case 'import':
      return random.whole(0, 2600);
    case 'device':
      return random.whole(victim === 'recorder' ? 1500 : 300, 6000);
    default:
      return random.whole(200, Math.round(seconds * 1000));
  }
}
