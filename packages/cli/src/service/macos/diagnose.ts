import type { Track } from '@ambient/contract';
import { SERVICE_LABEL } from '../host.js';
import { MICROPHONE_PANEL, SYSTEM_AUDIO_PANEL } from './permissions.js';

/** What is known about a daemon on macOS whose track holds nothing but zeros. */
export interface SilenceFacts {
  readonly track: Track;
  /** Something is known to be playing or to be said; null when nobody knows. */
  readonly sounding: boolean | null;
  /** The daemon's executable (its `process.execPath`). */
  readonly executable: string;
  /** Executable of the installed bundle, or null without one. */
  readonly bundleExecutable: string | null;
  /** Who LaunchServices says it is (`__CFBundleIdentifier` in the daemon's environment), or null. */
  readonly launchedAs: string | null;
  /** Why the bundle is out of date or its signature is not valid; null when it is good. */
  readonly staleness: string | null;
}

export type SilenceCause = 'missing_grant' | 'wrong_launch' | 'changed_signature' | 'denied_by_profile' | 'silent_source';

export interface SilenceSuspicion {
  readonly cause: SilenceCause;
  /** `found`: the facts show it. `possible`: nothing speaks against it, and macOS lets nobody look. `ruled_out`. */
  readonly verdict: 'found' | 'possible' | 'ruled_out';
  readonly detail: string;
  /** The panel and the exact command. */
  readonly fix: string;
}

/**
 * The causes of silence in the order in which they are met. macOS tells no program whether it has a grant, so the first
 * cause is only ever `possible`, and is the one to act on unless a later one is `found`.
 */
export function diagnoseSilence(facts: SilenceFacts): readonly SilenceSuspicion[] {
  const panel = facts.track === 'room' ? MICROPHONE_PANEL : SYSTEM_AUDIO_PANEL;
  const service = facts.track === 'room' ? 'Microphone' : 'AudioCapture';
  const inBundle = facts.bundleExecutable !== null && facts.executable === facts.bundleExecutable;
  const ownIdentity = inBundle && (facts.launchedAs === null || facts.launchedAs === SERVICE_LABEL);
  const quiet = facts.sounding === false;
  const silent: SilenceSuspicion = {
    cause: 'silent_source',
    verdict: quiet ? 'found' : facts.sounding === null ? 'possible' : 'ruled_out',
    detail: quiet ? 'Nothing plays, so there is nothing to hear.' : 'The source itself may be silent.',
    fix:
      facts.track === 'room' ? 'Speak, and check the input level in System Settings → Sound → Input.' : 'Play something, then look again.',
  };
  return [
    {
      cause: 'missing_grant',
      verdict: quiet ? 'ruled_out' : 'possible',
      detail: `macOS gives silence to a program without permission for ${facts.track === 'room' ? 'the microphone' : 'system audio'}.`,
      fix: `Turn Ambient on in ${panel}. If it is on already: \`tccutil reset ${service} ${SERVICE_LABEL}\`, then \`ambientctl daemon install\`.`,
    },
    {
      cause: 'wrong_launch',
      verdict: ownIdentity ? 'ruled_out' : 'found',
      detail: inBundle
        ? `The daemon was started as part of ${facts.launchedAs ?? 'another program'}, whose permissions count instead of its own.`
        : `The daemon runs as ${facts.executable}, outside the application bundle that has the permissions.`,
      fix:
        facts.bundleExecutable === null
          ? 'Run `ambientctl daemon install`.'
          : 'Run `ambientctl daemon stop`, then `ambientctl daemon start`. If it stays silent: `ambientctl daemon install --launch open`.',
    },
    {
      cause: 'changed_signature',
      verdict: facts.staleness === null ? 'ruled_out' : 'found',
      detail:
        facts.staleness === null ? 'The bundle is as it was signed.' : `The application bundle has to be built anew: ${facts.staleness}.`,
      fix: 'Run `ambientctl daemon install` and answer the new question with Allow.',
    },
    {
      cause: 'denied_by_profile',
      verdict: quiet ? 'ruled_out' : 'possible',
      detail: 'A managed Mac can forbid recording by a profile.',
      fix: 'Look for privacy settings in `profiles show -type configuration` and in System Settings → General → Device Management; only who manages this Mac can change them.',
    },
    silent,
  ];
}
