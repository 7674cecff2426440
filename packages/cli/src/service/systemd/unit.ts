import { AmbientError } from '@ambient/contract';

/** The values of a user unit that differ between installations. */
export interface UnitValues {
  /** Absolute. */
  readonly node: string;
  /** Absolute. */
  readonly script: string;
  readonly environment: Readonly<Record<string, string>>;
}

export const UNIT_NAME = 'ambientd.service';

/**
 * The systemd user unit.
 * - `NotifyAccess=all`: readiness is sent by `systemd-notify`, a child of the daemon.
 * - `KillMode=mixed`: only the daemon gets SIGTERM; it ends its recorders itself, after their last samples.
 * - `OOMPolicy=continue`: a recognizer killed for memory costs one turn; systemd's default would end the recording with it.
 * - five starts in ten minutes: the sixth is refused, so a daemon that cannot work stays down.
 * @throws AmbientError `bad_config` for a path that systemd does not take
 */
export function renderUnit(values: UnitValues): string {
  if (/["'\\]/.test(values.node))
    throw new AmbientError(
      'bad_config',
      `systemd starts no program whose path has quotes or backslashes: ${values.node}`,
      'Install node in a folder with a plainer name.',
    );
  const environment = Object.entries(values.environment).map(([name, value]) => `Environment=${quote(`${name}=${value}`)}`);
  return `${[
    '[Unit]',
    'Description=Ambient recorder',
    'After=pipewire-pulse.service pulseaudio.service',
    'StartLimitIntervalSec=600',
    'StartLimitBurst=5',
    '',
    '[Service]',
    'Type=notify',
    'NotifyAccess=all',
    `ExecStart=${quote(values.node)} ${quoteArgument(values.script)} run`,
    ...environment,
    'Restart=on-failure',
    'RestartSec=2',
    'WatchdogSec=60',
    'TimeoutStartSec=90',
    'TimeoutStopSec=30',
    'KillMode=mixed',
    'OOMPolicy=continue',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=default.target',
  ].join('\n')}\n`;
}

/** A value in double quotes as systemd.syntax(7) reads them; `%` would be a specifier. */
function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`;
}

/** As `quote`, and `$` would be a variable in an argument (not in the program's path). */
function quoteArgument(text: string): string {
  return quote(text).replaceAll('$', '$$$$');
}

/** Reads back what `renderUnit` wrote: the command line and the environment of a unit. */
export function parseUnit(text: string): { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> } {
  const environment: Record<string, string> = {};
  let command: readonly string[] = [];
  for (const line of text.split('\n')) {
    const [, key, value] = /^(ExecStart|Environment)=(.*)$/.exec(line) ?? [];
    if (key === 'ExecStart') command = words(value ?? '').map((word, i) => (i === 0 ? word : word.replaceAll('$$', '$')));
    if (key === 'Environment')
      for (const word of words(value ?? '')) {
        const at = word.indexOf('=');
        environment[word.slice(0, at)] = word.slice(at + 1);
      }
  }
  return { command, environment };
}

function words(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map(([, quoted, bare]) =>
    (quoted ?? bare ?? '').replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c)).replaceAll('%%', '%'),
  );
}
