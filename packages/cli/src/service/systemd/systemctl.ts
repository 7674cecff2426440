import { AmbientError } from '@ambient/contract';
import { lastLine, type Run, type RunResult } from '../exec.js';
import { UNIT_NAME } from './unit.js';

/** Properties of the unit, as `systemctl show` gives them. */
export interface UnitProperties {
  readonly LoadState: string;
  readonly ActiveState: string;
  readonly SubState: string;
  readonly Result: string;
  readonly MainPID: string;
  readonly NRestarts: string;
  readonly UnitFileState: string;
  readonly ExecMainStatus: string;
  readonly StatusText: string;
}

const PROPERTIES = [
  'LoadState',
  'ActiveState',
  'SubState',
  'Result',
  'MainPID',
  'NRestarts',
  'UnitFileState',
  'ExecMainStatus',
  'StatusText',
] as const satisfies readonly (keyof UnitProperties)[];

/** `systemctl --user`, with what its failures mean. */
export class Systemctl {
  readonly #run: Run;

  constructor(run: Run) {
    this.#run = run;
  }

  /** @throws AmbientError */
  async call(...args: readonly string[]): Promise<void> {
    const result = await this.#systemctl(args);
    if (result.code !== 0) throw explainSystemctl(args, result);
  }

  /** As `call`, for what may rightly fail: clearing a failure that is not there, stopping what does not run. */
  async attempt(...args: readonly string[]): Promise<void> {
    await this.#systemctl(args);
  }

  /** @throws AmbientError `unavailable` without a user service manager */
  async show(): Promise<UnitProperties> {
    const args = ['show', UNIT_NAME, `--property=${PROPERTIES.join(',')}`];
    const result = await this.#systemctl(args);
    if (result.code !== 0) throw explainSystemctl(args, result);
    const found = new Map(
      result.stdout.split('\n').map((line): [string, string] => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
    return Object.fromEntries(PROPERTIES.map((name) => [name, found.get(name) ?? ''])) as unknown as UnitProperties;
  }

  #systemctl(args: readonly string[]): Promise<RunResult> {
    // `start` waits for readiness: the unit's own limit (TimeoutStartSec=90) must come first.
    return this.#run('systemctl', ['--user', ...args], { timeoutMs: 120_000 });
  }
}

/** What a failure of systemctl means, and the next step. Its exit codes are those of systemctl(1) and LSB. */
export function explainSystemctl(args: readonly string[], result: RunResult): AmbientError {
  const text = `${result.stderr}\n${result.stdout}`;
  const said = lastLine(result.stderr) || lastLine(result.stdout) || `exit code ${result.code}`;
  const failed = `systemctl --user ${args[0] ?? ''} failed (${result.code})`;
  if (/Failed to connect to (the )?(user scope )?bus|No medium found|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS/i.test(text))
    return new AmbientError(
      'unavailable',
      `${failed}: this login has no user service manager (${said}).`,
      'Log in as this user directly (not through su or sudo). On a machine without a desktop run `loginctl enable-linger` once.',
    );
  if (/repeated too quickly|start-limit/i.test(text))
    return new AmbientError(
      'unavailable',
      `${failed}: the daemon failed five times in a row and stays down.`,
      'See `ambientctl daemon logs`, then run `ambientctl daemon restart`.',
    );
  if (/is masked/i.test(text))
    return new AmbientError('conflict', `${failed}: ${UNIT_NAME} is masked.`, `Run \`systemctl --user unmask ${UNIT_NAME}\`.`);
  if (result.code === 5 || /not (found|loaded)/i.test(text))
    return new AmbientError('not_found', `${failed}: the service is not installed.`, 'Run `ambientctl daemon install`.');
  if (result.code === 4) return new AmbientError('forbidden', `${failed}: ${said}`, 'Run this as the user who owns the daemon.');
  if (/^(Job for|A dependency job)/m.test(text))
    return new AmbientError(
      'unavailable',
      'The daemon did not start.',
      `See \`ambientctl daemon logs\` and \`systemctl --user status ${UNIT_NAME}\`.`,
    );
  return new AmbientError('internal', `${failed}: ${said}`, `See \`systemctl --user status ${UNIT_NAME}\`.`);
}
