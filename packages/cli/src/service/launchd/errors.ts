import { AmbientError, type ErrorCode } from '@ambient/contract';
import { lastLine, type RunResult } from '../exec.js';

interface Meaning {
  readonly code: ErrorCode;
  readonly means: string;
  readonly next: string;
}

const SCREEN = 'Log in at the screen (or by Screen Sharing) as this user and run it again from there.';
const LOGIN_ITEMS =
  'Turn Ambient on in System Settings → General → Login Items & Extensions → Allow in the Background, then run `ambientctl daemon install`.';

/** launchctl's exit codes (`launchctl error N` names them), as they are met with a launch agent. */
const MEANINGS: Readonly<Record<number, Meaning>> = {
  // Also what bootstrap says for a job that is still being removed, is loaded already, or whose file launchd will not take.
  5: {
    code: 'unavailable',
    means: 'input/output error: launchd still holds the old job, or does not accept the agent',
    next: 'Wait ten seconds and run it again. If it stays so: `ambientctl daemon uninstall`, then `ambientctl daemon install`.',
  },
  3: { code: 'not_running', means: 'no such process: the service is not loaded', next: 'Run `ambientctl daemon start`.' },
  36: {
    code: 'unavailable',
    means: 'operation now in progress: launchd is still ending the service',
    next: 'Wait ten seconds and run it again.',
  },
  37: {
    code: 'unavailable',
    means: 'operation already in progress: launchd is still starting or ending the service',
    next: 'Wait ten seconds and run it again.',
  },
  112: { code: 'unavailable', means: 'there is no graphical session of this user', next: SCREEN },
  113: { code: 'not_found', means: 'the service is not loaded', next: 'Run `ambientctl daemon install`.' },
  119: { code: 'conflict', means: 'the service is turned off', next: LOGIN_ITEMS },
  122: {
    code: 'forbidden',
    means: "the agent's file has the wrong owner or may be written by others",
    next: 'Run `ambientctl daemon install` as the user who records, without sudo.',
  },
  125: { code: 'unavailable', means: 'this login is not a graphical session (it may be ssh or sudo)', next: SCREEN },
  133: { code: 'bad_config', means: 'the agent is not a valid property list', next: 'Run `ambientctl daemon install` to write it anew.' },
  134: { code: 'unavailable', means: 'the service cannot be loaded in this session', next: SCREEN },
};

/** launchd is between two states and will take the same command a little later. */
export const SETTLING_CODES: readonly number[] = [5, 36, 37];
/** The service is not loaded. */
export const NOT_LOADED_CODES: readonly number[] = [3, 113];

/** The code launchctl reports: newer ones exit with it, older ones exit 1 and print it. */
export function launchctlCode(result: RunResult): number {
  const printed = /: (\d{1,3}): /.exec(result.stderr)?.[1];
  return result.code > 1 || printed === undefined ? result.code : Number(printed);
}

export function explainLaunchctl(verb: string, result: RunResult): AmbientError {
  const code = launchctlCode(result);
  const meaning = MEANINGS[code];
  if (meaning !== undefined)
    return new AmbientError(meaning.code, `launchctl ${verb} failed with ${code}: ${meaning.means}.`, meaning.next);
  const said = lastLine(result.stderr) || lastLine(result.stdout) || 'it gave no reason';
  return new AmbientError('internal', `launchctl ${verb} failed with ${code}: ${said}`, `\`launchctl error ${code}\` names the code.`);
}
