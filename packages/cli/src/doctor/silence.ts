import { type Check, check, type DoctorFacts, type Track } from '@ambient/contract';
import type { CliContext } from '../context.js';
import { runner } from '../service/exec.js';
import { serviceHost } from '../service/host.js';
import { AppBundle } from '../service/macos/bundle.js';
import { diagnoseSilence, type SilenceFacts } from '../service/macos/diagnose.js';

/** What is to be known of the application bundle. */
export type BundleFacts = Pick<SilenceFacts, 'bundleExecutable' | 'staleness'>;

/** On a Mac, the likely cause of a track that holds only zeros: the permission belongs to a bundle that only a client looks into. */
export async function explainSilence(context: CliContext, checks: readonly Check[], facts: DoctorFacts): Promise<Check[]> {
  if (process.platform !== 'darwin' || facts.silent.length === 0 || context.env.HOME === undefined) return [...checks];
  return withCauses(checks, facts, await bundleFacts(context));
}

async function bundleFacts({ env }: CliContext): Promise<BundleFacts> {
  const bundle = new AppBundle(serviceHost({ env }), runner({ ...env }));
  if ((await bundle.stamp()) === undefined) return { bundleExecutable: null, staleness: null };
  // Where the signature cannot be looked at, the other causes are still told apart.
  const staleness = await bundle.staleness().catch(() => undefined);
  return { bundleExecutable: bundle.executable, staleness: staleness ?? null };
}

/** The checks of silent tracks with what is found, or else the first that is possible, as the cause to act on. */
export function withCauses(checks: readonly Check[], facts: DoctorFacts, bundle: BundleFacts): Check[] {
  return checks.map((seen) => {
    const track = facts.silent.find((name) => seen.id === `recorder.${name}`);
    return track === undefined ? seen : withCause(seen, track, facts, bundle);
  });
}

function withCause(seen: Check, track: Track, facts: DoctorFacts, bundle: BundleFacts): Check {
  const suspicions = diagnoseSilence({
    track,
    // A true microphone always hears a little; of system audio nobody can tell whether anything plays.
    sounding: track === 'room' ? true : null,
    executable: facts.executable,
    launchedAs: facts.launched_as,
    ...bundle,
  });
  const found = suspicions.find(({ verdict }) => verdict === 'found');
  const likely = found ?? suspicions.find(({ verdict }) => verdict === 'possible');
  if (likely === undefined) return seen;
  const others = suspicions.filter((one) => one !== likely && one.verdict === 'possible' && one.cause !== 'silent_source');
  const also = others.length === 0 ? '' : ` Also possible: ${others.map(({ detail }) => detail).join(' ')}`;
  const detail = `${seen.detail} ${likely.detail}${also}`;
  // What is found is certain to silence the track, whether anything plays now or not.
  return found === undefined ? { ...seen, detail, fix: likely.fix } : check.failure(seen.id, seen.title, detail, likely.fix);
}
