/**
 * Kills the daemon, the recognizer or a recorder at random moments of a recording, a stop or an import, starts again, and
 * checks that nothing was lost, doubled or moved.
 *
 *   node tools/kill/run.mjs [--rounds 200] [--seed N] [--kinds A,B] [--only N] [--jobs 2] [--json] [--out FILE]
 *
 * `--kinds` takes the named kinds of `plan.mjs` in turn, `--only` plays one round of a run again. Every violation is printed with the
 * round's home, which is kept. Exits 1 on violations.
 */
import { accessSync, constants, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LOSS_LIMIT_MS } from './checks.mjs';
import { DEVICE, deal, planRound } from './plan.mjs';
import { PrivatePulse } from './pulse.mjs';
import { Reference } from './reference.mjs';
import { MODEL, playRound } from './round.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    kinds: { type: 'string', default: '' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const seed = Number(values.seed);
const kinds = deal(
  Number(values.rounds),
  seed,
  values.kinds.split(',').filter((kind) => kind !== ''),
);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
process.exitCode = (await main()) ? 0 : 1;

async function main() {
  const plans = kinds.map((kind, n) => planRound(kind, seed, n)).filter(({ n }) => values.only === undefined || n === Number(values.only));
  const tally = { rounds: 0, kills: {}, kinds: {}, violations: 0, lossMs: 0, durableMs: 0 };
  const reference = new Reference(MODEL);
  const pulse = plans.some(({ situation }) => DEVICE.test(situation)) ? new PrivatePulse() : undefined;
  if (pulse !== undefined) requirePrograms(['pulseaudio', 'pactl', 'paplay', 'parec', 'sox']);
  const begun = performance.now();
  try {
    await Promise.all([reference.start(), pulse?.start()]);
    const shared = { reference, pulse };
    const queue = [...plans];
    await Promise.all(Array.from({ length: Number(values.jobs) }, () => work(queue, shared, tally)));
  } finally {
    await Promise.all([reference.stop(), pulse?.stop()]);
  }
  report(tally, (performance.now() - begun) / 1000);
  return tally.violations === 0;
}

/** Plays round after round. Of those with devices only one plays at a time: they share the sound server. */
async function work(queue, shared, tally) {
  for (;;) {
    const next = queue.findIndex(({ situation }) => !DEVICE.test(situation) || !tally.device);
    if (next < 0) {
      if (queue.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    const [plan] = queue.splice(next, 1);
    const isDevice = DEVICE.test(plan.situation);
    if (isDevice) tally.device = true;
    const result = await playRound(plan, shared);
    if (isDevice) tally.device = false;
    count(tally, plan, result);
    say(plan, result);
  }
}

function count(tally, plan, { kills, violations, lossMs, durableMs }) {
  tally.rounds += 1;
  tally.kinds[plan.kind] = (tally.kinds[plan.kind] ?? 0) + 1;
  for (const victim of kills) tally.kills[victim] = (tally.kills[victim] ?? 0) + 1;
  tally.violations += violations.length;
  tally.lossMs = Math.max(tally.lossMs, Math.round(lossMs));
  tally.durableMs = Math.max(tally.durableMs, Math.round(durableMs));
}

function say(plan, { kills, violations, lossMs, durableMs, home, seconds }) {
  const what = plan.trigger === 'time' ? `at ${plan.timeMs} ms` : `at ${plan.trigger} + ${plan.delayMs} ms`;
  const line = `round ${plan.n} ${plan.kind} ${what}${plan.powerCut ? ' with power cut' : ''}: ${kills.length} killed, ${Math.round(lossMs)} ms lost (${Math.round(durableMs)} unsynced), ${seconds.toFixed(1)} s`;
  if (!values.json) console.log(line);
  for (const text of violations)
    console.error(`VIOLATION in round ${plan.n} (${plan.kind}, --seed ${seed} --only ${plan.n}), home ${home}: ${text}`);
}

function report({ rounds, kills, kinds: played, violations, lossMs, durableMs }, seconds) {
  const total = Object.values(kills).reduce((sum, n) => sum + n, 0);
  const result = {
    rounds,
    seed,
    kills: { total, ...kills },
    kinds: Object.fromEntries(Object.entries(played).sort()),
    violations,
    worst_audio_loss_ms: lossMs,
    limit_audio_loss_ms: LOSS_LIMIT_MS,
    oldest_audio_outside_header_at_kill_ms: durableMs,
    minutes: Math.round(seconds / 6) / 10,
  };
  if (values.out) writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify(result));
  else console.log(`${rounds} rounds, ${total} kills, ${violations} violations, worst audio loss ${lossMs} ms`);
}

function requirePrograms(names) {
  const missing = names.filter((name) => !(process.env.PATH ?? '').split(path.delimiter).some((dir) => isProgram(path.join(dir, name))));
  if (missing.length === 0) return;
  console.error(`Rounds with devices need ${missing.join(', ')}. Install them, or choose others with --kinds.`);
  process.exit(2);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
