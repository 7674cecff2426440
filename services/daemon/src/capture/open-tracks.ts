import { AmbientError, SAMPLE_RATE, type StartRequest } from '@ambient/contract';
import { LiveTrack } from './live-track.js';
import type { CapturePorts } from './ports.js';
import type { SessionClock } from './session-clock.js';
import type { CaptureSource } from './source.js';
import { FileSource } from './sources/file/source.js';
import { type MicMemory, MicSource } from './sources/mic/source.js';
import { SystemSource } from './sources/system/source.js';

interface Planned {
  readonly source: CaptureSource;
  /** The user named this device or file: a recording without it is not what was asked for. */
  readonly required: boolean;
}

/** A track that was asked for and could not be opened. */
export interface Failure {
  readonly track: LiveTrack;
  readonly error: AmbientError;
}

export interface Opened {
  readonly open: readonly LiveTrack[];
  readonly failed: readonly Failure[];
}

/**
 * Opens every source that a request asks for. At least one delivers on return; otherwise all are closed again.
 * @throws AmbientError when none delivers, or one does not that the user named
 */
export async function openTracks(
  request: StartRequest,
  clock: SessionClock,
  config: CapturePorts['config'],
  memory: MicMemory,
  stop: AbortSignal,
): Promise<Opened> {
  const plan = planSources(request, clock, config, memory);
  if (plan.length === 0) throw new AmbientError('bad_request', 'There is nothing to record.', 'Leave out --no-mic or --no-system.');
  const tracks = plan.map(({ source, required }) => ({ track: new LiveTrack(source, clock), required }));
  const closeAll = (): Promise<unknown> => Promise.all(tracks.map(({ track }) => track.close()));
  stop.addEventListener('abort', closeAll);
  const results = await Promise.allSettled(tracks.map(({ track }) => track.open()));
  stop.removeEventListener('abort', closeAll);
  if (stop.aborted) {
    await closeAll();
    throw shuttingDown();
  }
  const outcome = tracks.map(({ track, required }, i) => {
    const result = results[i];
    return { track, required, error: result?.status === 'rejected' ? toAmbientError(result.reason) : null };
  });
  const open = outcome.flatMap(({ track, error }) => (error === null ? [track] : []));
  const failed = outcome.flatMap(({ track, required, error }) => (error === null ? [] : [{ track, required, error }]));
  const fatal = failed.find(({ required }) => required)?.error ?? (open.length === 0 ? joined(failed.map(({ error }) => error)) : null);
  if (fatal === null) return { open, failed };
  await closeAll();
  throw fatal;
}

function planSources(request: StartRequest, clock: SessionClock, config: CapturePorts['config'], memory: MicMemory): Planned[] {
  const { room_file, call_file, pace, seconds } = request;
  const files = (
    [
      ['room', room_file],
      ['call', call_file],
    ] as const
  ).flatMap(([track, path]) => (path == null ? [] : [{ track, path }]));
  if (files.length > 0) {
    const limit = seconds == null ? null : Math.round(seconds * SAMPLE_RATE);
    return files.map(({ track, path }) => ({ source: new FileSource(track, { path, pace, limit }, () => clock.nowMs()), required: true }));
  }
  const plan: Planned[] = [];
  if (request.mic) {
    const device = request.device ?? config('audio.device');
    const recorder = config('audio.recorder');
    plan.push({ source: new MicSource({ device, recorder }, memory), required: device !== null || recorder !== 'auto' });
  }
  if (request.system) {
    const device = config('audio.system_device');
    plan.push({ source: new SystemSource({ device }), required: device !== null });
  }
  return plan;
}

/** One error for several tracks that failed; a missing program is said only when that is all there is to say. */
function joined(errors: readonly AmbientError[]): AmbientError {
  const [first] = errors;
  if (first === undefined || errors.length === 1) return first ?? new AmbientError('no_source', 'There is nothing to record.');
  const code = errors.every((error) => error.code === 'missing_tool') ? 'missing_tool' : 'no_source';
  const hints = [...new Set(errors.flatMap((error) => error.hint ?? []))];
  return new AmbientError(code, errors.map((error) => error.message).join(' '), oneCommand(hints) ?? hints.join(' '));
}

/** `apt install a` and `apt install b` are one command, which can be pasted. */
function oneCommand(hints: readonly string[]): string | undefined {
  const parts = hints.map((hint) => /^((?:sudo apt|brew) install) ([\w -]+)$/.exec(hint));
  const verb = parts[0]?.[1];
  if (verb === undefined || parts.some((part) => part?.[1] !== verb)) return undefined;
  return `${verb} ${parts.map((part) => part?.[2]).join(' ')}`;
}

export function shuttingDown(): AmbientError {
  return new AmbientError('unavailable', 'The daemon is shutting down.', 'Try again when it has started.');
}

export function toAmbientError(error: unknown): AmbientError {
  if (error instanceof AmbientError) return error;
  return new AmbientError('internal', error instanceof Error ? error.message : String(error), 'See the log.', { cause: error });
}
